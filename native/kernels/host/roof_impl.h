#include "../../abi/musart_host.h"
#include "roof_plan.h"
#include "simd.h"

namespace musabench {
namespace MUSABENCH_ISA_NAMESPACE {
namespace {

constexpr int64_t kLine = 64;

MUSABENCH_INLINE U8 load_line(const char* p) {
  U8 low, high;
  memcpy(&low, p, sizeof low);
  memcpy(&high, p + 32, sizeof high);
  return low ^ high;
}

// Sum over `streams` pieces of `piece` bytes (a multiple of a line) that lie one after another.
template <int kStreams>
U8 read_pieces(const char* src, int64_t piece) {
  U8 sums[kStreams] = {};
  int64_t i = 0;
  // The hardware fetches ahead within a page only: ask for the lines beyond it, where there are any. Into the second
  // level: the first has room for fewer requests under way. Measured with four streams a lane, two lanes: 65 GB/s
  // against 48 when the memory was fast, 36 against 35 when it was slow.
  constexpr int64_t kAhead = 16 * kLine;
  for (; i + kAhead < piece; i += kLine) {
#pragma GCC unroll 16
    for (int s = 0; s < kStreams; ++s) {
      __builtin_prefetch(src + s * piece + i + kAhead, 0, 2);
      sums[s] ^= load_line(src + s * piece + i);
    }
  }
  for (; i < piece; i += kLine) {
    for (int s = 0; s < kStreams; ++s) sums[s] ^= load_line(src + s * piece + i);
  }
  for (int s = 1; s < kStreams; ++s) sums[0] ^= sums[s];
  return sums[0];
}

}  // namespace

void read_bandwidth_block(const void* params, uint32_t block, uint32_t) {
  const ReadBandwidthPlan& plan = *static_cast<const ReadBandwidthPlan*>(params);
  const int64_t begin = block * plan.per_block;
  const int64_t left = plan.params.bytes - begin;
  const int64_t bytes = left < plan.per_block ? left : plan.per_block;
  const char* src = static_cast<const char*>(plan.params.src) + begin;
  // The greatest power of two that is not more.
  int64_t streams = 1;
  while (streams * 2 <= plan.params.streams) streams *= 2;
  const int64_t piece = bytes / (streams * kLine) * kLine;
  U8 sum = {};
  switch (streams) {
    case 16:
      sum = read_pieces<16>(src, piece);
      break;
    case 8:
      sum = read_pieces<8>(src, piece);
      break;
    case 4:
      sum = read_pieces<4>(src, piece);
      break;
    case 2:
      sum = read_pieces<2>(src, piece);
      break;
    default:
      sum = read_pieces<1>(src, piece);
  }
  for (int64_t i = piece * streams; i < bytes; ++i) sum[i % 8] ^= static_cast<unsigned char>(src[i]);
  uint32_t checksum = 0;
  for (int i = 0; i < 8; ++i) checksum ^= sum[i];
  // Every block's checksum is used, the first one's is shown.
  asm volatile("" : "+r"(checksum));
  if (block == 0) plan.params.out[0] = static_cast<float>(checksum);
}

void copy_bandwidth_block(const void* params, uint32_t block, uint32_t) {
  const CopyBandwidthPlan& plan = *static_cast<const CopyBandwidthPlan*>(params);
  const int64_t begin = block * plan.per_block;
  const int64_t left = plan.params.bytes - begin;
  const int64_t bytes = left < plan.per_block ? left : plan.per_block;
  const char* src = static_cast<const char*>(plan.params.src) + begin;
  char* dst = static_cast<char*>(plan.params.dst) + begin;
  int64_t i = 0;
#if MUSABENCH_SIMD_AVX2
  // Non-temporal stores: the lines of dst are not read before they are written.
  const int64_t head = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(dst) & 31u);
  i = head < bytes ? head : bytes;
  memcpy(dst, src, static_cast<size_t>(i));
  for (; i + 128 <= bytes; i += 128) {
    _mm_prefetch(src + i + 2048, _MM_HINT_T0);
    _mm_prefetch(src + i + 2112, _MM_HINT_T0);
#pragma GCC unroll 4
    for (int j = 0; j < 128; j += 32) {
      _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + i + j),
                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + i + j)));
    }
  }
  _mm_sfence();
#endif
  memcpy(dst + i, src + i, static_cast<size_t>(bytes - i));
}

void peak_flops_block(const void* params, uint32_t block, uint32_t) {
  const PeakFlopsParams& p = *static_cast<const PeakFlopsParams*>(params);
  // Twelve independent sums: more than latency times FMAs a cycle of any CPU in sight; sixteen registers hold them.
  F8 sums[kPeakSums];
  for (int i = 0; i < kPeakSums; ++i) sums[i] = splat(static_cast<float>(i));
  F8 factor = splat(0.999f);
  F8 term = splat(0.001f);
  asm volatile("" : "+m"(factor), "+m"(term));
  for (int64_t iteration = 0; iteration < p.iterations; ++iteration) {
#pragma GCC unroll 8
    for (int round = 0; round < kPeakRounds; ++round) {
#pragma GCC unroll 12
      for (int i = 0; i < kPeakSums; ++i) sums[i] = fma8(sums[i], factor, term);
    }
  }
  F8 total = sums[0];
  for (int i = 1; i < kPeakSums; ++i) total += sums[i];
  float result = sum_of(total);
  asm volatile("" : "+m"(result));
  if (block == 0) p.out[0] = result;
}

}  // namespace MUSABENCH_ISA_NAMESPACE
}  // namespace musabench
