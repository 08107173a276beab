#include "runtime/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace musabench {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kSmallAlignment = 256;

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

// Of the machine, or of the control group if that is less.
size_t total_memory() {
  size_t total = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    size_t limit = 0;
    if (std::ifstream(path) >> limit && limit > 0) total = std::min(total, limit);
  }
  return total;
}

// What can be had without driving the system out of memory; SIZE_MAX where it does not say.
size_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::string rest;
  for (size_t kib = 0; file >> key >> kib && std::getline(file, rest);) {
    if (key == "MemAvailable:") return kib << 10;
  }
  return SIZE_MAX;
}

// Makes the whole pages of the block present. False when there is no memory for them.
bool populate(void* memory, size_t bytes) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + page - 1) & ~(page - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + bytes) & ~(page - 1);
  if (begin >= end) return true;
  if (madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE) == 0) return true;
  if (errno == ENOMEM) return false;
  // A system without this advice: touch the pages instead.
  for (uintptr_t at = begin; at < end; at += page) *reinterpret_cast<volatile char*>(at) = 0;
  return true;
}

}  // namespace

MemoryTable::MemoryTable(bool report) : report_(report), total_(total_memory()) {}

musaError_t MemoryTable::allocate(int device, MemoryKind kind, size_t bytes, void** pointer) {
  *pointer = nullptr;
  if (bytes == 0) return musaSuccess;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (bytes > total_ || allocated_ > total_ - bytes) return musaErrorMemoryAllocation;
    allocated_ += bytes;  // reserved; given back below if it fails
  }
  void* memory = nullptr;
  bool good = bytes < kHugePage || bytes <= available_memory();
  good = good && posix_memalign(&memory, bytes >= kHugePage ? kHugePage : kSmallAlignment, bytes) == 0;
  if (good && bytes >= kHugePage) {
    // Where there are no huge pages the advice fails, and ordinary pages do.
    madvise(memory, bytes & ~(kHugePage - 1), MADV_HUGEPAGE);
  }
  good = good && populate(memory, bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!good) {
    std::free(memory);
    allocated_ -= bytes;
    return musaErrorMemoryAllocation;
  }
  blocks_[reinterpret_cast<uintptr_t>(memory)] = {device, kind, bytes};
  *pointer = memory;
  return musaSuccess;
}

musaError_t MemoryTable::find_for_release(int device, MemoryKind kind, const void* pointer, Blocks::iterator* found) {
  *found = blocks_.find(reinterpret_cast<uintptr_t>(pointer));
  const char* complaint = nullptr;
  if (*found == blocks_.end()) {
    complaint = "free of an unknown or already freed pointer";
  } else if ((*found)->second.kind != kind) {
    complaint = kind == MemoryKind::kDevice ? "musaFree of host memory" : "musaFreeHost of device memory";
  } else if (kind == MemoryKind::kDevice && (*found)->second.device != device) {
    complaint = "free of another device's memory";
  }
  if (complaint == nullptr) return musaSuccess;
  report(complaint, device, pointer, 0);
  return musaErrorInvalidValue;
}

musaError_t MemoryTable::check_release(int device, MemoryKind kind, const void* pointer) {
  std::lock_guard<std::mutex> lock(mutex_);
  Blocks::iterator found;
  return find_for_release(device, kind, pointer, &found);
}

musaError_t MemoryTable::release(int device, MemoryKind kind, void* pointer) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Blocks::iterator found;
    const musaError_t error = find_for_release(device, kind, pointer, &found);
    if (error != musaSuccess) return error;
    allocated_ -= found->second.bytes;
    blocks_.erase(found);
  }
  std::free(pointer);
  return musaSuccess;
}

void MemoryTable::release_all(int device) {
  std::vector<void*> memory;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = blocks_.begin(); it != blocks_.end();) {
      if (it->second.device != device) {
        ++it;
        continue;
      }
      memory.push_back(reinterpret_cast<void*>(it->first));
      allocated_ -= it->second.bytes;
      it = blocks_.erase(it);
    }
  }
  for (void* pointer : memory) std::free(pointer);
}

MemoryTable::Range MemoryTable::classify(const void* pointer, size_t bytes, int* owner) {
  const auto at = reinterpret_cast<uintptr_t>(pointer);
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = blocks_.upper_bound(at);
  if (it == blocks_.begin()) return Range::kUntracked;
  --it;
  if (it->second.kind != MemoryKind::kDevice || at - it->first >= it->second.bytes) return Range::kUntracked;
  *owner = it->second.device;
  return bytes <= it->second.bytes - (at - it->first) ? Range::kInside : Range::kOverrun;
}

void MemoryTable::live(int device, size_t* count, size_t* bytes) {
  *count = 0;
  *bytes = 0;
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& entry : blocks_) {
    if (entry.second.device != device) continue;
    ++*count;
    *bytes += entry.second.bytes;
  }
}

void MemoryTable::info(size_t* free_bytes, size_t* total_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  *total_bytes = total_;
  *free_bytes = total_ - allocated_;
}

void MemoryTable::report(const char* what, int device, const void* pointer, size_t bytes) {
  if (!report_) return;
  std::fprintf(stderr, "musart_host: device %d: %s: %p", device, what, pointer);
  if (bytes > 0) std::fprintf(stderr, ", %zu bytes", bytes);
  std::fputc('\n', stderr);
}

void MemoryTable::report_leaks() {
  if (!report_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& entry : blocks_) {
    const Block& block = entry.second;
    report(block.kind == MemoryKind::kDevice ? "device memory never freed" : "host memory never freed", block.device,
           reinterpret_cast<const void*>(entry.first), block.bytes);
  }
}

}  // namespace musabench
