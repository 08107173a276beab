// What this library's sources share.
#pragma once

#include <time.h>

#include <cstdint>
#include <string>

#include "exported.h"

namespace musabench {

// Of a clock that only goes forward.
inline int64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

// Raises an error; what a call then returns.
inline int fail(const char* kind, const std::string& message) {
  TVMFFIErrorSetRaisedFromCStr(kind, message.c_str());
  return -1;
}

}  // namespace musabench
