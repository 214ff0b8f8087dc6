#include "algoperf/rules/stages/dgrad.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/rules/all.hpp"
#include "training.hpp"

namespace ap = algoperf;

namespace {

using Gradients = std::vector<std::vector<double>>;  // of each step

// Returns how far each parameter moves in the last of these steps, at learning rate 1.
template <class Rule>
std::vector<double> last_move(const Rule& rule, const std::vector<ap::Shape>& shapes, const Gradients& gradients) {
  const auto write = [&](std::uint64_t t, const std::vector<double>&, std::vector<double>& g) {
    g = gradients[static_cast<std::size_t>(t - 1)];
  };
  ap::testing::Training<Rule, ap::Host<double>> training(rule, ap::testing::layout_of(shapes), {}, write);
  for (std::size_t t = 1; t < gradients.size(); ++t) training.step(1);
  const std::vector<double> before = training.values();
  training.step(1);
  std::vector<double> move = training.values();
  for (std::size_t i = 0; i < move.size(); ++i) move[i] -= before[i];
  return move;
}

// The factor of the step of Adam with eps where DGrad has it.
std::vector<double> friction(const std::vector<ap::Shape>& shapes, const Gradients& gradients) {
  std::vector<double> factor = last_move(ap::dgrad(), shapes, gradients);
  const std::vector<double> of_adam = last_move(ap::adam({.eps_at = ap::EpsAt::uncorrected}), shapes, gradients);
  for (std::size_t i = 0; i < factor.size(); ++i) factor[i] /= of_adam[i];
  return factor;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

TEST_CASE("DGrad moves half as far as Adam while the gradient stays the same") {
  const std::vector<double> g{0.3, -1e-4, 7};
  for (std::size_t steps = 1; steps <= 5; ++steps)
    for (const double factor : friction({{3}}, Gradients(steps, g))) CHECK(factor == near(0.5, 1e-12));
}

TEST_CASE("DGrad moves further the further the gradient is from its mean, relative to the tensor's maximum") {
  const Gradients gradients{{1, 1, 1}, {1, 0, -3}};  // |g - mean| is 0, 1/2 and 2
  const std::vector<double> factors{0.5, sigmoid(1), sigmoid(4)};
  const std::vector<double> found = friction({{3}}, gradients);
  for (std::size_t i = 0; i < 3; ++i) CHECK(found[i] == near(factors[i], 1e-7));  // g = 0: eps counts

  Gradients large = gradients;
  for (std::vector<double>& g : large)
    for (double& x : g) x *= 1e6;
  const std::vector<double> of_large = friction({{3}}, large);
  for (std::size_t i = 0; i < 3; ++i) CHECK(of_large[i] == near(factors[i], 1e-7));
}

TEST_CASE("DGrad divides by the maximum of each tensor, also of those with many elements") {
  const std::size_t n = 20001;
  const std::vector<ap::Shape> shapes{{2}, {n}, {3, 5}};
  std::vector<double> first(2 + n + 15), second(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = 1 + ap::testing::start_value(i);
    second[i] = (i < 2 ? 1e-3 : i < 2 + n ? 1 : 50) * ap::testing::start_value(7 * i + 3) + first[i];
  }
  second[2 + n - 1] = 3 * second[2 + n - 1] + 2;  // the maximum lies in the last block
  const std::vector<double> found = friction(shapes, {first, second});

  std::size_t begin = 0;
  for (const std::size_t size : {std::size_t{2}, n, std::size_t{15}}) {
    const auto distance = [&](std::size_t i) { return std::abs(second[i] - (first[i] + second[i]) / 2); };
    double most = 0;
    for (std::size_t i = begin; i < begin + size; ++i) most = std::max(most, distance(i));
    for (std::size_t i = begin; i < begin + size; ++i) CHECK(found[i] == near(sigmoid(4 * distance(i) / most), 1e-6));
    begin += size;
  }
}
