// A stand-in for libmusa: what the bindings ask a driver's library for, under the names that dlsym needs. The plain
// names of functions that a header renames are here too, as in real libraries, and abort: they take 32-bit addresses.
#include <stdint.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

#ifndef DRIVER_VERSION
#error "DRIVER_VERSION: major * 10000 + minor * 100 + patch"
#endif

enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3 };

static int initialised;

EXPORT int muInit(unsigned int flags) {
  if (flags != 0) return INVALID_VALUE;
  initialised = 1;
  return SUCCESS;
}

EXPORT int muDriverGetVersion(int* version) {
  if (version == NULL) return INVALID_VALUE;
  *version = DRIVER_VERSION;
  return SUCCESS;
}

EXPORT int muDeviceGetCount(int* count) {
  if (!initialised) return NOT_INITIALIZED;
  if (count == NULL) return INVALID_VALUE;
  *count = 2;
  return SUCCESS;
}

EXPORT int muMemAlloc(uint32_t* address, unsigned int bytes) {
  (void)address;
  (void)bytes;
  abort();
}

EXPORT int muMemAlloc_v2(uint64_t* address, size_t bytes) {
  if (!initialised) return NOT_INITIALIZED;
  if (address == NULL || bytes == 0) return INVALID_VALUE;
  *address = (uint64_t)(uintptr_t)malloc(bytes);
  return SUCCESS;
}

EXPORT int muMemFree(uint32_t address) {
  (void)address;
  abort();
}

EXPORT int muMemFree_v2(uint64_t address) {
  free((void*)(uintptr_t)address);
  return SUCCESS;
}
