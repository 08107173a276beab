#include <algorithm>

#include "../roof.h"
#include "gpu.h"

namespace musabench {
namespace {

using namespace gpu;

constexpr int kThreads = 256;
// Enough warps to have all of a processor's loads under way, whatever a block's share of registers.
constexpr int64_t kBlocksPerProcessor = 8;

using Word = Vec<uint32_t, 4>;

MUSABENCH_DEVICE uint32_t folded(const Word& word) { return word.at[0] ^ word.at[1] ^ word.at[2] ^ word.at[3]; }

// Each block reads a part of its own, each thread `Streams` sequential streams of it. The first and last bytes, which
// make no whole word, are the first block's.
template <int Streams>
__global__ void __launch_bounds__(kThreads) read_bandwidth_kernel(ReadBandwidthParams p) {
  const auto* bytes = static_cast<const unsigned char*>(p.src);
  const int64_t head = least(p.bytes, static_cast<int64_t>(-reinterpret_cast<uintptr_t>(bytes) & (sizeof(Word) - 1)));
  const auto* words = reinterpret_cast<const Word*>(bytes + head);
  const int64_t count = (p.bytes - head) / static_cast<int64_t>(sizeof(Word));
  const int64_t part = (count + gridDim.x - 1) / gridDim.x;
  const int64_t begin = least(count, part * blockIdx.x);
  const int64_t end = least(count, begin + part);
  const int64_t stream = (end - begin) / Streams;
  uint32_t sum = 0;
  for (int64_t i = begin + threadIdx.x; i < begin + stream; i += kThreads) {
    Word word[Streams];
#pragma unroll
    for (int s = 0; s < Streams; ++s) word[s] = words[i + s * stream];
#pragma unroll
    for (int s = 0; s < Streams; ++s) sum ^= folded(word[s]);
  }
  for (int64_t i = begin + Streams * stream + threadIdx.x; i < end; i += kThreads) sum ^= folded(words[i]);
  if (blockIdx.x == 0) {
    const int64_t tail = head + count * static_cast<int64_t>(sizeof(Word));
    for (int64_t i = threadIdx.x; i < head; i += kThreads) sum ^= bytes[i];
    for (int64_t i = tail + threadIdx.x; i < p.bytes; i += kThreads) sum ^= bytes[i];
  }
  __shared__ uint32_t sums[kThreads];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  uint32_t all = 0;
  for (int i = 0; i < kThreads; ++i) all ^= sums[i];
  // 24 bits are a float exactly. The second condition, which never holds, keeps the other blocks' loads.
  if (blockIdx.x == 0 || p.bytes < 0) p.out[0] = static_cast<float>(all & 0xffffff);
}

// What will not be read again soon leaves the caches first.
template <class T>
MUSABENCH_DEVICE void stream_store(T* to, const T& value) {
#if defined(MUSABENCH_DEVICE_CUDA)
  if constexpr (sizeof(T) == 16) {
    __stcs(reinterpret_cast<uint4*>(to), *reinterpret_cast<const uint4*>(&value));
    return;
  }
#endif
  *to = value;
}

// In units of T, then the bytes left. A block copies stretches of kUnroll * kThreads units.
template <class T>
__global__ void __launch_bounds__(kThreads) copy_bandwidth_kernel(CopyBandwidthParams p) {
  constexpr int kUnroll = 4;
  const T* src = static_cast<const T*>(p.src);
  T* dst = static_cast<T*>(p.dst);
  const int64_t count = p.bytes / static_cast<int64_t>(sizeof(T));
  const int64_t step = int64_t{kUnroll} * kThreads * gridDim.x;
  for (int64_t first = int64_t{blockIdx.x} * kUnroll * kThreads; first < count; first += step) {
    T unit[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int64_t i = first + u * kThreads + threadIdx.x;
      if (i < count) unit[u] = src[i];
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int64_t i = first + u * kThreads + threadIdx.x;
      if (i < count) stream_store(dst + i, unit[u]);
    }
  }
  if (blockIdx.x == 0) {
    const int64_t i = count * static_cast<int64_t>(sizeof(T)) + threadIdx.x;
    if (i < p.bytes) static_cast<unsigned char*>(p.dst)[i] = static_cast<const unsigned char*>(p.src)[i];
  }
}

template <class T>
int launch_copy(const CopyBandwidthParams& p, void* stream) {
  const int64_t blocks =
      std::min<int64_t>(ceil_div(p.bytes, int64_t{kThreads} * sizeof(T)) + 1, multiprocessors() * kBlocksPerProcessor);
  return launch<copy_bandwidth_kernel<T>>("copy_bandwidth", {static_cast<uint32_t>(blocks)}, kThreads, p,
                                          {p.dst, p.bytes}, stream);
}

template <int Streams>
int launch_read(const ReadBandwidthParams& p, void* stream) {
  // A block for every 4 KiB at most: with less to read there is nothing to measure.
  const int64_t blocks = std::clamp<int64_t>(p.bytes / 4096, 1, multiprocessors() * kBlocksPerProcessor);
  return launch<read_bandwidth_kernel<Streams>>("read_bandwidth", {static_cast<uint32_t>(blocks)}, kThreads, p,
                                                {p.out, sizeof(float)}, stream);
}

}  // namespace

int launch_read_bandwidth(const ReadBandwidthParams& p, void* stream) {
  if (p.streams >= 16) return launch_read<16>(p, stream);
  if (p.streams >= 8) return launch_read<8>(p, stream);
  if (p.streams >= 4) return launch_read<4>(p, stream);
  if (p.streams >= 2) return launch_read<2>(p, stream);
  return launch_read<1>(p, stream);
}

int launch_copy_bandwidth(const CopyBandwidthParams& p, void* stream) {
  if (p.bytes == 0) return kSuccess;
  const uintptr_t both = reinterpret_cast<uintptr_t>(p.src) | reinterpret_cast<uintptr_t>(p.dst);
  if (both % 16 == 0) return launch_copy<Vec<uint32_t, 4>>(p, stream);
  if (both % 4 == 0) return launch_copy<uint32_t>(p, stream);
  return launch_copy<unsigned char>(p, stream);
}

}  // namespace musabench
