// What the doubles of the management libraries share: the test says from outside what shall fail, and the double
// reports a call whose arguments no real library would take.
#pragma once

#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_FAILURES 32

static struct {
  char function[64];
  int code;
} failures[MAX_FAILURES];
static int failure_count;
static char misuse_text[256];
static int calls_of_init;

// The code that a function shall return, 0 if it shall work.
static int failing(const char* function) {
  for (int i = 0; i < failure_count; ++i) {
    if (strcmp(failures[i].function, function) == 0) return failures[i].code;
  }
  return 0;
}

// Notes the first misuse; the test reads it at its end.
static void misuse(const char* function, const char* what) {
  if (misuse_text[0] == '\0') snprintf(misuse_text, sizeof(misuse_text), "%s: %s", function, what);
}

// From now on `function` returns `code`; 0 makes it work again.
EXPORT void double_fail(const char* function, int code) {
  for (int i = 0; i < failure_count; ++i) {
    if (strcmp(failures[i].function, function) == 0) {
      failures[i].code = code;
      return;
    }
  }
  if (failure_count == MAX_FAILURES) return;
  snprintf(failures[failure_count].function, sizeof(failures[0].function), "%s", function);
  failures[failure_count++].code = code;
}

// The first call with wrong arguments; empty if there was none.
EXPORT const char* double_misuse(void) { return misuse_text; }

// How often the library was initialised.
EXPORT int double_inits(void) { return calls_of_init; }

static int put_text(const char* function, const char* text, char* out, unsigned int size) {
  if (out == NULL || size == 0) {
    misuse(function, "no buffer");
    return -1;
  }
  if (strlen(text) + 1 > size) return 1;
  memcpy(out, text, strlen(text) + 1);
  return 0;
}
