#include <doctest/doctest.h>

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "../golden/orthogonal_bfloat16.hpp"
#include "../support/near.hpp"
#include "algoperf/core/random.hpp"
#include "algoperf/rules/all.hpp"
#include "training.hpp"

namespace ap = algoperf;
using ap::testing::layout_of;
using ap::testing::start_value;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Index = Eigen::Index;

// Returns the update of one tensor, as a matrix of rows x the rest. The gradient is normal noise times `size`.
template <class S>
Matrix update_of(const ap::Shape& shape, ap::Orthogonalize options = {}, double size = 1, ap::Host<S> host = {}) {
  const auto rule = ap::chain(options, ap::Descend{});
  const ap::Layout layout = layout_of({shape});
  auto state = rule.state(host, layout);
  std::vector<S> gradients(layout.size()), values(layout.size());
  ap::RandomStream random(ap::RandomKey{7});
  for (std::size_t i = 0; i < shape.size(); ++i) gradients[i] = static_cast<S>(size * random.normal());
  rule.step(gradients, values, state, {.t = 1, .learning_rate = 1});
  Matrix update(static_cast<Index>(shape.rows()), static_cast<Index>(shape.cols()));
  for (std::size_t i = 0; i < shape.size(); ++i) update.data()[i] = -static_cast<double>(values[i]);
  return update;
}

Eigen::VectorXd singular_values(const Matrix& matrix) { return Eigen::JacobiSVD<Matrix>(matrix).singularValues(); }

const ap::Shape shapes[] = {{8, 8}, {4, 12}, {12, 4}, {16, 3, 3, 3}, {6, 5, 5}, {2, 40}, {40, 2}};

}  // namespace

TEST_CASE_TEMPLATE("five steps of Muon bring every singular value near 1, for wide and tall matrices and convolutions",
                   S, float, double) {
  for (const ap::Shape& shape : shapes) {
    const auto values = singular_values(update_of<S>(shape, {.scale = ap::OrthogonalScale::none}));
    CHECK(values.minCoeff() > 0.3);  // the smallest value of a square matrix converges last
    CHECK(values.maxCoeff() < 1.3);
    if (shape.rows() != shape.cols()) CHECK(values.minCoeff() > 0.65);
  }
}

TEST_CASE("convergent coefficients give the exact orthogonal factor") {
  // The classical iteration X' = 1.5 X - 0.5 X X^T X.
  static constexpr ap::NewtonSchulzStep classical[] = {{1.5, -0.5, 0}};
  const ap::Orthogonalize exact{.steps = 40, .coefficients = classical, .scale = ap::OrthogonalScale::none};
  for (const ap::Shape& shape : shapes) {
    const Matrix u = update_of<double>(shape, exact);
    Matrix g(u.rows(), u.cols());
    ap::RandomStream random(ap::RandomKey{7});
    for (Index i = 0; i < g.size(); ++i) g.data()[i] = random.normal();
    const Eigen::JacobiSVD<Matrix> svd(g, Eigen::ComputeThinU | Eigen::ComputeThinV);
    CHECK((u - svd.matrixU() * svd.matrixV().transpose()).cwiseAbs().maxCoeff() < 1e-12);
  }
}

TEST_CASE("every coefficient list brings singular values near 1, and polar_express converges to 1") {
  const auto spread = [](const ap::NewtonSchulzSteps& list, int steps) {
    double most = 0;
    for (const ap::Shape& shape : shapes) {
      if (shape.rows() == shape.cols()) continue;  // its smallest singular value has no lower bound
      const auto values = singular_values(
          update_of<double>(shape, {.steps = steps, .coefficients = list, .scale = ap::OrthogonalScale::none}));
      most = std::max({most, values.maxCoeff() - 1, 1 - values.minCoeff()});
    }
    return most;
  };
  CHECK(spread(ap::newton_schulz::simple, 5) < 0.32);
  CHECK(spread(ap::newton_schulz::quintic, 5) < 0.2);
  CHECK(spread(ap::newton_schulz::cans, 5) < 0.12);
  CHECK(spread(ap::newton_schulz::polar_express, 5) < 0.15);
  CHECK(spread(ap::newton_schulz::polar_express, 8) < 1e-3);
  CHECK(spread(ap::newton_schulz::polar_express, 12) < 1e-12);  // repeating its last step converges
}

TEST_CASE("the last steps of polar_express leave a singular value of 1 unchanged") {
  for (const std::size_t step : {5u, 6u, 7u}) {
    CAPTURE(step);
    const ap::NewtonSchulzStep& at = ap::newton_schulz::polar_express[step];
    CHECK(at.a + at.b + at.c == near(1, 5e-4));
  }
}

TEST_CASE("a coefficient list repeats its last step") {
  static constexpr ap::NewtonSchulzStep table[] = {{3, -3, 1}, {1.5, -0.5, 0}};
  constexpr ap::NewtonSchulzSteps list = table;
  static_assert(list.size() == 2 && list[0].a == 3 && list[1].b == -0.5 && list[9].a == 1.5);
  static_assert(!std::is_constructible_v<ap::NewtonSchulzSteps, ap::NewtonSchulzStep(&&)[2]>);
}

TEST_CASE("OrthogonalScale sets the scale of the result") {
  const ap::Shape tall{12, 3}, wide{3, 12};
  const auto ratio = [](const ap::Shape& shape, ap::OrthogonalScale scale) {
    return update_of<double>(shape, {.scale = scale})(0, 0) /
           update_of<double>(shape, {.scale = ap::OrthogonalScale::none})(0, 0);
  };
  CHECK(ratio(tall, ap::OrthogonalScale::original) == near(2));
  CHECK(ratio(wide, ap::OrthogonalScale::original) == near(1));
  CHECK(ratio(tall, ap::OrthogonalScale::match_rms) == near(0.2 * std::sqrt(12)));
  CHECK(ratio(wide, ap::OrthogonalScale::match_rms) == near(0.2 * std::sqrt(12)));
  CHECK(ratio(tall, ap::OrthogonalScale::unit_rms) == near(2));
  CHECK(ratio(wide, ap::OrthogonalScale::unit_rms) == near(0.5));
}

TEST_CASE("the update does not depend on the gradient's norm, and a zero gradient gives a zero update") {
  const Matrix u = update_of<double>({6, 4}), v = update_of<double>({6, 4}, {}, 1e-3);
  CHECK((u - v).cwiseAbs().maxCoeff() < 1e-12);
  CHECK(update_of<float>({6, 4}, {}, 0).cwiseAbs().maxCoeff() == 0);
}

TEST_CASE("matrices of different shapes in one region share scratch") {
  const auto rule = ap::muon();
  const auto values = [&](const std::vector<ap::Shape>& all) {
    ap::testing::Training<decltype(ap::muon()), ap::Host<double>> training(rule, layout_of(all));
    training.steps(3, 0.05);
    return training.values();
  };
  const auto together = values({{3, 8}, {8, 3}, {2, 2}}), first = values({{3, 8}});
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(together[i] == first[i]);
}

TEST_CASE("with bf16, the iteration is that of torch.optim.Muon, up to the rounding of sums") {
  for (const auto& golden : golden::orthogonal_bfloat16) {
    CAPTURE(golden.rows);
    const ap::Layout layout = layout_of({{golden.rows, golden.cols}});
    const auto rule = ap::chain(ap::Orthogonalize{.scale = ap::OrthogonalScale::none, .precision = ap::Precision::bf16},
                                ap::Descend{});
    auto state = rule.state(ap::Host<float>{}, layout);
    std::vector<float> gradients(layout.size()), values(layout.size());
    std::copy_n(golden.gradient, std::size(golden.gradient), gradients.begin());
    rule.step(gradients, values, state, {.t = 1, .learning_rate = 1});
    double worst = 0, most = 0;
    for (std::size_t i = 0; i < std::size(golden.orthogonal); ++i) {
      worst = larger_or_nan(worst, std::abs(-values[i] - golden.orthogonal[i]));
      most = std::max(most, std::abs(golden.orthogonal[i]));
    }
    CHECK(worst <= most / 128);  // the distance of two values of 8 bits
  }
}

TEST_CASE("bf16 changes little, also on processors without instructions for it, and nothing in double") {
  const ap::Orthogonalize exact{.scale = ap::OrthogonalScale::none};
  ap::Orthogonalize rounded = exact;
  rounded.precision = ap::Precision::bf16;
  for (const ap::Shape& shape : {ap::Shape{4, 12}, ap::Shape{12, 4}, ap::Shape{40, 64}, ap::Shape{64, 40}}) {
    const Matrix expected = update_of<float>(shape, exact), u = update_of<float>(shape, rounded);
    const double difference = (u - expected).norm() / expected.norm();
    CHECK(difference < 0.04);
    CHECK(difference > 1e-3);
    CHECK(update_of<float>(shape, exact, 1, {.precision = ap::Precision::bf16}) == u);
    CHECK(update_of<double>(shape, rounded) == update_of<double>(shape, exact));
  }
}

TEST_CASE("Muon in bf16: the option of the recipe, and several threads") {
  const auto train = [](const auto& rule, const ap::Host<float>& host) {
    const ap::Layout layout = layout_of({{40, 64}, {40, 64}, {40, 64}, {40, 64}, {40, 64}});
    auto state = rule.state(host, layout);
    std::vector<float> gradients(layout.size()), values(layout.size());
    ap::RandomStream random(ap::RandomKey{8});
    for (std::uint64_t t = 1; t <= 3; ++t) {
      for (float& g : gradients) g = static_cast<float>(random.normal());
      rule.step(gradients, values, state, {.t = t, .learning_rate = 0.1});
    }
    return values;
  };
  const auto in_bf16 = ap::muon({.precision = ap::Precision::bf16});
  const std::vector<float> expected = train(in_bf16, {});
  CHECK(expected != train(ap::muon(), {}));
  CHECK(train(in_bf16, {.threads = 2}) == expected);
  CHECK(train(ap::muon(), {.precision = ap::Precision::bf16}) == expected);
  CHECK(train(ap::muon(), {.threads = 2, .precision = ap::Precision::bf16}) == expected);
}
