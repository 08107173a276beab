#include "runtime/work.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "runtime/device.h"
#include "runtime/graph.h"
#include "runtime/runtime.h"
#include "runtime/sync.h"

namespace musabench {

Parameters& Parameters::operator=(Parameters&& other) noexcept {
  bytes_ = other.bytes_;
  heap_ = std::move(other.heap_);
  if (!heap_ && bytes_ > 0) std::memcpy(inline_, other.inline_, bytes_);
  other.bytes_ = 0;
  return *this;
}

void Parameters::FreeAligned::operator()(void* memory) const { std::free(memory); }

void Parameters::assign(const void* data, size_t bytes) {
  heap_.reset();
  bytes_ = 0;
  void* target = inline_;
  if (bytes > kInline) {
    if (posix_memalign(&target, 64, bytes) != 0) throw std::bad_alloc();
    heap_.reset(target);
  }
  if (bytes > 0) std::memcpy(target, data, bytes);
  bytes_ = bytes;
}

Work Work::copy(void* dst, const void* src, size_t bytes) {
  Work work;
  work.kind = Kind::kCopy;
  work.dst = dst;
  work.src = src;
  work.bytes = bytes;
  return work;
}

Work Work::fill(void* dst, int value, size_t bytes) {
  Work work;
  work.kind = Kind::kFill;
  work.dst = dst;
  work.value = value;
  work.bytes = bytes;
  return work;
}

namespace {

// Copies and fills of several pieces are shared out among the lanes.
constexpr size_t kPiece = size_t{1} << 20;

uint32_t pieces(size_t bytes) { return static_cast<uint32_t>((bytes + kPiece - 1) / kPiece); }

void copy_piece(const void* params, uint32_t piece, uint32_t) {
  const Work& work = *static_cast<const Work*>(params);
  const size_t begin = piece * kPiece;
  std::memmove(static_cast<char*>(work.dst) + begin, static_cast<const char*>(work.src) + begin,
               std::min(kPiece, work.bytes - begin));
}

void fill_piece(const void* params, uint32_t piece, uint32_t) {
  const Work& work = *static_cast<const Work*>(params);
  const size_t begin = piece * kPiece;
  std::memset(static_cast<char*>(work.dst) + begin, work.value, std::min(kPiece, work.bytes - begin));
}

// Changes the sign of every bf16, fp16 and f32 in the output: wrong, but not so absurd that a lax check sees it.
void damage(void* output, size_t bytes) {
  auto* data = static_cast<unsigned char*>(output);
  if (data == nullptr || bytes == 0) return;
  if (bytes == 1) data[0] ^= 0x80;
  for (size_t i = 1; i < bytes; i += 2) data[i] ^= 0x80;
}

musaError_t run_kernel(const Work& work, Device& device) {
  FaultInjector& faults = runtime().faults();
  Fault fault;
  if (faults.active()) fault = faults.on_kernel(work.name, device.id());
  switch (fault.action) {
    case FaultAction::kError:
      return fault.error;
    case FaultAction::kHang:
      // For whoever waits for it: a hang has no other sign.
      std::fprintf(stderr, "musart_host: %s hangs, by MUSART_HOST_FAULTS\n", work.name);
      device.wait_for_reset();
      return musaSuccess;
    case FaultAction::kCrash:
      std::abort();
    default:
      break;
  }
  const bool slow = fault.action == FaultAction::kSlow;
  const int64_t begin = slow ? now_ns() : 0;
  const musaError_t error = device.lanes().run(work.run, work.params.data(), work.blocks, device.stopping());
  if (slow) {
    const int64_t now = now_ns();
    const int64_t end = now + (now - begin) * fault.percent / 100;
    while (now_ns() < end && !device.stopping().load(std::memory_order_relaxed)) {
    }
  }
  if (fault.action == FaultAction::kWrong) damage(work.dst, work.bytes);
  return error;
}

}  // namespace

musaError_t run_work(const Work& work, Device& device) {
  switch (work.kind) {
    case Work::Kind::kNothing:
      return musaSuccess;
    case Work::Kind::kKernel:
      return run_kernel(work, device);
    case Work::Kind::kCopy:
      return device.lanes().run(copy_piece, &work, pieces(work.bytes), device.stopping());
    case Work::Kind::kFill:
      return device.lanes().run(fill_piece, &work, pieces(work.bytes), device.stopping());
    case Work::Kind::kHostFunction:
      work.function(work.user_data);
      return musaSuccess;
    case Work::Kind::kGraph:
      for (const GraphNode& node : work.graph->nodes) {
        const musaError_t error = run_work(node.work, device);
        if (error != musaSuccess || device.stopping().load(std::memory_order_relaxed)) return error;
      }
      return musaSuccess;
  }
  return musaErrorUnknown;
}

}  // namespace musabench
