#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "exported.h"

namespace {

constexpr int32_t kMaxRank = 8;
constexpr uint64_t kSmallestBlock = 512;

// Which free blocks a tensor may take: work on another stream may still be using a block that was released.
struct BlockKey {
  DLDevice device;
  void* stream;
  uint64_t bytes;
  bool captured;  // a graph may be using the block at any time

  bool operator==(const BlockKey& other) const {
    return bytes == other.bytes && stream == other.stream && captured == other.captured &&
           device.device_type == other.device.device_type && device.device_id == other.device.device_id;
  }
};

// Device memory and, kept with it, what describes it as a tensor: a hit allocates nothing.
struct Block {
  DLManagedTensorVersioned managed = {};
  int64_t shape[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};
  BlockKey key = {};
  void* memory = nullptr;
  mb_pool* pool = nullptr;
};

struct FreeList {
  BlockKey key;
  std::vector<Block*> blocks;
};

// Rounds up to 5, 6, 7 or 8 eighths of a power of two. `bytes` is below 2^62.
uint64_t size_class(uint64_t bytes) {
  if (bytes <= kSmallestBlock) return kSmallestBlock;
  uint64_t power = kSmallestBlock;
  while (power < bytes) power *= 2;
  const uint64_t step = power / 8;
  return (bytes + step - 1) / step * step;
}

// Elements times bytes of an element, in *bytes; false if that is no size of memory.
bool tensor_bytes(const DLTensor& tensor, uint64_t* bytes) {
  uint64_t bits = uint64_t{tensor.dtype.bits} * tensor.dtype.lanes;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] < 0 || __builtin_mul_overflow(bits, static_cast<uint64_t>(tensor.shape[i]), &bits))
      return false;
  }
  *bytes = bits / 8 + (bits % 8 != 0);
  return true;
}

}  // namespace

struct mb_pool {
  mb_pool(mb_malloc_fn malloc, mb_free_fn free, mb_is_capturing_fn is_capturing)
      : malloc_fn(malloc), free_fn(free), is_capturing_fn(is_capturing) {}

  const mb_malloc_fn malloc_fn;
  const mb_free_fn free_fn;
  const mb_is_capturing_fn is_capturing_fn;
  std::atomic<int> users{0};  // threads that have it as their current pool

  std::mutex mutex;
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<FreeList> free_lists;
  mb_pool_stats stats = {};

  bool is_capturing(void* stream) const {
    int status = 0;
    return is_capturing_fn != nullptr && is_capturing_fn(stream, &status) == 0 && status != 0;
  }

  FreeList* find(const BlockKey& key) {
    for (FreeList& list : free_lists) {
      if (list.key == key) return &list;
    }
    return nullptr;
  }

  Block* pop(const BlockKey& key) {
    FreeList* list = find(key);
    if (list == nullptr || list->blocks.empty()) return nullptr;
    Block* block = list->blocks.back();
    list->blocks.pop_back();
    return block;
  }

  // A block of `key`, from its free list or new; the caller holds the mutex. nullptr and *code when malloc_fn fails;
  // throws bad_alloc.
  Block* take(const BlockKey& key, int* code) {
    // Room for the block's return, so that a release never allocates.
    FreeList* list = find(key);
    if (list == nullptr) list = &free_lists.emplace_back(FreeList{key, {}});
    if (list->blocks.capacity() <= blocks.size()) list->blocks.reserve(2 * blocks.size() + 8);
    Block* block = pop(key);
    if (block == nullptr && key.captured) {
      // One of a call before the capture: malloc_fn is forbidden now.
      BlockKey eager = key;
      eager.captured = false;
      block = pop(eager);
    }
    if (block != nullptr) {
      block->key = key;
      ++stats.hits;
      return block;
    }
    blocks.push_back(std::make_unique<Block>());
    block = blocks.back().get();
    *code = malloc_fn(&block->memory, key.bytes);
    if (*code != 0) {
      blocks.pop_back();
      return nullptr;
    }
    block->key = key;
    block->pool = this;
    stats.reserved_bytes += static_cast<int64_t>(key.bytes);
    return block;
  }

  void release(Block* block) {
    const std::lock_guard<std::mutex> lock(mutex);
    --stats.live_tensors;
    stats.live_bytes -= static_cast<int64_t>(block->key.bytes);
    find(block->key)->blocks.push_back(block);
  }
};

namespace {

void release_tensor(DLManagedTensorVersioned* tensor) {
  auto* block = static_cast<Block*>(tensor->manager_ctx);
  block->pool->release(block);
}

// The thread's current pool; the thread's end gives it up.
struct Current {
  mb_pool* pool = nullptr;

  mb_pool* exchange(mb_pool* next) {
    if (next != nullptr) next->users.fetch_add(1);
    if (pool != nullptr) pool->users.fetch_sub(1);
    return std::exchange(pool, next);
  }
  ~Current() { exchange(nullptr); }
};

thread_local Current current;

}  // namespace

int mb_pool_create(mb_malloc_fn malloc_fn, mb_free_fn free_fn, mb_is_capturing_fn is_capturing_fn, mb_pool** out) {
  if (malloc_fn == nullptr || free_fn == nullptr || out == nullptr) return MB_ERROR_ARGUMENT;
  auto* pool = new (std::nothrow) mb_pool(malloc_fn, free_fn, is_capturing_fn);
  if (pool == nullptr) return MB_ERROR_MEMORY;
  *out = pool;
  return 0;
}

int mb_pool_destroy(mb_pool* pool) {
  if (pool == nullptr) return MB_ERROR_ARGUMENT;
  const bool is_current = current.pool == pool;
  int first_error = 0;
  {
    const std::lock_guard<std::mutex> lock(pool->mutex);
    if (pool->stats.live_tensors > 0 || pool->users.load() > (is_current ? 1 : 0)) return MB_ERROR_IN_USE;
    for (const auto& block : pool->blocks) {
      const int code = pool->free_fn(block->memory);
      if (first_error == 0) first_error = code;
    }
  }
  if (is_current) current.exchange(nullptr);
  delete pool;
  return first_error;
}

int mb_pool_use(mb_pool* pool, mb_pool** previous) {
  mb_pool* before = current.exchange(pool);
  if (previous != nullptr) *previous = before;
  return 0;
}

int mb_pool_get_stats(mb_pool* pool, mb_pool_stats* out) {
  if (pool == nullptr || out == nullptr) return MB_ERROR_ARGUMENT;
  const std::lock_guard<std::mutex> lock(pool->mutex);
  *out = pool->stats;
  return 0;
}

int mb_pool_allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                     void (*set_error)(void* error_ctx, const char* kind, const char* message)) {
  // Allocates nothing: it also tells that memory is out.
  const auto fail = [&](const char* kind, const char* message) {
    if (set_error != nullptr) set_error(error_ctx, kind, message);
    return -1;
  };
  char text[128];
  mb_pool* pool = current.pool;
  if (pool == nullptr)
    return fail("RuntimeError", "mb_pool_allocate: this thread has no pool; choose one with mb_pool_use first");
  if (prototype == nullptr || out == nullptr)
    return fail("ValueError", "mb_pool_allocate: prototype and out must not be NULL");
  if (prototype->ndim < 0 || prototype->ndim > kMaxRank || (prototype->ndim > 0 && prototype->shape == nullptr)) {
    std::snprintf(text, sizeof text, "mb_pool_allocate: a tensor of %d dimensions, wanted 0 to %d and a shape",
                  prototype->ndim, kMaxRank);
    return fail("ValueError", text);
  }
  uint64_t bytes = 0;
  if (!tensor_bytes(*prototype, &bytes)) return fail("ValueError", "mb_pool_allocate: a shape that no memory holds");
  // Bits overflow before bytes reach 2^61, so the class does not overflow.
  void* stream = TVMFFIEnvGetStream(prototype->device.device_type, prototype->device.device_id);
  const BlockKey key = {prototype->device, stream, size_class(bytes), pool->is_capturing(stream)};
  Block* block = nullptr;
  int code = 0;
  try {
    const std::lock_guard<std::mutex> lock(pool->mutex);
    block = pool->take(key, &code);
    if (block != nullptr) {
      mb_pool_stats& stats = pool->stats;
      ++stats.allocations;
      ++stats.live_tensors;
      stats.live_bytes += static_cast<int64_t>(key.bytes);
      stats.peak_live_bytes = std::max(stats.peak_live_bytes, stats.live_bytes);
    }
  } catch (const std::bad_alloc&) {
    return fail("MemoryError", "mb_pool_allocate: host memory is out");
  }
  if (block == nullptr) {
    std::snprintf(text, sizeof text, "mb_pool_allocate: the device's malloc of %llu bytes failed with error %d",
                  static_cast<unsigned long long>(key.bytes), code);
    return fail("MemoryError", text);
  }
  // Unsigned: beside an extent of 0 the other extents may be absurd.
  uint64_t stride = 1;
  for (int32_t i = prototype->ndim - 1; i >= 0; --i) {
    block->shape[i] = prototype->shape[i];
    block->strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(1, prototype->shape[i]));
  }
  DLTensor& tensor = block->managed.dl_tensor;
  tensor = *prototype;
  tensor.data = block->memory;
  tensor.shape = block->shape;
  tensor.strides = block->strides;
  tensor.byte_offset = 0;
  block->managed.version = {kDLPackMajorVersion, kDLPackMinorVersion};
  block->managed.manager_ctx = block;
  block->managed.deleter = &release_tensor;
  block->managed.flags = 0;
  *out = &block->managed;
  return 0;
}
