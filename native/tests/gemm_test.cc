// gemm against a double-precision product: odd sizes, strides, both types, fp32 results, wrong arguments.
#include "kernel_test.h"

extern "C" int __tvm_ffi_gemm(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);

namespace musabench {
namespace {

struct Shape {
  int64_t m, n, k;
};

void check_product(const Shape& s, DLDataType type, DLDataType out_type, int64_t gap, std::mt19937& random,
                   bool with_bias = false) {
  TestTensor a(type, {s.m, s.k}, gap);
  TestTensor b(type, {s.n, s.k}, gap * 2);
  TestTensor out(out_type, {s.m, s.n}, gap);
  a.fill_uniform(random, -1, 1);
  b.fill_uniform(random, -1, 1);
  TestTensor bias(type, {s.n});
  bias.fill_uniform(random, -4, 4);
  CHECK_EQ(with_bias ? call(__tvm_ffi_gemm, a, b, out, bias) : call(__tvm_ffi_gemm, a, b, out, nullptr), "");

  std::vector<double> rows_a(static_cast<size_t>(s.m * s.k)), rows_b(static_cast<size_t>(s.n * s.k));
  for (size_t i = 0; i < rows_a.size(); ++i) rows_a[i] = a.get(static_cast<int64_t>(i));
  for (size_t i = 0; i < rows_b.size(); ++i) rows_b[i] = b.get(static_cast<int64_t>(i));
  int64_t wrong = 0;
  for (int64_t m = 0; m < s.m; ++m) {
    for (int64_t n = 0; n < s.n; ++n) {
      double sum = with_bias ? bias.get(n) : 0;
      double magnitude = std::fabs(sum);
      for (int64_t k = 0; k < s.k; ++k) {
        const double product = rows_a[static_cast<size_t>(m * s.k + k)] * rows_b[static_cast<size_t>(n * s.k + k)];
        sum += product;
        magnitude += std::fabs(product);
      }
      const double given = out.get(m * s.n + n);
      if (!(std::fabs(given - sum) <= rounding_error(sum, out_type) + std::ldexp(magnitude, -20))) {
        if (++wrong == 1) std::fprintf(stderr, "  [%ld, %ld]: %.9g, wanted %.9g\n", long(m), long(n), given, sum);
      }
    }
  }
  const bool intact = out.surroundings_intact();
  if (wrong != 0 || !intact) {
    std::fprintf(stderr, "  m=%ld n=%ld k=%ld gap=%ld type=%d out=%d bias=%d\n", long(s.m), long(s.n), long(s.k),
                 long(gap), type.code, out_type.bits, with_bias);
  }
  CHECK_EQ(wrong, 0);
  CHECK(intact);
}

void product_is_right_for_chosen_shapes() {
  std::mt19937 random(1);
  // Every number of rows that has a tile of its own, both sides of the switch to packing, remainders in n and k.
  for (const int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 31, 33, 47, 48, 49, 64, 65, 257}) {
    if (kEmulated && m != 2 && m != 4 && m != 7 && m % 64 > 1) continue;
    for (const DLDataType type : {kBf16Type, kFp16Type}) {
      check_product({m, 50, 72}, type, type, 0, random);
      check_product({m, 7, 257}, type, type, 3, random);
    }
    check_product({m, 1, 1}, kBf16Type, kFp32Type, 0, random);
    check_product({m, 130, 31}, kFp16Type, kFp32Type, 5, random);
  }
  check_product({1, 257, 8190}, kBf16Type, kBf16Type, 0, random);
  check_product({8, 129, 8190}, kFp16Type, kFp16Type, 1, random);
  check_product({40, 33, 8190}, kBf16Type, kBf16Type, 0, random);
  // More than one pass over k in the few-rows form, the last column tile overlapping.
  check_product({8, 25, 12300}, kBf16Type, kBf16Type, 0, random);
  if (!kEmulated) check_product({48, 32, 5001}, kFp16Type, kFp16Type, 1, random);
  check_product({49, 32, 5001}, kBf16Type, kFp32Type, 1, random);
  check_product({1, 8190, 33}, kBf16Type, kBf16Type, 0, random);
  check_product({1300, 20, 40}, kBf16Type, kBf16Type, 2, random);
  check_product({260, 550, 300}, kBf16Type, kFp32Type, 0, random);
  // Rows of 16 bytes' multiples, with and without gaps of them, in every form of the product.
  for (const int64_t m : {1, 2, 3, 7, 9, 64, 129, 385}) {
    check_product({m, 261, 136}, kBf16Type, kBf16Type, m % 2 * 8, random);
    check_product({m, 70, 96}, kFp16Type, kFp32Type, 8, random, m % 2 == 0);
  }
}

void product_is_right_for_random_shapes() {
  std::mt19937 random(2);
  for (int i = 0; i < (kEmulated ? 20 : 60); ++i) {
    const auto draw = [&](int limit) {
      return int64_t{1} + static_cast<int64_t>(random() % static_cast<unsigned>(limit));
    };
    const Shape shape = {draw(i % 3 == 0 ? 300 : 20), draw(200), draw(600)};
    const DLDataType type = i % 2 != 0 ? kBf16Type : kFp16Type;
    check_product(shape, type, i % 5 == 0 ? kFp32Type : type, i % 4, random);
  }
}

void bias_is_added_before_rounding() {
  std::mt19937 random(4);
  for (const int64_t m : {1, 2, 3, 4, 7, 48, 49, 257}) {
    for (const DLDataType type : {kBf16Type, kFp16Type}) {
      check_product({m, 50, 72}, type, type, 3, random, true);
      check_product({m, 7, 257}, type, kFp32Type, 0, random, true);
    }
  }
  check_product({8, 25, 12300}, kBf16Type, kBf16Type, 0, random, true);
  check_product({260, 550, 300}, kFp16Type, kFp16Type, 0, random, true);
}

void empty_products_are_zeros_the_bias_or_nothing() {
  std::mt19937 random(3);
  for (const int64_t m : {1, 5, 70}) {
    check_product({m, 40, 0}, kBf16Type, kBf16Type, 0, random);
    check_product({m, 40, 0}, kBf16Type, kBf16Type, 0, random, true);
  }
  check_product({0, 5, 5}, kBf16Type, kBf16Type, 0, random);
  check_product({5, 0, 5}, kBf16Type, kBf16Type, 0, random);
}

void infinities_and_nans_come_through() {
  for (const int64_t m : {1, 64}) {
    TestTensor a(kBf16Type, {m, 40});
    TestTensor b(kBf16Type, {3, 40});
    TestTensor out(kBf16Type, {m, 3});
    for (int64_t i = 0; i < a.elements(); ++i) a.set(i, 1);
    for (int64_t i = 0; i < b.elements(); ++i) b.set(i, 1);
    b.set(39, std::numeric_limits<double>::infinity());
    b.set(40 + 20, std::numeric_limits<double>::quiet_NaN());
    CHECK_EQ(call(__tvm_ffi_gemm, a, b, out, nullptr), "");
    CHECK(std::isinf(out.get(0)));
    CHECK(std::isnan(out.get(1)));
    CHECK_EQ(out.get(2), 40.0);
  }
}

void wrong_arguments_are_named() {
  TestTensor a(kBf16Type, {4, 8}), b(kBf16Type, {5, 8}), out(kBf16Type, {4, 5});
  TestTensor fp16(kFp16Type, {5, 8}), narrow(kBf16Type, {5, 7}), flat(kBf16Type, {8}), small(kBf16Type, {4, 4});
  TestTensor bias(kBf16Type, {4}), fp16_bias(kFp16Type, {5}), strided(kBf16Type, {5, 1}, 1);
  CHECK(starts_with(call(__tvm_ffi_gemm, a, b), "TypeError: gemm: argument 3 (out)"));
  CHECK(starts_with(call(__tvm_ffi_gemm, a, b, out), "TypeError: gemm: argument 4 (bias)"));
  CHECK(starts_with(call(__tvm_ffi_gemm, a, b, out, nullptr, 1), "TypeError: gemm: 5 arguments"));
  CHECK(starts_with(call(__tvm_ffi_gemm, a, 1.0, out, nullptr), "TypeError: gemm: argument 2 (b)"));
  CHECK(starts_with(call(__tvm_ffi_gemm, a, b, out, 1), "TypeError: gemm: argument 4 (bias)"));
  CHECK(starts_with(call(__tvm_ffi_gemm, a, fp16, out, nullptr), "ValueError: gemm: b is"));
  CHECK(starts_with(call(__tvm_ffi_gemm, a, narrow, out, nullptr), "ValueError: gemm: b has shape"));
  CHECK(starts_with(call(__tvm_ffi_gemm, flat, b, out, nullptr), "ValueError: gemm: a has"));
  CHECK(starts_with(call(__tvm_ffi_gemm, a, b, small, nullptr), "ValueError: gemm: out has shape"));
  CHECK(starts_with(call(__tvm_ffi_gemm, a, b, b, nullptr), "ValueError: gemm: out"));
  CHECK(starts_with(call(__tvm_ffi_gemm, a, b, out, bias), "ValueError: gemm: bias has shape"));
  CHECK(starts_with(call(__tvm_ffi_gemm, a, b, out, strided), "ValueError: gemm: bias has"));
  CHECK(starts_with(call(__tvm_ffi_gemm, a, b, out, fp16_bias), "ValueError: gemm: bias is"));
}

}  // namespace
}  // namespace musabench

int main(int argc, char** argv) {
  using namespace musabench;
  const int variants = run_variants(argc, argv);
  if (variants >= 0) return variants;
  RUN_TEST(product_is_right_for_chosen_shapes);
  RUN_TEST(product_is_right_for_random_shapes);
  RUN_TEST(bias_is_added_before_rounding);
  RUN_TEST(empty_products_are_zeros_the_bias_or_nothing);
  RUN_TEST(infinities_and_nans_come_through);
  RUN_TEST(wrong_arguments_are_named);
  return test_status();
}
