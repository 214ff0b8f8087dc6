#include <doctest/doctest.h>

#include <algoperf/backend/products/linear_algebra.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "../../support/near.hpp"

namespace ap = algoperf;

namespace {

// The largest |X Y^T - E| for n x n matrices.
template <class S>
double distance(std::size_t n, const std::vector<S>& x, const std::vector<S>& y, const std::vector<double>& expected) {
  double most = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += static_cast<double>(x[i * n + k]) * static_cast<double>(y[j * n + k]);
      most = larger_or_nan(most, std::abs(sum - expected[i * n + j]));
    }
  return most;
}

std::vector<double> identity(std::size_t n) {
  std::vector<double> e(n * n);
  for (std::size_t i = 0; i < n; ++i) e[i * n + i] = 1;
  return e;
}

// A symmetric matrix whose elements have absolute values of at most 1.
template <class S>
std::vector<S> symmetric(std::size_t n) {
  std::vector<S> a(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) a[i * n + j] = static_cast<S>(std::cos(static_cast<double>(i * j + i + j)));
  return a;
}

}  // namespace

TEST_CASE_TEMPLATE("eigh decomposes symmetric matrices of every size", S, float, double) {
  const double eps = static_cast<double>(std::numeric_limits<S>::epsilon());
  for (const std::size_t n : {1u, 2u, 3u, 7u, 16u, 33u, 90u}) {
    CAPTURE(n);
    const std::vector<S> a = symmetric<S>(n);
    std::vector<S> values(n), vectors(n * n);
    REQUIRE(ap::LinearAlgebra<S>::eigh(n, a.data(), values.data(), vectors.data()));
    const double tolerance = 10 * static_cast<double>(n) * eps;
    CHECK(distance(n, vectors, vectors, identity(n)) < tolerance);
    std::vector<S> scaled = vectors;
    for (std::size_t i = 0; i < n * n; ++i) scaled[i] *= values[i % n];
    CHECK(distance(n, scaled, vectors, std::vector<double>(a.begin(), a.end())) < tolerance);
    for (std::size_t i = 1; i < n; ++i) CHECK(values[i - 1] <= values[i]);
  }
}

TEST_CASE("eigh returns false for a matrix that is not finite") {
  std::vector<float> a = symmetric<float>(4), values(4, 7.0f), vectors(16);
  a[13] = std::numeric_limits<float>::infinity();
  CHECK_FALSE(ap::LinearAlgebra<float>::eigh(4, a.data(), values.data(), vectors.data()));
  CHECK(values[0] == 7);
}

TEST_CASE_TEMPLATE("qr returns an orthogonal Q with Q^T A upper triangular", S, float, double) {
  const double eps = static_cast<double>(std::numeric_limits<S>::epsilon());
  for (const std::size_t n : {1u, 2u, 5u, 16u, 65u, 130u}) {
    CAPTURE(n);
    const std::vector<S> a = symmetric<S>(n);
    std::vector<S> q(n * n);
    ap::LinearAlgebra<S>::qr(n, a.data(), q.data());
    const double tolerance = 10 * static_cast<double>(n) * eps;
    CHECK(distance(n, q, q, identity(n)) < tolerance);
    double below = 0;
    for (std::size_t i = 1; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k)
          sum += static_cast<double>(q[k * n + i]) * static_cast<double>(a[k * n + j]);
        below = larger_or_nan(below, std::abs(sum));
      }
    CHECK(below < tolerance);
  }
}
