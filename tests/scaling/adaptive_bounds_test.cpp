#include "algoperf/scaling/bounds/adaptive_bounds.hpp"

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <cmath>
#include <vector>

#include "../support/near.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

// F(x) = sum of sqrt(1 + x_i^2), which is 1-smooth and not quadratic. Its gradients are below 1 in each coordinate, in
// which noise of -1/2 or 1/2 is added to them.
constexpr std::size_t bounded_dimensions = 20;
struct NoisyBowl {
  std::vector<double> x = std::vector<double>(bounded_dimensions);
  ap::RandomStream random;

  explicit NoisyBowl(std::uint64_t seed) : random(ap::RandomKey{seed}) {
    for (double& each : x) each = 3 * random.normal();
  }
  double gap() const {
    double sum = 0;
    for (const double each : x) sum += std::sqrt(1 + each * each) - 1;
    return sum;
  }
  double gradient(std::size_t i) const { return x[i] / std::sqrt(1 + x[i] * x[i]); }
  double square() const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += gradient(i) * gradient(i);
    return sum;
  }
  double noisy_gradient(std::size_t i) { return gradient(i) + (random.below(2) == 0 ? -0.5 : 0.5); }
};
ap::BoundedProblem problem_of(const NoisyBowl& bowl, double eps) {
  return {.gap = bowl.gap(),
          .smoothness = 1,
          .gradient_bound = 1.5,
          .dimensions = static_cast<double>(bounded_dimensions),
          .eps = eps};
}

// The mean of |grad F|^2 over the iterates x_0, ..., x_(N - 1) of Adagrad, by the library's rule.
double mean_square_of_adagrad(NoisyBowl bowl, double alpha, double eps, std::uint64_t steps) {
  const auto rule = ap::chain(ap::Adagrad{.eps = eps, .eps_at = ap::EpsAt::inside}, ap::Descend{});
  ap::Layout layout(1);
  layout.add({.name = "x", .kind = ap::Kind::weight, .shape = {bounded_dimensions}});
  auto state = rule.state(ap::Host<double>{}, layout);
  std::vector<double> gradient(bounded_dimensions);
  double sum = 0;
  for (std::uint64_t n = 1; n <= steps; ++n) {
    sum += bowl.square();
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = bowl.noisy_gradient(i);
    rule.step(gradient, bowl.x, state, {.t = n, .learning_rate = alpha});
  }
  return sum / static_cast<double>(steps);
}
double mean_square_of_adam(NoisyBowl bowl, double alpha, double beta2, double eps, std::uint64_t steps) {
  std::vector<double> v(bounded_dimensions, 0.0);
  double sum = 0, power = 1;
  for (std::uint64_t n = 1; n <= steps; ++n) {
    sum += bowl.square();
    power *= beta2;
    const double rate = alpha * std::sqrt((1 - power) / (1 - beta2));
    for (std::size_t i = 0; i < v.size(); ++i) {
      const double g = bowl.noisy_gradient(i);
      v[i] = beta2 * v[i] + g * g;
      bowl.x[i] -= rate * g / std::sqrt(eps + v[i]);
    }
  }
  return sum / static_cast<double>(steps);
}

}  // namespace

TEST_CASE("bounds of Adagrad and Adam hold for a noisy problem") {
  const double eps = 1e-6;
  for (const std::uint64_t seed : {1u, 2u, 3u})
    for (const std::uint64_t steps : {10u, 100u, 10000u}) {
      CAPTURE(steps);
      const NoisyBowl bowl(seed);
      const ap::BoundedProblem problem = problem_of(bowl, eps);
      for (const double alpha : {0.01, 0.1, 1.0}) {
        CHECK(mean_square_of_adagrad(bowl, alpha, eps, steps) <= ap::adagrad_bound(problem, alpha, steps));
        for (const double beta2 : {0.9, 0.999})
          CHECK(mean_square_of_adam(bowl, 0.1 * alpha, beta2, eps, steps) <=
                ap::adam_bound(problem, 0.1 * alpha, beta2, steps));
      }
    }
}

TEST_CASE("bounds of Adagrad and Adam, by hand, and how they fall") {
  // R is 0.25 + sqrt(0.0625) = 0.5.
  const ap::BoundedProblem one{.gap = 3, .smoothness = 2, .gradient_bound = 0.25, .dimensions = 4, .eps = 0.0625};
  // 2 0.5 3 / (0.5 2) = 3, and (4 4 0.25 + 0.5 4 0.5 2) ln(1 + 16) / 2 = 3 ln 17.
  CHECK(ap::adagrad_bound(one, 0.5, 4) == near(3 + 3 * std::log(17), 1e-12));
  // 2 0.5 3 / (0.5 4) = 1.5; E = 4 / 0.5 + 2 / 0.25 = 16; 16 (ln(1 + 16) / 4 - ln(0.75)).
  CHECK(ap::adam_bound(one, 0.5, 0.75, 4) == near(1.5 + 16 * (std::log(17) / 4 - std::log(0.75)), 1e-12));

  CHECK(ap::adagrad_bound(one, 0.5, 1000000) < 0.1 * ap::adagrad_bound(one, 0.5, 1000));
  CHECK(ap::adam_bound(one, 1e-3, 0.99, 1000000000) > 0.9 * ap::adam_bound(one, 1e-3, 0.99, 1000000));  // a floor
  const auto tuned = [&](double n) {
    return ap::adam_bound(one, 1 / std::sqrt(n), 1 - 1 / n, static_cast<std::uint64_t>(n));
  };
  CHECK(tuned(1e10) < 1e-3 * tuned(1e3));

  CHECK(sentence([&] { ap::adam_bound(one, 0.1, 1, 5); }) == "adam_bound: beta2 is 1, expected (0, 1)");
  CHECK(sentence([&] { ap::adagrad_bound(one, 0.1, 0); }) == "adagrad_bound: steps is 0, expected at least 1");
  CHECK(sentence([] { ap::adagrad_bound({.gap = 1}, 0.1, 5); }) ==
        "BoundedProblem: smoothness is 0, expected more than 0");
}
