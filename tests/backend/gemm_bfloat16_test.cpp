#include "algoperf/backend/products/gemm_bfloat16.hpp"

#include <doctest/doctest.h>

#include <algoperf/backend/host.hpp>
#include <algoperf/backend/host/describe.hpp>
#include <algoperf/core/half.hpp>
#include <algoperf/core/random.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../support/near.hpp"

namespace ap = algoperf;

namespace {
namespace of_bfloat16 {

using Values = std::vector<float>;

Values random_values(std::size_t n, std::uint64_t key) {
  Values values(n);
  ap::RandomStream random(ap::RandomKey{key});
  for (float& x : values) x = static_cast<float>(random.uniform_double() - 0.5);
  return values;
}
double rounded(float x) { return static_cast<float>(ap::bfloat16(x)); }

struct Size {
  std::size_t m, n, k;
};
constexpr Size sizes[] = {{1, 1, 1},    {1, 40, 7},     {12, 32, 64},   {13, 33, 65}, {5, 16, 2},
                          {100, 47, 9}, {31, 15, 1030}, {3, 1060, 520}, {7, 3, 0}};

// The largest |c - sum| / sum of |terms|, where the sum is of `factor(a) factor(b)` and, if add, of 0.5.
template <class Factor>
double worst_error(const Size& size, const Values& a, const Values& b, const Values& c, bool transposed_a,
                   bool transposed_b, bool add, const Factor& factor) {
  double worst = 0;
  for (std::size_t i = 0; i < size.m; ++i)
    for (std::size_t j = 0; j < size.n; ++j) {
      double sum = add ? 0.5 : 0, absolute = 1e-30 + sum;
      for (std::size_t l = 0; l < size.k; ++l) {
        const double term = factor(a[transposed_a ? l * size.m + i : i * size.k + l]) *
                            factor(b[transposed_b ? j * size.k + l : l * size.n + j]);
        sum += term;
        absolute += std::fabs(term);
      }
      worst = larger_or_nan(worst, std::fabs(c[i * size.n + j] - sum) / absolute);
    }
  return worst;
}

TEST_CASE("products in bf16 add the products of rounded factors in float") {
  constexpr ap::Precision bf16 = ap::Precision::bf16;
  for (const Size& size : sizes)
    for (const bool add : {false, true}) {
      const std::size_t m = size.m, n = size.n, k = size.k;
      CAPTURE(m);
      CAPTURE(n);
      CAPTURE(k);
      const Values a = random_values(m * k, 1), b = random_values(k * n, 2);
      const auto error = [&](const Values& c, bool transposed_a, bool transposed_b) {
        return ap::multiplies_bfloat16() ? worst_error(size, a, b, c, transposed_a, transposed_b, add, rounded)
                                         : worst_error(size, a, b, c, transposed_a, transposed_b, add,
                                                       [](float x) { return static_cast<double>(x); });
      };
      Values c(m * n, 0.5f);
      ap::gemm_nn(bf16, m, n, k, a.data(), k, b.data(), n, c.data(), n, add);
      CHECK(error(c, false, false) < 1e-6);
      c.assign(m * n, 0.5f);
      ap::gemm_nt(bf16, m, n, k, a.data(), k, b.data(), k, c.data(), n, add);
      CHECK(error(c, false, true) < 1e-6);
      c.assign(m * n, 0.5f);
      ap::gemm_tn(bf16, m, n, k, a.data(), m, b.data(), n, c.data(), n, add);
      CHECK(error(c, true, false) < 1e-6);
      const Values bias(n, 0.5f);
      ap::gemm_nt_bias(bf16, m, n, k, a.data(), k, b.data(), k, add ? bias.data() : nullptr, c.data(), n);
      CHECK(error(c, false, true) < 1e-6);
    }
}

TEST_CASE("bf16 rounds to nearest, ties to even, and keeps infinity and NaN") {
  if (!ap::multiplies_bfloat16()) return;
  constexpr ap::Precision bf16 = ap::Precision::bf16;
  const float infinity = std::numeric_limits<float>::infinity();
  const auto times_one = [&](float x) {
    const float one = 1;
    float c = 0;
    ap::gemm_nn(bf16, 1, 1, 1, &x, 1, &one, 1, &c, 1, false);
    return c;
  };
  for (const float x : {1 + 0x1p-8f, 1 + 0x1.8p-7f, 1 + 0x1.1p-8f, -(1 + 0x1p-8f), 3.1415927f, 1e30f, 1e-30f, 0.0f})
    CHECK(times_one(x) == rounded(x));
  CHECK(times_one(1 + 0x1p-8f) == 1);
  CHECK(times_one(1 + 0x1.8p-7f) == 1 + 0x1p-6f);
  CHECK(times_one(infinity) == infinity);
  CHECK(std::isnan(times_one(std::numeric_limits<float>::quiet_NaN())));

  const Values row = {1 + 0x1p-8f, 1 + 0x1.8p-7f, 3.1415927f}, ones = {1, 1, 1};  // whose terms are contiguous
  float sum = 0;
  ap::gemm_nt(bf16, 1, 1, 3, row.data(), 3, ones.data(), 3, &sum, 1, false);
  CHECK(sum == rounded(row[0]) + rounded(row[1]) + rounded(row[2]));
}

// Elements outside of the matrices are NaN, and rows and columns are far apart.
TEST_CASE("a product in bf16 neither reads nor writes beside its matrices, and does not depend on their size") {
  if (!ap::multiplies_bfloat16()) return;
  const std::size_t m = 29, n = 45, k = 515, step = 600;
  const auto matrix = [&](std::size_t rows, std::size_t columns, std::uint64_t key) {
    const Values values = random_values(rows * columns, key);
    Values in_memory((rows + 40) * step, std::nanf(""));
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) in_memory[i * step + j] = values[i * columns + j];
    return in_memory;
  };
  for (const bool transposed : {false, true}) {
    const Values a = transposed ? matrix(k, m, 3) : matrix(m, k, 3), b = transposed ? matrix(n, k, 4) : matrix(k, n, 4);
    const std::size_t a_row = transposed ? 1 : step, a_column = transposed ? step : 1;
    const std::size_t b_row = transposed ? 1 : step, b_column = transposed ? step : 1;
    Values whole((m + 1) * step, -1), parts = whole;
    ap::gemm_bfloat16(m, n, k, a.data(), a_row, a_column, b.data(), b_row, b_column, whole.data(), step, false);
    for (std::size_t i = 0; i < m; i += 5)
      for (std::size_t j = 0; j < n; j += 17)
        ap::gemm_bfloat16(m - i < 5 ? m - i : 5, n - j < 17 ? n - j : 17, k, a.data() + i * a_row, a_row, a_column,
                          b.data() + j * b_column, b_row, b_column, parts.data() + i * step + j, step, false);
    CHECK(whole == parts);
    std::size_t outside = 0;
    for (std::size_t i = 0; i <= m; ++i)
      for (std::size_t j = 0; j < step; ++j)
        if (i == m || j >= n)
          outside += whole[i * step + j] == -1;
        else
          REQUIRE(whole[i * step + j] == whole[i * step + j]);
    CHECK(outside == (m + 1) * step - m * n);
  }
}

TEST_CASE("threads change no bit of a product in bf16") {
  const std::size_t m = 200, n = 330, k = 700;
  const Values a = random_values(m * k, 5), b = random_values(k * n, 6), square = random_values(n * k, 7);
  const auto results = [&](unsigned threads) {
    const ap::Host<float> host{.threads = threads, .precision = ap::Precision::bf16};
    Values c(m * n), of_nt(m * n), of_tn(m * n), symmetric(n * n);
    host.gemm_nn(m, n, k, a.data(), b.data(), c.data());
    host.gemm_nt(m, n, k, a.data(), b.data(), of_nt.data());
    host.gemm_tn(m, n, k, a.data(), b.data(), of_tn.data());
    host.symmetric_nt(n, k, square.data(), square.data(), symmetric.data());
    for (const Values& more : {of_nt, of_tn, symmetric}) c.insert(c.end(), more.begin(), more.end());
    return c;
  };
  CHECK(results(1) == results(3));
}

TEST_CASE("symmetric products in bf16 are those of gemm_nt and gemm_tn") {
  if (!ap::multiplies_bfloat16()) return;
  const ap::Host<float> host{.precision = ap::Precision::bf16};
  const std::size_t n = 70, k = 41;
  const Values a = random_values(n * k, 8);
  Values of_nt(n * n), of_tn(n * n), all(n * n);
  host.symmetric_nt(n, k, a.data(), a.data(), of_nt.data());
  host.gemm_nt(n, n, k, a.data(), a.data(), all.data());
  CHECK(of_nt == all);
  host.symmetric_tn(n, k, a.data(), a.data(), of_tn.data());
  host.gemm_tn(n, n, k, a.data(), a.data(), all.data());
  CHECK(of_tn == all);
}

TEST_CASE("Host rounds factors to bf16 only if asked to, in float, and in large products") {
  const std::size_t n = 32;
  const Values a = random_values(n * n, 9), b = random_values(n * n, 10);
  const auto product = [&](std::size_t rows, std::size_t columns, ap::Precision precision) {
    Values c(rows * columns);
    ap::Host<float>{.precision = precision}.gemm_nn(rows, columns, n, a.data(), b.data(), c.data());
    return c;
  };
  const Values exact = product(n, n, ap::Precision::fp32);
  CHECK(worst_error({n, n, n}, a, b, exact, false, false, false, [](float x) { return static_cast<double>(x); }) <
        1e-6);
  CHECK(product(n, n, ap::Precision::tf32) == exact);
  CHECK((product(n, n, ap::Precision::bf16) == exact) == !ap::multiplies_bfloat16());
  CHECK(product(n - 1, n, ap::Precision::bf16) == product(n - 1, n, ap::Precision::fp32));
  CHECK(product(n, n - 1, ap::Precision::bf16) == product(n, n - 1, ap::Precision::fp32));
  CHECK(ap::Host<float>{.precision = ap::Precision::bf16}.products_depend_on_size() >= ap::multiplies_bfloat16());

  const std::vector<double> ones(n * n, 1), fine(n * n, 1 + 0x1p-40);
  std::vector<double> sums(n * n);
  ap::Host<double>{.precision = ap::Precision::bf16}.gemm_nn(n, n, n, fine.data(), ones.data(), sums.data());
  CHECK(sums == std::vector<double>(n * n, 32 * (1 + 0x1p-40)));
}

TEST_CASE("describe says how products in bf16 are computed") {
  const std::string text = ap::describe(ap::Host<float>{.precision = ap::Precision::bf16});
  CHECK(text.ends_with(ap::multiplies_bfloat16()
                           ? "\n  precision of products: bfloat16, by AVX512_BF16\n"
                           : "\n  precision of products: fp32 (bfloat16 needs AVX512_BF16: compile with -march=native "
                             "or link algoperf::gemm)\n"));
  CHECK(ap::describe(ap::Host<double>{.precision = ap::Precision::bf16}).find("precision") == std::string::npos);
}

}  // namespace of_bfloat16
}  // namespace
