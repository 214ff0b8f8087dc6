// Learning problems with known exponents, which fits must recover.
#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/core/random.hpp"
#include "algoperf/scaling/cost/isoflop.hpp"
#include "algoperf/scaling/fit/fit.hpp"
#include "algoperf/scaling/geometric.hpp"
#include "algoperf/scaling/laws/all.hpp"
#include "algoperf/scaling/noisy_quadratic/noisy_quadratic.hpp"
#include "curves.hpp"

namespace ap = algoperf;

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

double exponent(const std::vector<ap::Observation<1>>& curve) { return ap::fit(ap::PowerLaw{}, curve).parameters()[1]; }

// Minimum-norm interpolation of a linear teacher from P examples of inputs x_k = sqrt(k^-a) z_k. The teacher's
// weights satisfy lambda_k w_k^2 = k^-b (Bordelon et al. 2020; Spigler et al. 2020).
class Ridgeless {
 public:
  Ridgeless(double a, double b, std::size_t features) {
    for (std::size_t k = 1; k <= features; ++k) {
      lambda_.push_back(std::pow(static_cast<double>(k), -a));
      target_.push_back(std::pow(static_cast<double>(k), -b));
    }
  }

  double drawn(Eigen::Index examples, ap::RandomStream random) const {
    const auto m = static_cast<Eigen::Index>(lambda_.size());
    Matrix x(examples, m);
    Vector w(m), root(m);
    for (Eigen::Index k = 0; k < m; ++k) {
      const auto at = static_cast<std::size_t>(k);
      root[k] = std::sqrt(lambda_[at]);
      w[k] = std::sqrt(target_[at]) / root[k];
      for (Eigen::Index i = 0; i < examples; ++i) x(i, k) = root[k] * random.normal();
    }
    Matrix gram = Matrix::Zero(examples, examples);
    gram.selfadjointView<Eigen::Lower>().rankUpdate(x);
    const Vector dual = gram.selfadjointView<Eigen::Lower>().ldlt().solve(x * w);
    const Vector off = x.transpose() * dual - w;
    return off.cwiseProduct(root).squaredNorm();
  }
  // The expected error, in the limit of many features.
  double expected(double examples) const {
    double low = 0, high = 1;
    for (int i = 0; i < 70; ++i) {
      const double middle = 0.5 * (low + high);
      double sum = 0;
      for (const double each : lambda_) sum += each / (each + middle);
      (sum > examples ? low : high) = middle;
    }
    double variance = 0, error = 0;
    for (std::size_t k = 0; k < lambda_.size(); ++k) {
      const double kept = lambda_[k] / (lambda_[k] + high), lost = high / (lambda_[k] + high);
      variance += kept * kept / examples;
      error += target_[k] * lost * lost;
    }
    return error / (1 - variance);
  }

 private:
  std::vector<double> lambda_, target_;
};

// The error of nearest-neighbour prediction from P examples of f = sum_i sin 2 pi x_i on a torus of d dimensions.
double nearest_neighbour(std::size_t d, std::size_t examples, ap::RandomStream random) {
  const auto value = [d](const double* x) {
    double f = 0;
    for (std::size_t i = 0; i < d; ++i) f += std::sin(2 * std::numbers::pi * x[i]);
    return f;
  };
  std::vector<double> all(examples * d);
  for (double& x : all) x = random.uniform_double();
  constexpr int tests = 400;
  double error = 0;
  for (int t = 0; t < tests; ++t) {
    double at[4], nearest = HUGE_VAL;
    std::size_t best = 0;
    for (std::size_t i = 0; i < d; ++i) at[i] = random.uniform_double();
    for (std::size_t p = 0; p < examples; ++p) {
      double distance = 0;
      for (std::size_t i = 0; i < d; ++i) {
        const double apart = std::fabs(all[p * d + i] - at[i]), around = std::min(apart, 1 - apart);
        distance += around * around;
      }
      if (distance < nearest) nearest = distance, best = p;
    }
    error += std::pow(value(&all[best * d]) - value(at), 2) / tests;
  }
  return error;
}

// Interpolation with a Laplace kernel of a function drawn from the Gaussian process with that kernel, in [0, 1]^d.
double laplace_kernel(Eigen::Index d, Eigen::Index examples, ap::RandomStream random) {
  constexpr Eigen::Index tests = 300;
  const Eigen::Index all = examples + tests;
  Matrix x(d, all);
  for (Eigen::Index i = 0; i < all; ++i)
    for (Eigen::Index k = 0; k < d; ++k) x(k, i) = random.uniform_double();
  Matrix kernel(all, all);
  for (Eigen::Index i = 0; i < all; ++i)
    for (Eigen::Index j = 0; j < all; ++j) kernel(i, j) = std::exp(-(x.col(i) - x.col(j)).norm());
  Vector white(all);
  for (double& z : white) z = random.normal();
  const Vector teacher = Eigen::LLT<Matrix>(kernel).matrixL() * white;
  const Vector dual = kernel.topLeftCorner(examples, examples).llt().solve(teacher.head(examples));
  return (kernel.bottomLeftCorner(tests, examples) * dual - teacher.tail(tests)).squaredNorm() / tests;
}

// The mean of several draws at each of several sizes. Larger sizes have fewer draws, because they vary less and take
// longer.
template <class F>
std::vector<ap::Observation<1>> curve(double from, double to, std::size_t count, double draws_of_one, const F& error) {
  std::vector<ap::Observation<1>> all;
  const ap::RandomKey key{17};
  for (const double size : ap::geometric(from, to, count)) {
    const auto draws = static_cast<std::uint64_t>(std::lround(draws_of_one / size));
    double mean = 0;
    for (std::uint64_t draw = 0; draw < draws; ++draw)
      mean += error(static_cast<std::size_t>(size), ap::RandomStream(key.fold(all.size()).fold(draw))) /
              static_cast<double>(draws);
    all.push_back({{size}, mean});
  }
  return all;
}

// The excess risk of one-pass SGD on least squares after each of `steps`: lambda_j = j^-2, targets j^-1/4, of which
// the student sees the first `size`, learning rate 0.3, in expectation over Gaussian inputs (Paquette et al. 2024,
// diagonal).
std::vector<double> one_pass_risks(std::size_t size, const std::vector<std::size_t>& steps) {
  constexpr double rate = 0.3, features = 1e5;
  double tail = 0;
  for (double j = static_cast<double>(size) + 1; j <= features; ++j) tail += std::pow(j, -2.5);
  tail += std::pow(features, -1.5) / 1.5;
  std::vector<double> lambda(size), m(size), risks;
  for (std::size_t j = 0; j < size; ++j) {
    lambda[j] = std::pow(static_cast<double>(j + 1), -2);
    m[j] = std::pow(static_cast<double>(j + 1), -0.5);  // the square of the remaining error of the weight
  }
  double risk = tail;
  for (std::size_t j = 0; j < size; ++j) risk += lambda[j] * m[j];
  for (std::size_t step = 0; risks.size() < steps.size(); ++step) {
    if (step == steps[risks.size()]) risks.push_back(risk);
    double next = tail;
    for (std::size_t j = 0; j < size; ++j) {
      const double l = rate * lambda[j];
      m[j] += l * (rate * risk - 2 * (1 - l) * m[j]);
      next += lambda[j] * m[j];
    }
    risk = next;
  }
  return risks;
}

}  // namespace

TEST_CASE("T1, ridgeless regression on a power-law spectrum") {
  struct Row {
    double a, b, slope;
  };
  for (const Row row : {Row{1.5, 1.8, -0.8}, Row{1.5, 2.5, -1.5}, Row{1.2, 5.0, -2.4}}) {
    CAPTURE(row.b);
    const Ridgeless task(row.a, row.b, 1000);
    std::vector<ap::Observation<1>> theory;
    const auto measured = curve(64, 256, 3, 5120, [&](std::size_t examples, const ap::RandomStream& random) {
      return task.drawn(static_cast<Eigen::Index>(examples), random);
    });
    for (const auto& o : measured) {
      theory.push_back({o.x, task.expected(o.x[0])});
      CHECK(o.y == near(theory.back().y, 0.1));
    }
    CHECK(exponent(measured) == near(exponent(theory), 0.1));
    std::vector<ap::Observation<1>> large;
    const Ridgeless wide(row.a, row.b, 500000);
    for (const double examples : ap::geometric(64, 1024, 3)) large.push_back({{examples}, wide.expected(examples)});
    CHECK(exponent(large) == near(row.slope, 0.03));
  }
}

TEST_CASE("T3, the nearest neighbour on a torus") {
  for (const std::size_t d : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
    CAPTURE(d);
    const auto measured = curve(256, 8192, 6, 16384, [d](std::size_t examples, const ap::RandomStream& random) {
      return nearest_neighbour(d, examples, random);
    });
    CHECK(exponent(measured) == near(-2 / static_cast<double>(d), 0.08));
  }
}

TEST_CASE("T4, a Laplace kernel and a teacher with the same kernel") {
  const auto line = curve(64, 512, 4, 4096, [](std::size_t examples, const ap::RandomStream& random) {
    return laplace_kernel(1, static_cast<Eigen::Index>(examples), random);
  });
  CHECK(exponent(line) == near(-1, 0.05));
  const auto plane = curve(64, 512, 4, 4096, [](std::size_t examples, const ap::RandomStream& random) {
    return laplace_kernel(2, static_cast<Eigen::Index>(examples), random);
  });
  CHECK(exponent(plane) == near(-0.5, 0.08));
}

TEST_CASE("T5, one pass over power-law least squares: sizes, samples and compute") {
  std::vector<std::size_t> steps;
  for (const double d : ap::geometric(20, 3e5, 60)) steps.push_back(static_cast<std::size_t>(std::lround(d)));
  std::vector<double> sizes;
  for (const double n : ap::geometric(8, 256, 11)) sizes.push_back(std::round(n));
  std::vector<std::vector<double>> risks;
  for (const double n : sizes) risks.push_back(one_pass_risks(static_cast<std::size_t>(n), steps));

  std::vector<ap::Observation<1>> by_size, by_steps;
  for (std::size_t i = 0; i < sizes.size(); ++i) by_size.push_back({{sizes[i]}, risks[i].back()});
  CHECK(exponent(by_size) == near(-1.5, 0.06));
  for (std::size_t k = 20; k < 40; ++k) by_steps.push_back({{static_cast<double>(steps[k])}, risks.back()[k]});
  CHECK(exponent(by_steps) == near(-0.75, 0.04));

  // At each budget n d the best size is the vertex of a parabola, approach 2.
  std::vector<ap::Observation<1>> best_size, best_risk;
  for (const double budget : ap::geometric(1e4, 4e6, 8)) {
    std::vector<ap::IsoflopRun> runs;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double d = budget / sizes[i];
      const auto after = std::lower_bound(steps.begin(), steps.end(), d);
      if (after == steps.end() || after == steps.begin()) continue;
      const std::size_t k = static_cast<std::size_t>(after - steps.begin());
      const double share = std::log(d / static_cast<double>(steps[k - 1])) /
                           std::log(static_cast<double>(steps[k]) / static_cast<double>(steps[k - 1]));
      runs.push_back({sizes[i], (1 - share) * std::log(risks[i][k - 1]) + share * std::log(risks[i][k])});
    }
    const auto least =
        std::min_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.loss < b.loss; });
    const auto from = std::max(runs.begin(), least - 2), to = std::min(runs.end(), least + 3);
    best_size.push_back({{budget}, ap::isoflop_parabola({from, to})});
    best_risk.push_back({{budget}, std::exp(least->loss)});
  }
  CHECK(exponent(best_size) == near(1.0 / 3, 0.06));
  CHECK(exponent(best_risk) == near(-0.5, 0.04));

  for (auto& row : read_rows("plrf_diag_a1.0_b0.25.csv")) {  // computed elsewhere
    const double d = std::stod(row["D"]);
    if (d > 1000) continue;
    const double risk = one_pass_risks(std::stoul(row["N"]), {static_cast<std::size_t>(d)})[0];
    CHECK(risk == near(std::stod(row["excess_risk"]), 2e-3));
  }
}

TEST_CASE("T6, a noisy quadratic: the gain of a step against the batch") {
  constexpr std::size_t d = 50;
  const auto curvature = [](std::size_t i) { return 1 / static_cast<double>(i + 1); };
  std::vector<double> gradient(d);
  double along = 0, curved = 0, noise = 0, trace = 0;
  for (std::size_t i = 0; i < d; ++i) {  // at x = 1: the gradient is h, its noise of covariance H / batch
    gradient[i] = curvature(i);
    along += gradient[i] * gradient[i];
    curved += curvature(i) * gradient[i] * gradient[i];
    noise += curvature(i) * curvature(i);
    trace += curvature(i);
  }
  const double scale = noise / curved;  // B_noise = tr(H Sigma) / (G' H G), McCandlish et al. 2018
  // The gain of a step at its best rate, sampled: gain = (E g.G)^2 / (2 E g'Hg).
  std::vector<ap::Observation<1>> inverse;
  ap::RandomStream random(ap::RandomKey{3});
  for (const double batch : ap::geometric(1, 1024, 11)) {
    double toward = 0, bend = 0;
    constexpr int draws = 4000;
    for (int draw = 0; draw < draws; ++draw)
      for (std::size_t i = 0; i < d; ++i) {
        const double g = gradient[i] + std::sqrt(curvature(i) / batch) * random.normal();
        toward += g * gradient[i] / draws;
        bend += curvature(i) * g * g / draws;
      }
    inverse.push_back({{batch}, 2 * bend / (toward * toward)});
  }
  const auto fit = ap::fit(ap::CriticalBatch{}, inverse);  // 1 / gain = 1 / gain_max (1 + B_noise / B)
  CHECK(fit.parameters()[1] == near(scale, 0.03));
  CHECK(1 / fit.parameters()[0] == near(along * along / (2 * curved), 0.02));

  // tr(Sigma) / |G|^2 from the squares of gradients at two batches.
  double small = 0, large = 0;
  constexpr int draws = 20000;
  for (int draw = 0; draw < draws; ++draw)
    for (std::size_t i = 0; i < d; ++i) {
      const double z = random.normal(), y = random.normal();
      small += std::pow(gradient[i] + std::sqrt(curvature(i)) * z, 2) / draws;
      large += std::pow(gradient[i] + std::sqrt(curvature(i) / 64) * y, 2) / draws;
    }
  const double square = (64 * large - small) / 63, sigma = (small - large) / (1 - 1.0 / 64);
  CHECK(sigma / square == near(trace / along, 0.03));
}

TEST_CASE("T6, a noisy quadratic: where noise and contraction balance") {
  constexpr double rate = 0.3, batch = 8, noise = 2;  // sampled: x' = x - rate (h x + noise of variance c / B)
  ap::RandomStream random(ap::RandomKey{4});
  for (const double h : {1.0, 0.2}) {
    const ap::AffineMap<1> map = ap::NqmSgd{rate}.map({.curvature = h, .noise = noise / batch});
    const double expected = rate * noise / (batch * h * (2 - rate * h));
    CHECK(map.b[0] / (1 - map.a[0][0]) == near(expected, 1e-12));
    double x = 0, square = 0;
    constexpr int warmup = 1000, steps = 200000;
    for (int t = 0; t < warmup + steps; ++t) {
      x -= rate * (h * x + std::sqrt(noise / batch) * random.normal());
      if (t >= warmup) square += x * x / steps;
    }
    CHECK(square == near(expected, 0.06));
  }
}

TEST_CASE("T6, a noisy quadratic: steps to a tenth of the loss against the batch") {
  std::vector<ap::Observation<1>> small, large;
  double fewest_examples = HUGE_VAL, fewest_steps = HUGE_VAL;
  for (double batch = 1; batch <= 1 << 18; batch *= 2) {
    const ap::NoisyQuadratic task{.dimensions = 1000, .bins = 1000, .batch = batch};
    const double start = task.loss(ap::NqmSgd{}, 0);
    const double steps =
        task.fewest_steps(ap::NqmSgd{}, {.target = 0.1 * start}, {.rates = ap::geometric(1e-5, 2, 200)}).steps;
    fewest_steps = std::min(fewest_steps, steps), fewest_examples = std::min(fewest_examples, steps * batch);
    if (batch <= 16) small.push_back({{batch}, steps});
    if (batch >= 4096) large.push_back({{batch}, steps});
  }
  CHECK(exponent(small) == near(-0.91, 0.02));
  CHECK(std::abs(exponent(large)) < 0.01);
  CHECK(fewest_examples / fewest_steps == near(34.6, 0.05));
}
