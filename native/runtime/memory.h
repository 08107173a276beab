// Every block of memory that callers hold: found by address, released once, and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "abi/musa_runtime.h"

namespace musabench {

enum class MemoryKind { kDevice, kHost };

class MemoryTable {
 public:
  // `report`: print misuse, and at the end what was never freed, to stderr.
  explicit MemoryTable(bool report);

  // At least 256-byte aligned; from 2 MiB on aligned to 2 MiB and on huge pages where the system has them.
  // The pages are there when the call returns, so that no kernel's time includes the system's finding them.
  musaError_t allocate(int device, MemoryKind kind, size_t bytes, void** pointer);

  // musaErrorInvalidValue unless `pointer` is the start of a live block of this kind and, for device memory,
  // this device.
  musaError_t check_release(int device, MemoryKind kind, const void* pointer);
  musaError_t release(int device, MemoryKind kind, void* pointer);
  void release_all(int device);

  // What a range of `bytes` from `pointer` is.
  enum class Range {
    kUntracked,  // no part of a device's memory, as far as its start tells
    kInside,     // within one block of device memory; `owner` is its device
    kOverrun     // begins in a block of device memory and goes beyond its end
  };
  Range classify(const void* pointer, size_t bytes, int* owner);

  void live(int device, size_t* count, size_t* bytes);
  // Of the machine, and what of it is not allocated by any device.
  void info(size_t* free_bytes, size_t* total_bytes);

  // Prints one line for what is not its device's, not inside its block, or otherwise misused.
  void report(const char* what, int device, const void* pointer, size_t bytes);
  void report_leaks();

 private:
  struct Block {
    int device;
    MemoryKind kind;
    size_t bytes;
  };
  using Blocks = std::map<uintptr_t, Block>;

  musaError_t find_for_release(int device, MemoryKind kind, const void* pointer, Blocks::iterator* found);

  const bool report_;
  const size_t total_;
  std::mutex mutex_;
  Blocks blocks_;
  size_t allocated_ = 0;
};

}  // namespace musabench
