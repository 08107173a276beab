#include "emulation.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "fiber.h"

#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

namespace musabench {
namespace emulation {

// Not thread_local: that would ask at each use whether it has been constructed.
__thread Coordinates coordinates;

namespace {

constexpr uint32_t kMaxThreads = 1024;
// What a block may have where it has the least: on a GPU with tensor cores an A100's 163 KiB, elsewhere 28.
constexpr size_t kMaxSharedBytes = (MUSABENCH_WARP == 32 ? 163 : 28) << 10;
constexpr size_t kWarpLanes = MUSABENCH_WARP;

enum class State : uint8_t { kReady, kAtBarrier, kAtExchange, kDone };

struct AsyncCopy {
  void* to;
  const void* from;  // NULL: zeros
  int group;
};

struct Thread {
  Dim3 index;
  State state;
  uint32_t exchanges;  // how many so far
  int copy_group;
  std::vector<AsyncCopy> copies;
  Fiber fiber;
};

// Runs the blocks of one lane, that is OS thread.
class Block {
 public:
  void run(const LaunchHeader& header, uint32_t number);

  Thread& current() { return *current_; }
  unsigned char* shared() { return shared_.get(); }

  void barrier() { wait(State::kAtBarrier); }
  const Slot* exchange(const void* value, size_t bytes);
  [[noreturn]] void fail(musaError_t error) {
    musaHostKernelFail(error);
    failed_ = true;
    finish();
  }

 private:
  struct FreeAligned {
    void operator()(void* memory) const { std::free(memory); }
  };

  static void thread_main(void* block);
  void prepare(const LaunchHeader& header, uint32_t number);
  // Whether any thread got on.
  bool pass();
  void release();
  void wait(State state) {
    current_->state = state;
    current_->fiber.leave_to(scheduler_);
  }
  [[noreturn]] void finish() {
    current_->state = State::kDone;
    current_->fiber.leave_for_good_to(scheduler_);
    std::abort();
  }
  void report_stuck();

  const LaunchHeader* launch_ = nullptr;
  std::vector<std::unique_ptr<Thread>> threads_;
  uint32_t count_ = 0;
  uint32_t done_ = 0;
  Thread* current_ = nullptr;
  Fiber scheduler_;
  bool failed_ = false;
  uint32_t order_ = 0;
  std::vector<Slot> exchanged_[2];  // of the last two exchanges: a slower lane may still read the one before
  std::unique_ptr<unsigned char, FreeAligned> shared_;
  size_t shared_bytes_ = 0;
};

Block& block() {
  thread_local Block block;
  return block;
}

void Block::thread_main(void* argument) {
  Block& block = *static_cast<Block*>(argument);
  block.launch_->run(block.launch_);
  block.finish();
}

void Block::prepare(const LaunchHeader& header, uint32_t number) {
  launch_ = &header;
  const Dim3& grid = header.grid;
  coordinates = {
      {}, {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y}, {header.threads, 1, 1}, grid};
  count_ = header.threads;
  done_ = 0;
  failed_ = false;
  order_ = number * 0x9E3779B9u + 1;
  while (threads_.size() < count_) threads_.push_back(std::make_unique<Thread>());
  for (auto& slots : exchanged_) slots.resize(count_);
  if (shared_bytes_ != header.shared_bytes) {
    // Exactly so many, that AddressSanitizer sees one too far.
    const size_t bytes = header.shared_bytes;
    void* memory = nullptr;
    if (bytes > 0 && posix_memalign(&memory, 16, bytes) != 0) throw std::bad_alloc();
    shared_.reset(static_cast<unsigned char*>(memory));
    shared_bytes_ = bytes;
  }
  if (shared_bytes_ > 0) std::memset(shared_.get(), 0xff, shared_bytes_);
  for (uint32_t i = 0; i < count_; ++i) {
    Thread& thread = *threads_[i];
    thread.index = {i, 0, 0};
    thread.state = State::kReady;
    thread.exchanges = 0;
    thread.copy_group = 0;
    thread.copies.clear();
    thread.fiber.start(&Block::thread_main, this);
  }
}

void Block::run(const LaunchHeader& header, uint32_t number) {
  prepare(header, number);
  scheduler_.adopt_this_thread();
  while (!failed_ && done_ < count_) {
    const bool moved = pass();
    if (failed_) break;
    release();
    if (!moved) {
      report_stuck();
      musaHostKernelFail(musaErrorLaunchFailure);
      break;
    }
  }
}

bool Block::pass() {
  bool moved = false;
  order_ = order_ * 1664525u + 1013904223u;
  const bool upward = order_ >> 31 != 0;
  for (uint32_t i = 0; i < count_ && !failed_; ++i) {
    Thread& thread = *threads_[upward ? i : count_ - 1 - i];
    if (thread.state != State::kReady) continue;
    moved = true;
    current_ = &thread;
    coordinates.thread = thread.index;
    scheduler_.enter(thread.fiber);
    if (thread.state == State::kDone) ++done_;
  }
  return moved;
}

// Threads go on where all that have to be there are.
void Block::release() {
  uint32_t at_barrier = 0;
  for (uint32_t first = 0; first < count_; first += kWarpLanes) {
    const uint32_t end = std::min<uint32_t>(first + kWarpLanes, count_);
    uint32_t waiting = 0;
    for (uint32_t i = first; i < end; ++i) {
      if (threads_[i]->state == State::kAtExchange) ++waiting;
      if (threads_[i]->state == State::kAtBarrier) ++at_barrier;
    }
    if (waiting == end - first) {
      for (uint32_t i = first; i < end; ++i) threads_[i]->state = State::kReady;
    }
  }
  if (at_barrier == count_) {
    for (uint32_t i = 0; i < count_; ++i) threads_[i]->state = State::kReady;
  }
}

void Block::report_stuck() {
  uint32_t at_barrier = 0;
  uint32_t at_exchange = 0;
  for (uint32_t i = 0; i < count_; ++i) {
    if (threads_[i]->state == State::kAtBarrier) ++at_barrier;
    if (threads_[i]->state == State::kAtExchange) ++at_exchange;
  }
  std::fprintf(stderr,
               "musabench: %s: of %u threads of block (%u, %u, %u), %u wait at a barrier, %u at a shuffle and %u have "
               "ended: not all reach it\n",
               launch_->name, count_, coordinates.block.x, coordinates.block.y, coordinates.block.z, at_barrier,
               at_exchange, done_);
}

const Slot* Block::exchange(const void* value, size_t bytes) {
  std::vector<Slot>& slots = exchanged_[current_->exchanges++ % 2];
  std::memcpy(slots[current_->index.x].word, value, bytes);
  const uint32_t first = current_->index.x / kWarpLanes * kWarpLanes;
  wait(State::kAtExchange);
  return &slots[first];
}

void run_block(const void* launch, uint32_t number, uint32_t) {
  try {
    block().run(*static_cast<const LaunchHeader*>(launch), number);
  } catch (const std::bad_alloc&) {
    musaHostKernelFail(musaErrorMemoryAllocation);
  }
}

}  // namespace

void barrier() { block().barrier(); }
const Slot* warp_exchange(const void* value, size_t bytes) { return block().exchange(value, bytes); }
unsigned char* dynamic_shared() { return block().shared(); }
void fail(int error) { block().fail(static_cast<musaError_t>(error)); }

void load_matrix_x4(uint32_t (&to)[4], const void* row, bool transposed) {
  require_aligned(row, 16);
  const Slot* all = warp_exchange(&row, sizeof row);
  const uint32_t lane = coordinates.thread.x % 32;
  const auto element = [&](uint32_t matrix, uint32_t r, uint32_t c) {
    const uint16_t* address;
    std::memcpy(&address, all[matrix * 8 + r].word, sizeof address);
    return static_cast<uint32_t>(address[c]);
  };
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t g = lane / 4;
    const uint32_t t = lane % 4 * 2;
    to[i] = transposed ? element(i, t, g) | element(i, t + 1, g) << 16 : element(i, g, t) | element(i, g, t + 1) << 16;
  }
}

void copy_async(void* to, const void* from) {
  require_aligned(to, 16);
  require_aligned(from, 16);
  Thread& thread = block().current();
  thread.copies.push_back({to, from, thread.copy_group});
}

void copy_async_commit() { ++block().current().copy_group; }

void copy_async_wait(int pending) {
  Thread& thread = block().current();
  size_t kept = 0;
  for (const AsyncCopy& copy : thread.copies) {
    if (copy.group >= thread.copy_group - pending) {
      thread.copies[kept++] = copy;
    } else if (copy.from == nullptr) {
      std::memset(copy.to, 0, 16);
    } else {
      std::memcpy(copy.to, copy.from, 16);
    }
  }
  thread.copies.resize(kept);
}

int64_t multiprocessors() {
  const uint32_t lanes = musaHostLaneCount();
  return lanes > 0 ? lanes : 1;
}

float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 31;
  const uint32_t mantissa = bits & 1023;
  float value;
  if (exponent == 0) {
    value = static_cast<float>(mantissa) * 0x1p-24f;
  } else {
    const uint32_t word = (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13;
    std::memcpy(&value, &word, 4);
  }
  uint32_t word;
  std::memcpy(&word, &value, 4);
  word |= sign;
  std::memcpy(&value, &word, 4);
  return value;
}

uint16_t float_to_half(float value) {
  uint32_t word;
  std::memcpy(&word, &value, 4);
  const auto sign = static_cast<uint16_t>(word >> 16 & 0x8000);
  word &= 0x7fffffff;
  if (word > 0x7f800000) return sign | 0x7e00;
  if (word >= 0x477ff000) return sign | 0x7c00;  // 65520 and more round to infinity
  if (word < 0x38800000) {
    // Below 2^-14 steps are 2^-24; the addition rounds to them.
    float magnitude;
    std::memcpy(&magnitude, &word, 4);
    magnitude += 0.5f;
    std::memcpy(&word, &magnitude, 4);
    return static_cast<uint16_t>(sign | (word - 0x3f000000));
  }
  word += 0xfff + (word >> 13 & 1);
  return static_cast<uint16_t>(sign | ((word >> 13) - (112 << 10)));
}

int queue(const LaunchHeader& header, const void* launch, size_t bytes, void* output, int64_t output_bytes,
          void* stream) {
  const Dim3& grid = header.grid;
  const uint64_t layers = static_cast<uint64_t>(grid.y) * grid.z;
  if (grid.x == 0 || layers == 0 || grid.x > INT32_MAX || grid.y > 65535 || grid.z > 65535 ||
      grid.x * layers > UINT32_MAX || header.threads == 0 || header.threads > kMaxThreads ||
      header.shared_bytes > kMaxSharedBytes) {
    return musaErrorInvalidConfiguration;
  }
  musaHostLaunch call = {};
  call.name = header.name;
  call.run = &run_block;
  call.blocks = static_cast<uint32_t>(grid.x * layers);
  call.params = launch;
  call.params_bytes = bytes;
  call.output = output;
  call.output_bytes = static_cast<size_t>(output_bytes);
  return musaHostLaunchKernel(&call, static_cast<musaStream_t>(stream));
}

}  // namespace emulation
}  // namespace musabench
