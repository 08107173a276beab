// What one entry of a stream or one node of a graph does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "abi/musart_host.h"

namespace musabench {

class Device;
struct Graph;

// A launch's own copy of its parameters, 64-byte aligned. Moves, so that a captured copy can be kept.
class Parameters {
 public:
  Parameters() = default;
  Parameters(Parameters&& other) noexcept { *this = std::move(other); }
  Parameters& operator=(Parameters&& other) noexcept;

  void assign(const void* data, size_t bytes);
  const void* data() const { return heap_ ? heap_.get() : inline_; }

 private:
  struct FreeAligned {
    void operator()(void* memory) const;
  };
  static constexpr size_t kInline = 256;

  size_t bytes_ = 0;
  std::unique_ptr<void, FreeAligned> heap_;  // when they do not fit in inline_
  alignas(64) unsigned char inline_[kInline];
};

struct Work {
  enum class Kind { kNothing, kKernel, kCopy, kFill, kHostFunction, kGraph };

  Kind kind = Kind::kNothing;
  uint32_t blocks = 0;             // kernel
  int value = 0;                   // fill
  const char* name = nullptr;      // kernel
  musaHostKernelFn run = nullptr;  // kernel
  musaHostFn_t function = nullptr;
  void* user_data = nullptr;
  void* dst = nullptr;  // copy, fill; a kernel's main output
  const void* src = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const Graph> graph;
  Parameters params;  // kernel

  // Whether more than the calling lane will run it.
  bool wants_lanes() const { return kind == Kind::kGraph || (kind == Kind::kKernel && blocks > 1); }

  static Work copy(void* dst, const void* src, size_t bytes);
  static Work fill(void* dst, int value, size_t bytes);
};

// Does it, on the calling thread as lane 0. Returns the error that ended it; musaSuccess: none, or the device
// is being reset.
musaError_t run_work(const Work& work, Device& device);

}  // namespace musabench
