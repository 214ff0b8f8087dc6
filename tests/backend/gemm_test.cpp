#include "algoperf/backend/products/gemm.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/backend/host.hpp"
#include "algoperf/core/random.hpp"

namespace ap = algoperf;

namespace {

template <class S>
std::vector<S> random_values(std::size_t n, std::uint64_t key) {
  ap::RandomStream stream(ap::RandomKey{key});
  std::vector<S> values(n);
  for (S& v : values) v = static_cast<S>(stream.uniform() - 0.5f);
  return values;
}

enum class Product { nn, nt, tn };

// Between the rows of op(A), or the columns of op(B), and between the terms of a product.
struct Strides {
  std::size_t outer, terms;
};

// Returns op(A) op(B), in double.
template <class S>
std::vector<double> naive(Product product, std::size_t m, std::size_t n, std::size_t k, const std::vector<S>& a,
                          const std::vector<S>& b) {
  const Strides of_a = product == Product::tn ? Strides{1, m} : Strides{k, 1};
  const Strides of_b = product == Product::nt ? Strides{k, 1} : Strides{1, n};
  std::vector<double> result(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const S* const row = &a[i * of_a.outer];
      const S* const column = &b[j * of_b.outer];
      double sum = 0;
      for (std::size_t l = 0; l < k; ++l)
        sum += static_cast<double>(row[l * of_a.terms]) * static_cast<double>(column[l * of_b.terms]);
      result[i * n + j] = sum;
    }
  return result;
}

template <class S>
std::vector<S> by_host(const ap::Host<S>& host, Product product, std::size_t m, std::size_t n, std::size_t k,
                       const std::vector<S>& a, const std::vector<S>& b, std::vector<S> c, bool accumulate) {
  if (product == Product::nn) host.gemm_nn(m, n, k, a.data(), b.data(), c.data(), accumulate);
  if (product == Product::nt) host.gemm_nt(m, n, k, a.data(), b.data(), c.data(), accumulate);
  if (product == Product::tn) host.gemm_tn(m, n, k, a.data(), b.data(), c.data(), accumulate);
  return c;
}

struct Size {
  std::size_t m, n, k;
};
const Size sizes[] = {
    {1, 1, 1},
    {3, 5, 7},
    {17, 1, 33},
    {1, 19, 4},
    {64, 64, 64},
    // Terms in several parts.
    {40, 45, 1100},
    // One row, one column, one element of many terms.
    {1, 300, 70},
    {300, 1, 70},
    {1, 1, 2000},
    // Few rows.
    {2, 300, 70},
    {3, 200, 70},
    {3, 40, 30},
    {4, 200, 70},
    {5, 200, 70},
    {6, 200, 70},
    {7, 200, 70},
    {16, 200, 70},
    {19, 200, 70},
    // Few rows and a B of more than 4 MB, unlike its parts for several threads.
    {1, 2150, 550},
    {2, 2150, 550},
    {3, 2150, 550},
    // Products that may be dot products. With one row or column, columns of the whole B and of a thread's part are at
    // different distances; with two and five rows, the parts may be too small for far columns.
    {2150, 1, 550},
    {2, 4103, 530},
    {5, 4103, 530},
    {9, 33, 64},
    {33, 15, 100},
    {47, 60, 256},
    {7, 45, 300},
    {10, 45, 300},
    // Tiles of three vectors, before a panel that is not whole.
    {3, 61, 300},
    {4, 45, 300},
    // Without AVX-512: strips of five rows, one panel of B after the other; a last panel of one vector; rows of A that
    // are 1 KB apart.
    {20, 300, 300},
    {20, 293, 300},
    {20, 300, 256},
    {20, 200, 512},
    {20, 293, 256},
    // Without AVX-512: tiles that prefetch A or C.
    {140, 140, 256},
    {700, 200, 130},
    {25, 96, 256},
    // Packed A, and B in place with a last panel that is not whole.
    {5, 205, 256},
    {12, 60, 256},
    {130, 45, 90},
    // A B that fits in the first-level cache.
    {40, 45, 60},
    // Operands in place and packed, rows and columns far apart.
    {12, 96, 300},
    {520, 70, 9},
    {530, 40, 70},
    // Several blocks of columns.
    {9, 1100, 130},
    // Many rows by few columns, aligned to vectors or not.
    {150, 30, 300},
    // Rows of B that compete for lines of a cache.
    {40, 1024, 600},
    // Results that threads split along either side.
    {700, 130, 130},
    {130, 701, 130},
    {100, 130, 700},
    // Columns that fit in one vector, terms in parts; B in place, and with more than 512 rows, packed.
    {10, 10, 1100},
    {37, 16, 600},
    {37, 2, 1100},
    {600, 2, 600},
    {600, 5, 600},
    {600, 9, 600},
    // A layer of few units, rows and columns split in halves.
    {128, 10, 256},
    {128, 256, 200},
};

}  // namespace

TEST_CASE_TEMPLATE("products agree with three loops and do not depend on the number of threads", S, float, double) {
  const double tolerance = std::is_same_v<S, double> ? 1e-13 : 1e-5;
  for (const Size& size : sizes)
    for (const Product product : {Product::nn, Product::nt, Product::tn}) {
      const std::size_t m = size.m, n = size.n, k = size.k;
      CAPTURE(m);
      CAPTURE(n);
      CAPTURE(k);
      CAPTURE(static_cast<int>(product));
      const std::vector<S> a = random_values<S>(m * k, 1), b = random_values<S>(k * n, 2),
                           c = random_values<S>(m * n, 3);
      const std::vector<double> expected = naive(product, m, n, k, a, b);
      for (const bool accumulate : {false, true}) {
        CAPTURE(accumulate);
        const std::vector<S> found = by_host(ap::Host<S>{}, product, m, n, k, a, b, c, accumulate);
        double error = 0;
        for (std::size_t i = 0; i < m * n; ++i)
          error = larger_or_nan(error, std::abs(found[i] - (accumulate ? expected[i] + c[i] : expected[i])));
        CHECK(error < tolerance);
        for (const unsigned threads : {2u, 3u, 5u})
          CHECK(by_host(ap::Host<S>{threads}, product, m, n, k, a, b, c, accumulate) == found);
      }
    }
}

// Each kind of product adds the bias in code of its own.
TEST_CASE_TEMPLATE("products with a bias agree with products and do not depend on the number of threads", S, float,
                   double) {
  const double tolerance = std::is_same_v<S, double> ? 1e-13 : 1e-5;
  for (const Size& size : sizes) {
    const std::size_t m = size.m, n = size.n, k = size.k;
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    const std::vector<S> a = random_values<S>(m * k, 1), b = random_values<S>(k * n, 2), bias = random_values<S>(n, 3);
    const auto by = [&](unsigned threads, const S* row) {
      std::vector<S> c(m * n, std::numeric_limits<S>::quiet_NaN());
      ap::Host<S>{threads}.gemm_nt_bias(m, n, k, a.data(), b.data(), row, c.data());
      return c;
    };
    const std::vector<S> product = by_host(ap::Host<S>{}, Product::nt, m, n, k, a, b, std::vector<S>(m * n), false);
    const std::vector<S> found = by(1, bias.data());
    double error = 0;
    for (std::size_t i = 0; i < m * n; ++i)
      error = larger_or_nan(error, std::abs(static_cast<double>(found[i] - product[i] - bias[i % n])));
    CHECK(error < tolerance);
    CHECK(by(1, nullptr) == product);
    for (const unsigned threads : {2u, 3u, 5u}) CHECK(by(threads, bias.data()) == found);
  }
}

// An A of more than 4 MB is prefetched if its rows are not contiguous and B is read in place; without AVX-512, if the
// rows of B have at most 128 bytes. It is packed if its columns are 512 bytes apart (AVX-512: 1 KB). Sums of small
// integers are exact.
TEST_CASE_TEMPLATE("products with a large A", S, float, double) {
  for (const std::size_t n : {std::size_t{36}, 128 / sizeof(S), 128 / sizeof(S) - 1}) {
    const std::size_t m = 504 / sizeof(S), k = 8600;
    std::vector<S> a = random_values<S>(m * k, 1), b = random_values<S>(k * n, 2), c = random_values<S>(m * n, 3);
    for (std::vector<S>* values : {&a, &b, &c})
      for (S& x : *values) x = std::round(4 * x);
    std::vector<double> expected = naive(Product::tn, m, n, k, a, b);
    for (std::size_t i = 0; i < m * n; ++i) expected[i] += static_cast<double>(c[i]);
    const std::vector<S> found = by_host(ap::Host<S>{}, Product::tn, m, n, k, a, b, c, true);
    CHECK(std::vector<double>(found.begin(), found.end()) == expected);
  }
}

TEST_CASE_TEMPLATE("symmetric products: half computed, half copied, the same for any number of threads", S, float,
                   double) {
  for (const std::size_t n : {1u, 15u, 33u, 130u, 300u})
    for (const std::size_t k : {1u, 7u, 400u})
      for (const Product product : {Product::nt, Product::tn}) {
        CAPTURE(n);
        CAPTURE(k);
        CAPTURE(static_cast<int>(product));
        const std::vector<S> a = random_values<S>(n * k, 1);
        const auto by = [&](unsigned threads) {
          std::vector<S> c(n * n, S(42));
          const ap::Host<S> host{threads};
          if (product == Product::nt) ap::symmetric_nt(host, n, k, a.data(), a.data(), c.data());
          if (product == Product::tn) ap::symmetric_tn(host, n, k, a.data(), a.data(), c.data());
          return c;
        };
        const std::vector<double> expected = naive(product, n, n, k, a, a);
        const std::vector<S> found = by(1);
        double error = 0, skew = 0, largest = 0;  // the largest element is on the diagonal, a sum of k squares
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < n; ++j) {
            error = larger_or_nan(error, std::abs(found[i * n + j] - expected[i * n + j]));
            largest = std::max(largest, expected[i * n + j]);
            skew = larger_or_nan(skew, std::abs(static_cast<double>(found[i * n + j] - found[j * n + i])));
          }
        CHECK(error <= static_cast<double>(k) * std::numeric_limits<S>::epsilon() * largest);
        CHECK(skew == 0);
        for (const unsigned threads : {2u, 5u}) CHECK(by(threads) == found);
      }
}

TEST_CASE("symmetric products of two commuting matrices, and on a backend without symmetric products") {
  constexpr std::size_t n = 40;
  const ap::Host<double> host;
  const std::vector<double> root = random_values<double>(n * n, 1);
  std::vector<double> a(n * n), square(n * n), cube(n * n), fallback(n * n);
  ap::symmetric_nt(host, n, n, root.data(), root.data(), a.data());
  ap::symmetric_nt(host, n, n, a.data(), a.data(), square.data());
  ap::symmetric_nt(host, n, n, square.data(), a.data(), cube.data());
  const std::vector<double> expected = naive(Product::nn, n, n, n, square, a);
  struct Plain {
    void gemm_nt(std::size_t rows, std::size_t cols, std::size_t k, const double* x, const double* y, double* z) const {
      ap::Host<double>{}.gemm_nt(rows, cols, k, x, y, z);
    }
  };
  ap::symmetric_nt(Plain{}, n, n, square.data(), a.data(), fallback.data());
  double largest = 0;
  for (const double x : expected) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < n * n; ++i) {
    CHECK(std::abs(cube[i] - expected[i]) < 1e-13 * largest);
    CHECK(std::abs(fallback[i] - expected[i]) < 1e-13 * largest);
  }
}

TEST_CASE_TEMPLATE("products with an empty dimension", S, float, double) {
  const ap::Host<S> host{2};
  std::vector<S> a(6), c{1, 2, 3, 4, 5, 6};
  const std::vector<S> before = c;
  host.gemm_nn(0, 0, 3, a.data(), a.data(), c.data());
  host.gemm_nt(0, 3, 2, a.data(), a.data(), c.data());
  host.gemm_tn(3, 0, 2, a.data(), a.data(), c.data());
  host.gemm_nn(2, 3, 0, a.data(), a.data(), c.data(), true);
  host.symmetric_nt(0, 2, a.data(), a.data(), c.data());
  CHECK(c == before);
  host.gemm_nn(2, 3, 0, a.data(), a.data(), c.data());
  CHECK(c == std::vector<S>(6));
  host.gemm_nt_bias(2, 3, 0, a.data(), a.data(), before.data(), c.data());
  CHECK(c == std::vector<S>{1, 2, 3, 1, 2, 3});
}

namespace {
// Rows are `ld` apart, as in one head of attention. The elements between them stay as they were.
template <class S>
void check_parts(std::size_t m, std::size_t n, std::size_t ld, std::size_t k = 70) {
  CAPTURE(m);
  const std::size_t most = std::max({m, n, k});
  const std::vector<S> a = random_values<S>(m * ld, 1), b = random_values<S>(most * ld, 2),
                       c = random_values<S>(most * ld, 3);
  const auto compact = [ld](const std::vector<S>& from, std::size_t rows, std::size_t cols) {
    std::vector<S> to;
    for (std::size_t i = 0; i < rows; ++i)
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(i * ld),
                from.begin() + static_cast<std::ptrdiff_t>(i * ld + cols));
    return to;
  };
  for (const Product product : {Product::nn, Product::nt, Product::tn}) {
    CAPTURE(static_cast<int>(product));
    std::vector<S> found = c;
    std::vector<double> expected;
    if (product == Product::nn) {
      ap::gemm_nn(m, n, k, a.data(), ld, b.data(), ld, found.data(), ld, true);
      expected = naive(product, m, n, k, compact(a, m, k), compact(b, k, n));
    } else if (product == Product::nt) {
      ap::gemm_nt(m, n, k, a.data(), ld, b.data(), ld, found.data(), ld, true);
      expected = naive(product, m, n, k, compact(a, m, k), compact(b, n, k));
      std::vector<S> with_bias = c;  // the bias is the first row of c
      ap::gemm_nt_bias(m, n, k, a.data(), ld, b.data(), ld, c.data(), with_bias.data(), ld);
      double error = 0;
      for (std::size_t i = 0; i < c.size(); ++i) {
        const bool inside = i / ld < m && i % ld < n;
        error =
            larger_or_nan(error, std::abs(with_bias[i] - (inside ? expected[i / ld * n + i % ld] + c[i % ld] : c[i])));
      }
      CHECK(error < (std::is_same_v<S, double> ? 1e-13 : 1e-5));
    } else {
      ap::gemm_tn(k, n, m, a.data(), ld, b.data(), ld, found.data(), ld, false);
      expected = naive(product, k, n, m, compact(a, m, k), compact(b, m, n));
    }
    const std::size_t rows = product == Product::tn ? k : m;
    double error = 0;
    for (std::size_t i = 0; i < found.size() / ld; ++i)
      for (std::size_t j = 0; j < ld; ++j)
        if (i < rows && j < n)
          error = larger_or_nan(
              error, std::abs(found[i * ld + j] - expected[i * n + j] - (product == Product::tn ? 0 : c[i * ld + j])));
        else
          error = larger_or_nan(error, std::abs(static_cast<double>(found[i * ld + j] - c[i * ld + j])));
    CHECK(error < (std::is_same_v<S, double> ? 1e-13 : 1e-5));
  }
}
}  // namespace

TEST_CASE_TEMPLATE("products of parts of larger matrices", S, float, double) {
  check_parts<S>(50, 37, 512);
  check_parts<S>(5, 45, 512);       // B in place
  check_parts<S>(30, 45, 300);      // without AVX-512, B by panels
  check_parts<S>(70, 45, 300, 36);  // the same, and A packed
}

// The same where the columns of C fit in one vector, or C is computed as a transpose.
TEST_CASE_TEMPLATE("products of a few columns of larger matrices", S, float, double) {
  constexpr std::size_t m = 83, k = 70, ld = 512;
  const std::vector<S> a = random_values<S>(m * ld, 1), b = random_values<S>(k * ld, 2),
                       c = random_values<S>(m * ld, 3);
  for (const std::size_t n : {2u, 3u, 5u, 9u, 13u})
    for (const bool transposed : {false, true})
      for (const bool accumulate : {false, true}) {
        CAPTURE(n);
        CAPTURE(transposed);
        CAPTURE(accumulate);
        std::vector<S> found = c;
        if (transposed)
          ap::gemm_tn(m, n, k, a.data(), ld, b.data(), ld, found.data(), ld, accumulate);
        else
          ap::gemm_nn(m, n, k, a.data(), ld, b.data(), ld, found.data(), ld, accumulate);
        double error = 0;
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t j = 0; j < ld; ++j) {
            double expected = j < n && !accumulate ? 0 : static_cast<double>(c[i * ld + j]);
            for (std::size_t l = 0; l < k && j < n; ++l)
              expected +=
                  static_cast<double>(a[transposed ? l * ld + i : i * ld + l]) * static_cast<double>(b[l * ld + j]);
            error = larger_or_nan(error, std::abs(static_cast<double>(found[i * ld + j]) - expected));
          }
        CHECK(error < (std::is_same_v<S, double> ? 1e-13 : 1e-5));
      }
}

TEST_CASE("the leading dimension may exceed the number of columns, as in BLAS") {
  const std::vector<float> a{1, 2, -9, 3, 4, -9}, b{5, 6, -9, -9, 7, 8, -9, -9};
  std::vector<float> c{0, 0, 42, 0, 0, 42};
  ap::gemm_nn(2, 2, 2, a.data(), 3, b.data(), 4, c.data(), 3, false);
  CHECK(c == std::vector<float>{19, 22, 42, 43, 50, 42});
}
