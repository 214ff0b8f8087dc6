// Tests that inverse roots R = A^(-1 / p) satisfy R^p A = I for ill-conditioned A. A wrong power (-1/2 instead of -1/4)
// fails by orders of magnitude.
#include <doctest/doctest.h>

#include <Eigen/QR>
#include <cmath>
#include <map>

#include "../support/near.hpp"
#include "algoperf/backend/host.hpp"
#include "algoperf/backend/products/linear_algebra.hpp"
#include "algoperf/core/error.hpp"
#include "algoperf/core/random.hpp"
#include "algoperf/rules/matrix/eigen_root.hpp"
#include "algoperf/rules/matrix/newton_root.hpp"
#include "algoperf/rules/matrix/power_iteration.hpp"

namespace ap = algoperf;

namespace {

using Long = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Index = Eigen::Index;

// Returns a random orthogonal matrix, the same for each n.
const Long& orthogonal(Index n) {
  static std::map<Index, Long> known;
  const auto [place, is_new] = known.try_emplace(n);
  if (is_new) {
    ap::RandomStream random(ap::RandomKey{static_cast<std::uint64_t>(n)});
    Long g(n, n);
    for (Index i = 0; i < g.size(); ++i) g.data()[i] = random.normal();
    place->second = Eigen::HouseholderQR<Long>(g).householderQ();
  }
  return place->second;
}

// Returns Q diag(w) Q^T, with w from 1 down to 1 / condition, evenly spaced in the logarithm.
Long ill_conditioned(Index n, double condition) {
  const Long& q = orthogonal(n);
  Long scaled = q;
  for (Index j = 0; j < n; ++j)
    scaled.col(j) *= std::pow(static_cast<long double>(condition), -static_cast<long double>(j) / (n - 1));
  return scaled * q.transpose();
}

struct Errors {
  double residual;  // |R^p A - I|
  double relative;  // |R - A^(-1 / p)| / |A^(-1 / p)|; both Frobenius norms
};

template <class S>
using RowMajor = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Writes the root of `a`. Returns false if there is none.
template <class S, class Method>
bool root_of(const Method& method, const RowMajor<S>& a, double p, double ridge, RowMajor<S>& root) {
  const ap::Host<S> host;
  const auto n = static_cast<std::size_t>(a.rows());
  typename Method::template Scratch<ap::Host<S>> scratch(host, n);
  root = a;
  return method.prepare(host, n, a.data(), scratch) &&
         method.attempt(host, n, a.data(), p, ridge, root.data(), scratch);
}

// Returns the errors of the root of A, rounded to S, without a ridge.
template <class S, class Method>
Errors errors_of(const Method& method, Index n, double p, double condition) {
  const RowMajor<S> a = ill_conditioned(n, condition).cast<S>();
  RowMajor<S> root;
  REQUIRE(root_of(method, a, p, 0, root));
  const Long r = root.template cast<long double>();
  Long power = a.template cast<long double>();
  for (int i = 0; i < static_cast<int>(p); ++i) power = r * power;
  // A^(-1 / p) has the same Q, and eigenvalues from 1 up to condition^(1 / p), also evenly spaced in the logarithm.
  const Long expected = ill_conditioned(n, std::pow(condition, -1 / p));
  return {static_cast<double>((power - Long::Identity(n, n)).norm()),
          static_cast<double>((r - expected).norm() / expected.norm())};
}

}  // namespace

// Rounding A changes its smallest eigenvalue by a relative error of the condition times epsilon, 2e-8, and therefore
// the root by 2e-8 / p.
TEST_CASE("roots are accurate in double at condition 1e8") {
  for (const Index n : {3, 17, 64})
    for (const double p : {2.0, 4.0, 6.0, 8.0}) {
      CAPTURE(n);
      CAPTURE(p);
      const Errors eigen = errors_of<double>(ap::EigenRoot{}, n, p, 1e8);
      CHECK(eigen.residual < 5e-8);
      CHECK(eigen.relative < 5e-9 / p);
      const Errors newton = errors_of<double>(ap::NewtonRoot{}, n, p, 1e8);
      CHECK(newton.residual < 5e-6);
      CHECK(newton.relative < 1e-9);
    }
}

TEST_CASE("roots are accurate in float up to condition 1e6, which a ridge of 1e-6 ensures") {
  for (const double condition : {1e2, 1e4, 1e6})
    for (const double p : {2.0, 4.0, 6.0, 8.0}) {
      CAPTURE(condition);
      CAPTURE(p);
      const Errors eigen = errors_of<float>(ap::EigenRoot{}, 64, p, condition);
      CHECK(eigen.residual < 1e-7 * condition + 1e-4);
      CHECK(eigen.relative < 2e-9 * condition + 1e-6);
      CHECK(errors_of<float>(ap::NewtonRoot{}, 64, p, condition).relative < 1e-8 * condition + 1e-6);
    }
}

TEST_CASE_TEMPLATE("roots of matrices with known results", Method, ap::EigenRoot, ap::NewtonRoot) {
  RowMajor<double> root, a(3, 3), expected(3, 3);
  a << 1195, -944, -224, -944, 746, 177, -224, 177, 42;
  expected << 1, 1, 1, 1, 2, -3, 1, -3, 18;
  REQUIRE(root_of(Method{}, a, 2, 0, root));
  CHECK((root - expected).cwiseAbs().maxCoeff() < 1e-6);  // the condition number is 7e8

  RowMajor<double> one(1, 1);
  one << 16;
  REQUIRE(root_of(Method{}, one, 4, 0, root));
  CHECK(root(0, 0) == near(0.5, 1e-14));

  // A ridge is relative to the largest eigenvalue.
  const RowMajor<double> diagonal = Eigen::Vector2d(3, 0).asDiagonal();
  REQUIRE(root_of(Method{}, diagonal, 2, 1.0 / 3, root));
  CHECK(root(0, 0) == near(0.5, 1e-9));
  CHECK(root(1, 1) == near(1, 1e-9));
}

TEST_CASE("power iteration finds the largest eigenvalue") {
  const ap::Host<double> host;
  for (const Index n : {1, 2, 3, 20}) {
    CAPTURE(n);
    // 1 + n, for the vector of ones; all others are 1.
    const RowMajor<double> a = RowMajor<double>::Identity(n, n) + RowMajor<double>::Ones(n, n);
    ap::detail::PowerIteration<ap::Host<double>> largest(host, static_cast<std::size_t>(n));
    for (int again = 0; again < 2; ++again)
      CHECK(largest(host, static_cast<std::size_t>(n), a.data()) == near(1 + static_cast<double>(n), 1e-6));
  }
}

TEST_CASE("EigenRoot computes any power, NewtonRoot only integer powers") {
  const RowMajor<double> a = Eigen::Vector2d(1, 32).asDiagonal();
  RowMajor<double> root;
  REQUIRE(root_of(ap::EigenRoot{}, a, 2.5, 0, root));
  CHECK(root(1, 1) == near(0.25, 1e-14));
  for (const double p : {1.0, 3.0, 5.0, 7.0, 12.0}) {
    RowMajor<double> newton;
    REQUIRE(root_of(ap::EigenRoot{}, a, p, 0, root));
    REQUIRE(root_of(ap::NewtonRoot{}, a, p, 0, newton));
    CHECK((root - newton).cwiseAbs().maxCoeff() < 1e-11);
  }
  CHECK_THROWS_WITH_AS(ap::NewtonRoot{}.check(2.5),
                       "NewtonRoot: the root is 2.5, expected a whole number: use EigenRoot", ap::Error);
}

TEST_CASE_TEMPLATE("matrices without a root are detected", Method, ap::EigenRoot, ap::NewtonRoot) {
  RowMajor<double> root, a = RowMajor<double>::Zero(4, 4);
  CHECK_FALSE(root_of(Method{}, a, 4, 1e-6, root));
  a.diagonal() << 1, 1, 1, -0.01;
  CHECK_FALSE(root_of(Method{}, a, 4, 1e-6, root));
  CHECK(root_of(Method{}, a, 4, 0.1, root));
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    a = RowMajor<double>::Identity(4, 4);
    a(2, 1) = a(1, 2) = bad;
    CHECK_FALSE(root_of(Method{}, a, 4, 1e-6, root));
  }
}

TEST_CASE("eigh and qr decompose a matrix") {
  const ap::Host<float> host;
  const RowMajor<float> a = ill_conditioned(20, 100).cast<float>();
  RowMajor<float> vectors(20, 20), q(20, 20);
  Eigen::VectorXf values(20);
  REQUIRE(host.eigh(20, a.data(), values.data(), vectors.data()));
  CHECK((vectors * values.asDiagonal() * vectors.transpose() - a).norm() < 1e-6);
  CHECK(values[0] == near(0.01, 1e-4));
  CHECK(values[19] == near(1, 1e-6));

  host.qr(20, a.data(), q.data());
  CHECK((q * q.transpose() - RowMajor<float>::Identity(20, 20)).norm() < 1e-6);
  const RowMajor<float> r = q.transpose() * a;
  CHECK(r.triangularView<Eigen::StrictlyLower>().toDenseMatrix().norm() < 1e-6);
  // Q is orthogonal even if the matrix is zero.
  const RowMajor<float> zero = RowMajor<float>::Zero(20, 20);
  host.qr(20, zero.data(), q.data());
  CHECK((q * q.transpose() - RowMajor<float>::Identity(20, 20)).norm() < 1e-6);
}
