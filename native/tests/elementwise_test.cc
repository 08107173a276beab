// The small kernels of a layer and the roof kernels against double-precision references.
#include <algorithm>

#include "kernel_test.h"

extern "C" {
int __tvm_ffi_rms_norm(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_fused_add_rms_norm(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_qk_norm_rope(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_kv_cache_write(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_silu_and_mul(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_embedding(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_argmax(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_random_fill(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_read_bandwidth(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_copy_bandwidth(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_peak_flops(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_peak_flops_per_iteration(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_empty(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
}

namespace musabench {
namespace {

constexpr double kEps = 1e-6;

// Token and width pairs: one of each, odd ones, more than a block, more than all lanes' blocks.
const std::vector<std::pair<int64_t, int64_t>> kSizes =
    kEmulated ? std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 257}, {2, 8190}, {3, 8704}, {130, 40}, {2, 7}}
              : std::vector<std::pair<int64_t, int64_t>>{{1, 1},    {1, 257},   {3, 8190}, {257, 24},
                                                         {5, 1024}, {1000, 40}, {2, 7}};

// One rounding, and fp32 arithmetic before it.
bool near(double given, double wanted, DLDataType type, double arithmetic = 2e-6) {
  return std::fabs(given - wanted) <= rounding_error(wanted, type) + arithmetic * (std::fabs(wanted) + 1e-3);
}

void rms_norm_is_right() {
  std::mt19937 random(1);
  for (const DLDataType type : {kBf16Type, kFp16Type}) {
    for (const auto& [tokens, hidden] : kSizes) {
      TestTensor x(type, {tokens, hidden}, 3), weight(type, {hidden}), out(type, {tokens, hidden}, 5);
      x.fill_uniform(random, -3, 3);
      weight.fill_uniform(random, 0.5, 1.5);
      CHECK_EQ(call(__tvm_ffi_rms_norm, x, weight, out, kEps), "");
      int64_t wrong = 0;
      for (int64_t t = 0; t < tokens; ++t) {
        double squares = 0;
        for (int64_t h = 0; h < hidden; ++h) squares += x.get(t * hidden + h) * x.get(t * hidden + h);
        const double factor = 1 / std::sqrt(squares / static_cast<double>(hidden) + kEps);
        for (int64_t h = 0; h < hidden; ++h) {
          const double wanted = x.get(t * hidden + h) * factor * weight.get(h);
          if (!near(out.get(t * hidden + h), wanted, type)) ++wrong;
        }
      }
      CHECK_EQ(wrong, 0);
      CHECK(out.surroundings_intact());
    }
  }
}

void rms_norm_works_in_place() {
  std::mt19937 random(2);
  TestTensor x(kBf16Type, {4, 100}), copy(kBf16Type, {4, 100}), weight(kBf16Type, {100}), out(kBf16Type, {4, 100});
  x.fill_uniform(random, -1, 1);
  for (int64_t i = 0; i < x.elements(); ++i) copy.set(i, x.get(i));
  weight.fill_uniform(random, -1, 1);
  CHECK_EQ(call(__tvm_ffi_rms_norm, x, weight, out, kEps), "");
  CHECK_EQ(call(__tvm_ffi_rms_norm, copy, weight, copy, kEps), "");
  CHECK(std::memcmp(copy.bytes(), out.bytes(), 4 * 100 * 2) == 0);
}

void fused_add_rms_norm_is_right() {
  std::mt19937 random(3);
  for (const DLDataType type : {kBf16Type, kFp16Type}) {
    for (const auto& [tokens, hidden] : kSizes) {
      for (const bool in_place : {false, true}) {
        TestTensor x(type, {tokens, hidden}, 1), residual(type, {tokens, hidden}, 2), weight(type, {hidden});
        TestTensor out(type, {tokens, hidden}, 3), residual_out(type, {tokens, hidden}, 4);
        x.fill_uniform(random, -3, 3);
        residual.fill_uniform(random, -3, 3);
        weight.fill_uniform(random, 0.5, 1.5);
        std::vector<double> wanted(static_cast<size_t>(tokens * hidden)), wanted_sum(wanted.size());
        for (int64_t t = 0; t < tokens; ++t) {
          double squares = 0;
          for (int64_t h = 0; h < hidden; ++h) {
            const int64_t i = t * hidden + h;
            // fp32 holds the sum of two such numbers, or is half a unit of its last place off.
            const float sum = static_cast<float>(x.get(i) + residual.get(i));
            wanted_sum[static_cast<size_t>(i)] = decode_bits(encode_bits(sum, type), type);
            squares += wanted_sum[static_cast<size_t>(i)] * wanted_sum[static_cast<size_t>(i)];
          }
          const double factor = 1 / std::sqrt(squares / static_cast<double>(hidden) + kEps);
          for (int64_t h = 0; h < hidden; ++h) {
            wanted[static_cast<size_t>(t * hidden + h)] =
                wanted_sum[static_cast<size_t>(t * hidden + h)] * factor * weight.get(h);
          }
        }
        TestTensor& to = in_place ? x : out;
        TestTensor& sum_to = in_place ? residual : residual_out;
        CHECK_EQ(call(__tvm_ffi_fused_add_rms_norm, x, residual, weight, to, sum_to, kEps), "");
        int64_t wrong = 0;
        for (int64_t i = 0; i < tokens * hidden; ++i) {
          if (sum_to.get(i) != wanted_sum[static_cast<size_t>(i)]) ++wrong;
          if (!near(to.get(i), wanted[static_cast<size_t>(i)], type)) ++wrong;
        }
        CHECK_EQ(wrong, 0);
        CHECK(to.surroundings_intact() && sum_to.surroundings_intact());
      }
    }
  }
}

void qk_norm_rope_is_right() {
  std::mt19937 random(4);
  const struct {
    int64_t tokens, q_heads, kv_heads, dim;
    bool norm;
  } cases[] = {{1, 1, 1, 64, true},   {5, 16, 8, 128, true}, {257, 4, 1, 96, false}, {3, 2, 2, 80, true},
               {2, 3, 1, 256, false}, {7, 2, 1, 6, true},    {1, 1, 1, 2, true},     {64, 8, 2, 192, true}};
  for (const DLDataType type : {kBf16Type, kFp16Type}) {
    for (const auto& c : cases) {
      const int64_t width = (c.q_heads + 2 * c.kv_heads) * c.dim;
      const int64_t positions_count = 50;
      TestTensor qkv(type, {c.tokens, width}, 9), q_weight(type, {c.dim}), k_weight(type, {c.dim});
      TestTensor cos_sin(kFp32Type, {positions_count, c.dim}, 2), positions(kInt32Type, {c.tokens});
      TestTensor q_out(type, {c.tokens, c.q_heads, c.dim}, 3), k_out(type, {c.tokens, c.kv_heads, c.dim});
      qkv.fill_uniform(random, -2, 2);
      q_weight.fill_uniform(random, 0.5, 1.5);
      k_weight.fill_uniform(random, 0.5, 1.5);
      for (int64_t p = 0; p < positions_count; ++p) {
        for (int64_t i = 0; i < c.dim / 2; ++i) {
          const double angle =
              static_cast<double>(p) * std::pow(1e4, -2.0 * static_cast<double>(i) / static_cast<double>(c.dim));
          cos_sin.set(p * c.dim + i, std::cos(angle));
          cos_sin.set(p * c.dim + c.dim / 2 + i, std::sin(angle));
        }
      }
      for (int64_t t = 0; t < c.tokens; ++t) positions.set(t, static_cast<double>(random() % positions_count));
      CHECK_EQ(c.norm ? call(__tvm_ffi_qk_norm_rope, qkv, q_weight, k_weight, cos_sin, positions, q_out, k_out, kEps)
                      : call(__tvm_ffi_qk_norm_rope, qkv, nullptr, nullptr, cos_sin, positions, q_out, k_out, kEps),
               "");
      int64_t wrong = 0;
      for (int64_t t = 0; t < c.tokens; ++t) {
        for (int64_t head = 0; head < c.q_heads + c.kv_heads; ++head) {
          const bool is_q = head < c.q_heads;
          const TestTensor& weight = is_q ? q_weight : k_weight;
          std::vector<double> x(static_cast<size_t>(c.dim));
          double squares = 0;
          for (int64_t i = 0; i < c.dim; ++i) {
            x[static_cast<size_t>(i)] = qkv.get(t * width + head * c.dim + i);
            squares += x[static_cast<size_t>(i)] * x[static_cast<size_t>(i)];
          }
          const double factor = 1 / std::sqrt(squares / static_cast<double>(c.dim) + kEps);
          for (int64_t i = 0; c.norm && i < c.dim; ++i) x[static_cast<size_t>(i)] *= factor * weight.get(i);
          const auto position = static_cast<int64_t>(positions.get(t));
          for (int64_t i = 0; i < c.dim; ++i) {
            const int64_t half = c.dim / 2;
            const double cosine = cos_sin.get(position * c.dim + i % half);
            const double sine = cos_sin.get(position * c.dim + half + i % half);
            const double other = i < half ? -x[static_cast<size_t>(i + half)] : x[static_cast<size_t>(i - half)];
            const double wanted = x[static_cast<size_t>(i)] * cosine + other * sine;
            const double given = is_q ? q_out.get((t * c.q_heads + head) * c.dim + i)
                                      : k_out.get((t * c.kv_heads + head - c.q_heads) * c.dim + i);
            // Both products may be near 2 and cancel.
            if (!(std::fabs(given - wanted) <= rounding_error(wanted, type) + 2e-6)) ++wrong;
          }
        }
      }
      CHECK_EQ(wrong, 0);
      CHECK(q_out.surroundings_intact() && k_out.surroundings_intact());
    }
  }
}

void kv_cache_write_puts_tokens_in_their_slots() {
  std::mt19937 random(5);
  const struct {
    int64_t tokens, heads, dim, pages, page_size, gap;
  } cases[] = {{1, 1, 64, 3, 16, 0}, {37, 8, 128, 9, 16, 0}, {300, 2, 80, 7, 64, 5}, {5, 3, 96, 11, 1, 1}};
  for (const auto& c : cases) {
    TestTensor k(kBf16Type, {c.tokens, c.heads, c.dim}, c.gap), v(kBf16Type, {c.tokens, c.heads, c.dim}, c.gap);
    TestTensor k_cache(kBf16Type, {c.pages, c.page_size, c.heads, c.dim}, c.gap * 2);
    TestTensor v_cache(kBf16Type, {c.pages, c.page_size, c.heads, c.dim});
    TestTensor slots(kInt64Type, {c.tokens});
    k.fill_uniform(random, -1, 1);
    v.fill_uniform(random, -1, 1);
    std::vector<int64_t> free_slots(static_cast<size_t>(c.pages * c.page_size));
    for (size_t i = 0; i < free_slots.size(); ++i) free_slots[i] = static_cast<int64_t>(i);
    std::shuffle(free_slots.begin(), free_slots.end(), random);
    std::vector<int64_t> token_of_slot(free_slots.size(), -1);
    for (int64_t t = 0; t < c.tokens; ++t) {
      const int64_t slot = t % 5 == 3 ? -1 : free_slots[static_cast<size_t>(t)];
      slots.set(t, static_cast<double>(slot));
      if (slot >= 0) token_of_slot[static_cast<size_t>(slot)] = t;
    }
    CHECK_EQ(call(__tvm_ffi_kv_cache_write, k, v, k_cache, v_cache, slots), "");
    int64_t wrong = 0;
    const int64_t width = c.heads * c.dim;
    for (int64_t slot = 0; slot < c.pages * c.page_size; ++slot) {
      const int64_t token = token_of_slot[static_cast<size_t>(slot)];
      for (int64_t i = 0; i < width; ++i) {
        const double in_k = k_cache.get(slot * width + i);
        const double in_v = v_cache.get(slot * width + i);
        if (token < 0 ? !std::isnan(in_k) || !std::isnan(in_v)
                      : in_k != k.get(token * width + i) || in_v != v.get(token * width + i)) {
          ++wrong;
        }
      }
    }
    CHECK_EQ(wrong, 0);
    CHECK(k_cache.surroundings_intact() && v_cache.surroundings_intact());
  }
}

void silu_and_mul_is_right() {
  std::mt19937 random(6);
  for (const DLDataType type : {kBf16Type, kFp16Type}) {
    for (const auto& [tokens, features] : kSizes) {
      TestTensor x(type, {tokens, 2 * features}, 1), out(type, {tokens, features}, 2);
      x.fill_uniform(random, -12, 12);
      CHECK_EQ(call(__tvm_ffi_silu_and_mul, x, out), "");
      int64_t wrong = 0;
      for (int64_t t = 0; t < tokens; ++t) {
        for (int64_t i = 0; i < features; ++i) {
          const double gate = x.get(t * 2 * features + i);
          const double wanted = gate / (1 + std::exp(-gate)) * x.get(t * 2 * features + features + i);
          if (!near(out.get(t * features + i), wanted, type)) ++wrong;
        }
      }
      CHECK_EQ(wrong, 0);
      CHECK(out.surroundings_intact());
    }
  }
  // Far out on both sides the exponential leaves the range of fp32; the result must not.
  TestTensor x(kBf16Type, {1, 16}), out(kBf16Type, {1, 8});
  for (int64_t i = 0; i < 16; ++i) x.set(i, i < 4 ? -200 : i < 8 ? 200 : 1);
  CHECK_EQ(call(__tvm_ffi_silu_and_mul, x, out), "");
  CHECK_EQ(out.get(0), 0.0);
  CHECK_EQ(out.get(5), 200.0);
}

void embedding_copies_rows() {
  std::mt19937 random(7);
  for (const auto& [tokens, hidden] : kSizes) {
    TestTensor table(kFp16Type, {33, hidden}, 1), ids(kInt32Type, {tokens}), out(kFp16Type, {tokens, hidden}, 2);
    table.fill_uniform(random, -1, 1);
    for (int64_t t = 0; t < tokens; ++t) ids.set(t, static_cast<double>(random() % 33));
    CHECK_EQ(call(__tvm_ffi_embedding, ids, table, out), "");
    int64_t wrong = 0;
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t h = 0; h < hidden; ++h) {
        if (out.get(t * hidden + h) != table.get(static_cast<int64_t>(ids.get(t)) * hidden + h)) ++wrong;
      }
    }
    CHECK_EQ(wrong, 0);
    CHECK(out.surroundings_intact());
  }
}

void argmax_takes_the_lowest_index_of_the_greatest() {
  std::mt19937 random(8);
  for (const DLDataType type : {kBf16Type, kFp16Type, kFp32Type}) {
    for (const auto& [tokens, vocabulary] : kSizes) {
      TestTensor logits(type, {tokens, vocabulary}, 1), out(kInt32Type, {tokens});
      // Few different values: equal ones are the rule.
      for (int64_t i = 0; i < logits.elements(); ++i) logits.set(i, static_cast<double>(random() % 20) - 25);
      CHECK_EQ(call(__tvm_ffi_argmax, logits, out), "");
      int64_t wrong = 0;
      for (int64_t t = 0; t < tokens; ++t) {
        int64_t best = 0;
        for (int64_t v = 1; v < vocabulary; ++v) {
          if (logits.get(t * vocabulary + v) > logits.get(t * vocabulary + best)) best = v;
        }
        if (out.get(t) != static_cast<double>(best)) ++wrong;
      }
      CHECK_EQ(wrong, 0);
      CHECK(out.surroundings_intact());
    }
  }
  TestTensor logits(kFp32Type, {2, 30}), out(kInt32Type, {2});
  for (int64_t i = 0; i < 60; ++i) logits.set(i, i < 30 ? -std::numeric_limits<double>::infinity() : 1);
  logits.set(31, std::numeric_limits<double>::quiet_NaN());
  logits.set(59, 2);
  CHECK_EQ(call(__tvm_ffi_argmax, logits, out), "");
  CHECK_EQ(out.get(0), 0.0);
  CHECK_EQ(out.get(1), 29.0);
}

float wanted_random(int64_t i, uint32_t seed, float scale) {
  uint32_t h = static_cast<uint32_t>(i) * 0x9E3779B9u + (seed ^ static_cast<uint32_t>(i >> 32)) * 0x85EBCA6Bu;
  h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
  h = (h ^ (h >> 13)) * 0xC2B2AE35u;
  h ^= h >> 16;
  const int sum = static_cast<int>((h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24));
  const volatile float z = static_cast<float>(sum - 510) / 147.8f;
  return z * scale;
}

void random_fill_is_the_same_everywhere() {
  for (const int64_t count : {1, 7, 257, 8190, 300000}) {
    for (const DLDataType type : {kBf16Type, kFp16Type, kFp32Type}) {
      if (kEmulated && count == 300000 && type.bits == 16) continue;
      TestTensor out(type, {count});
      CHECK_EQ(call(__tvm_ffi_random_fill, out, int64_t{4000000000}, 0.02), "");
      int64_t wrong = 0;
      double sum = 0, squares = 0;
      for (int64_t i = 0; i < count; ++i) {
        const float wanted = wanted_random(i, 4000000000u, 0.02f);
        if (out.get(i) != (type.bits == 32 ? wanted : decode_bits(encode_bits(wanted, type), type))) ++wrong;
        sum += wanted / 0.02;
        squares += wanted / 0.02 * (wanted / 0.02);
      }
      CHECK_EQ(wrong, 0);
      CHECK(out.surroundings_intact());
      if (count == 300000) {
        CHECK(std::fabs(sum / 300000) < 0.01);
        CHECK(std::fabs(squares / 300000 - 1) < 0.02);
      }
    }
  }
}

void bandwidth_kernels_touch_every_byte() {
  std::mt19937 random(9);
  for (const int64_t bytes : {1, 63, 64, 4097, 65536, kEmulated ? 140003 : 1000003}) {
    TestTensor src(kUint8Type, {bytes}), dst(kUint8Type, {bytes}), out(kFp32Type, {1});
    for (int64_t i = 0; i < bytes; ++i) src.bytes()[i] = static_cast<unsigned char>(random());
    CHECK_EQ(call(__tvm_ffi_copy_bandwidth, src, dst), "");
    CHECK(std::memcmp(src.bytes(), dst.bytes(), static_cast<size_t>(bytes)) == 0);
    CHECK(dst.surroundings_intact());
    for (const int streams : {1, 2, 3, 4, 8, 16}) {
      if (kEmulated && bytes > 4097 && streams > 3 && streams < 16) continue;
      CHECK_EQ(call(__tvm_ffi_read_bandwidth, src, streams, out), "");
      // The first block's checksum: the exclusive or of its words, and of its last bytes into the lowest.
      const double first = out.get(0);
      src.bytes()[0] ^= 1;
      CHECK_EQ(call(__tvm_ffi_read_bandwidth, src, streams, out), "");
      CHECK(bytes < 64 ? out.get(0) != first : !std::isnan(out.get(0)));
      src.bytes()[0] ^= 1;
      CHECK(out.surroundings_intact());
    }
  }
}

void peak_flops_counts_its_operations() {
  TestTensor out(kFp32Type, {1});
  CHECK_EQ(call(__tvm_ffi_peak_flops, 1000, out), "");
  CHECK(std::isfinite(out.get(0)));
  TVMFFIAny result = {};
  CHECK_EQ(__tvm_ffi_peak_flops_per_iteration(nullptr, nullptr, 0, &result), 0);
  CHECK_EQ(result.type_index, int32_t{kTVMFFIInt});
  if (kEmulated) {
    CHECK(result.v_int64 > 0);
  } else {
    CHECK_EQ(result.v_int64, int64_t{12 * 8 * 8 * 2} * musaHostLaneCount());
  }
  CHECK_EQ(call(__tvm_ffi_empty), "");
}

// Before a kernel has run: the instruction set is chosen once.
void an_unknown_instruction_set_is_refused() {
  const std::string wanted = std::getenv("MUSABENCH_ISA");
  TestTensor x(kFp16Type, {2, 8});
  TestTensor weight(kFp16Type, {8});
  TestTensor out(kFp16Type, {2, 8});
  for (const char* unknown : {"avx512", "AVX2", "neon"}) {
    setenv("MUSABENCH_ISA", unknown, 1);
    CHECK(starts_with(
        call(__tvm_ffi_rms_norm, x, weight, out, 1e-6),
        (std::string("RuntimeError: rms_norm: MUSABENCH_ISA is '") + unknown + "', wanted scalar").c_str()));
  }
  setenv("MUSABENCH_ISA", wanted.c_str(), 1);
  CHECK_EQ(call(__tvm_ffi_rms_norm, x, weight, out, 1e-6), "");
}

void nothing_to_do_is_no_error() {
  TestTensor x(kBf16Type, {0, 16}), weight(kBf16Type, {16}), out(kBf16Type, {0, 16}), half(kBf16Type, {0, 8});
  TestTensor ids(kInt32Type, {0}), table(kBf16Type, {3, 16}), none(kInt32Type, {0}), bytes(kUint8Type, {0});
  TestTensor other(kUint8Type, {0}), result(kFp32Type, {1});
  CHECK_EQ(call(__tvm_ffi_rms_norm, x, weight, out, kEps), "");
  CHECK_EQ(call(__tvm_ffi_silu_and_mul, x, half), "");
  CHECK_EQ(call(__tvm_ffi_embedding, ids, table, out), "");
  CHECK_EQ(call(__tvm_ffi_argmax, x, none), "");
  CHECK_EQ(call(__tvm_ffi_random_fill, x, 1, 1.0), "");
  CHECK_EQ(call(__tvm_ffi_copy_bandwidth, bytes, other), "");
  CHECK_EQ(call(__tvm_ffi_read_bandwidth, bytes, 4, result), "");
}

void wrong_arguments_are_named() {
  TestTensor x(kBf16Type, {4, 8}), weight(kBf16Type, {8}), out(kBf16Type, {4, 8}), fp32(kFp32Type, {4, 8});
  TestTensor ids(kInt32Type, {4}), long_ids(kInt64Type, {4}), odd(kBf16Type, {4, 7}), narrow(kBf16Type, {4, 4});
  CHECK(starts_with(call(__tvm_ffi_rms_norm, fp32, weight, out, kEps), "ValueError: rms_norm: x is float32"));
  CHECK(starts_with(call(__tvm_ffi_rms_norm, x, x, out, kEps), "ValueError: rms_norm: weight has shape"));
  CHECK(starts_with(call(__tvm_ffi_rms_norm, x, weight, out, nullptr), "TypeError: rms_norm: argument 4 (eps)"));
  CHECK(starts_with(call(__tvm_ffi_fused_add_rms_norm, x, out, weight, out, x, kEps),
                    "ValueError: fused_add_rms_norm: out shares memory with residual"));
  CHECK(starts_with(call(__tvm_ffi_silu_and_mul, odd, narrow), "ValueError: silu_and_mul: x has an odd"));
  CHECK(starts_with(call(__tvm_ffi_embedding, long_ids, x, out), "ValueError: embedding: ids is int64"));
  CHECK(starts_with(call(__tvm_ffi_argmax, x, long_ids), "ValueError: argmax: out is int64"));
  CHECK(starts_with(call(__tvm_ffi_random_fill, out, -1, 1.0), "ValueError: random_fill: seed is -1"));
  CHECK(starts_with(call(__tvm_ffi_peak_flops, 0, fp32), "ValueError: peak_flops: iterations is 0"));
  CHECK_EQ(call(__tvm_ffi_peak_flops, int64_t{1000000001}, fp32),
           "ValueError: peak_flops: iterations is 1000000001, wanted 1 to 1000000000");
  CHECK(starts_with(call(__tvm_ffi_empty, 1), "TypeError: empty: 1 arguments"));
}

// A wrong index is found while the kernel runs. The error sticks to the device, so this is a process's last test.
void wrong_indices_stop_the_kernel(const std::string& kernel) {
  if (kernel == "embedding") {
    TestTensor table(kBf16Type, {3, 16}), ids(kInt32Type, {2}), out(kBf16Type, {2, 16});
    ids.set(0, 1);
    ids.set(1, 3);
    CHECK_EQ(call(__tvm_ffi_embedding, ids, table, out), "device: musaErrorIllegalAddress");
  } else if (kernel == "kv_cache_write") {
    TestTensor k(kBf16Type, {1, 1, 8}), v(kBf16Type, {1, 1, 8}), slots(kInt64Type, {1});
    TestTensor k_cache(kBf16Type, {2, 4, 1, 8}), v_cache(kBf16Type, {2, 4, 1, 8});
    slots.set(0, 8);
    CHECK_EQ(call(__tvm_ffi_kv_cache_write, k, v, k_cache, v_cache, slots), "device: musaErrorIllegalAddress");
    CHECK(k_cache.surroundings_intact() && v_cache.surroundings_intact());
  } else {
    TestTensor qkv(kBf16Type, {1, 24}), cos_sin(kFp32Type, {5, 8}), positions(kInt32Type, {1});
    TestTensor q_out(kBf16Type, {1, 1, 8}), k_out(kBf16Type, {1, 1, 8});
    positions.set(0, -1);
    CHECK_EQ(call(__tvm_ffi_qk_norm_rope, qkv, nullptr, nullptr, cos_sin, positions, q_out, k_out, kEps),
             "device: musaErrorIllegalAddress");
  }
}

}  // namespace
}  // namespace musabench

int main(int argc, char** argv) {
  using namespace musabench;
  if (argc > 2) {
    wrong_indices_stop_the_kernel(argv[2]);
    return test_status();
  }
  const int variants = run_variants(argc, argv);
  if (variants >= 0) return variants;
  if (!kEmulated) RUN_TEST(an_unknown_instruction_set_is_refused);
  RUN_TEST(rms_norm_is_right);
  RUN_TEST(rms_norm_works_in_place);
  RUN_TEST(fused_add_rms_norm_is_right);
  RUN_TEST(qk_norm_rope_is_right);
  RUN_TEST(kv_cache_write_puts_tokens_in_their_slots);
  RUN_TEST(silu_and_mul_is_right);
  RUN_TEST(embedding_copies_rows);
  RUN_TEST(argmax_takes_the_lowest_index_of_the_greatest);
  RUN_TEST(random_fill_is_the_same_everywhere);
  RUN_TEST(bandwidth_kernels_touch_every_byte);
  RUN_TEST(peak_flops_counts_its_operations);
  RUN_TEST(nothing_to_do_is_no_error);
  RUN_TEST(wrong_arguments_are_named);
  for (const char* kernel : {"embedding", "kv_cache_write", "qk_norm_rope"}) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", argv[0], "variant", kernel, static_cast<char*>(nullptr));
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
  }
  return test_status();
}
