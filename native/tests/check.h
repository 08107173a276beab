// The checks of the native tests: a failed one prints where and what, and the test program ends with status 1.
#pragma once

#include <cstdio>
#include <iostream>

namespace musabench {

inline int& failed_checks() {
  static int count = 0;
  return count;
}

inline void check_failed(const char* file, int line, const char* text) {
  ++failed_checks();
  std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
}

// Prints the test's name, so that a hang or a crash names the culprit.
inline void run_test(const char* name, void (*test)()) {
  std::fprintf(stderr, "[ run ] %s\n", name);
  test();
}

// What main returns.
inline int test_status() {
  std::fprintf(stderr, "%s: %d failed checks\n", failed_checks() == 0 ? "passed" : "FAILED", failed_checks());
  return failed_checks() == 0 ? 0 : 1;
}

}  // namespace musabench

#define CHECK(condition) ((condition) ? void() : ::musabench::check_failed(__FILE__, __LINE__, #condition))

// Compares two streamable values and prints both when they differ.
#define CHECK_EQ(actual, wanted)                                                              \
  do {                                                                                        \
    const auto& actual_value = (actual);                                                      \
    const auto& wanted_value = (wanted);                                                      \
    if (!(actual_value == wanted_value)) {                                                    \
      ::musabench::check_failed(__FILE__, __LINE__, #actual " == " #wanted);                  \
      std::cerr << "    actual " << actual_value << ", wanted " << wanted_value << std::endl; \
    }                                                                                         \
  } while (false)

// Like CHECK, but leaves the test function: for what the rest of it cannot do without.
#define REQUIRE(condition)                                       \
  do {                                                           \
    if (!(condition)) {                                          \
      ::musabench::check_failed(__FILE__, __LINE__, #condition); \
      return;                                                    \
    }                                                            \
  } while (false)

#define RUN_TEST(test) ::musabench::run_test(#test, test)
