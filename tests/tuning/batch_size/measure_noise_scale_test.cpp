#include "algoperf/tuning/batch_size/measure_noise_scale.hpp"

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <cmath>
#include <vector>

#include "../../support/near.hpp"
#include "../../support/sentence.hpp"

namespace ap = algoperf;

namespace {

// y = 2 - u + noise for a normal u, by a linear model with squared errors.
struct NoisyLine {
  static constexpr const char* name = "noisy_line";
  double target_error = 0;
  std::vector<float> u, y;

  NoisyLine() {
    ap::RandomStream random(ap::RandomKey{5});
    for (int i = 0; i < 4096; ++i) {
      const double x = random.normal();
      u.push_back(static_cast<float>(x));
      y.push_back(static_cast<float>(2 - x + 0.5 * random.normal()));
    }
  }
  static constexpr auto model() { return ap::Model(ap::Shape{1}, ap::Dense{.units = 1}); }
  static constexpr auto loss() { return ap::MeanSquaredError{}; }
  static constexpr auto metric() { return ap::MeanSquaredError{}; }
  auto train() const { return ap::InMemoryRegression(u, y, ap::Shape{1}); }
  auto validation() const { return train(); }
  ap::Target target() const { return {target_error, true}; }
  std::uint64_t step_hint() const { return 100; }
};

struct FixedRate {
  auto rule(const ap::HyperPoint&, const ap::WorkloadFacts&) const { return ap::sgd(); }
  auto schedule(const ap::HyperPoint& point, const ap::WorkloadFacts&) const {
    return ap::Constant{point["learning_rate"]};
  }
};

}  // namespace

TEST_CASE("the measured noise scale is that of the examples' gradients") {
  const NoisyLine line;
  // The gradients 2 r (u, 1) of all examples, with residuals r at the initial parameters.
  ap::TrainingLoop loop(line.model(), line.loss(), ap::sgd(), ap::Constant{0.1}, ap::ShuffledEpochs{}, ap::Seed{7});
  double at[2] = {0, 0};  // weight and bias
  for (const ap::TensorSpec& tensor : loop.layout())
    at[tensor.kind == ap::Kind::bias] = static_cast<double>(loop.values(tensor.name)[0]);
  const auto [w, b] = at;
  double mean[2] = {0, 0}, square = 0;
  const double n = static_cast<double>(line.u.size());
  for (std::size_t i = 0; i < line.u.size(); ++i) {
    const double u = static_cast<double>(line.u[i]), r = w * u + b - static_cast<double>(line.y[i]);
    mean[0] += 2 * r * u / n, mean[1] += 2 * r / n;
    square += 4 * r * r * (u * u + 1) / n;
  }
  const double gradient = mean[0] * mean[0] + mean[1] * mean[1];

  // At a learning rate at which the parameters do not move.
  const auto still = ap::measure_noise_scale(line, FixedRate{}, {{"learning_rate", 1e-30}},
                                             {.batch = 64, .workers = 8, .steps = 4000, .samples = 4, .seed = 7});
  REQUIRE(still.size() == 4);
  double mean_gradient = 0, mean_trace = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(still[i].step == 1000 * (i + 1));
    CHECK(still[i].scale() == still[i].trace / still[i].gradient_square);
    mean_gradient += still[i].gradient_square / 4, mean_trace += still[i].trace / 4;
  }
  CHECK(mean_gradient == near(gradient, 0.02));
  CHECK(mean_trace == near(square - gradient, 0.02));

  // The gradient vanishes at the optimum, and its noise does not.
  const auto moving = ap::measure_noise_scale(line, FixedRate{}, {{"learning_rate", 0.05}},
                                              {.batch = 64, .workers = 8, .steps = 400, .samples = 4, .seed = 7});
  CHECK(moving[3].gradient_square < 0.01 * moving[0].gradient_square);
  CHECK(moving[3].trace > 0.1);
}

TEST_CASE("the measurement of noise ends at the target, and refuses bad options") {
  NoisyLine line;
  line.target_error = 0.3;  // half of the variance of the noise is 0.125
  const auto found = ap::measure_noise_scale(line, FixedRate{}, {{"learning_rate", 0.05}},
                                             {.batch = 64, .workers = 2, .steps = 1000, .samples = 100});
  CHECK(found.size() < 20);
  CHECK(found.back().step == 10 * found.size());
  const auto refused = [&](const ap::NoiseScaleOptions& options) {
    return sentence([&] { (void)ap::measure_noise_scale(line, FixedRate{}, {{"learning_rate", 0.05}}, options); });
  };
  CHECK(refused({.batch = 4, .workers = 8, .steps = 100}) ==
        "measure_noise_scale: the batch is 4 examples over 8 workers, expected at least 2 workers and an example for "
        "each");
  CHECK(refused({.batch = 4, .workers = 2, .steps = 10}) ==
        "measure_noise_scale: there are 10 steps for 20 samples, expected at least one sample and a step for each");
}

TEST_CASE("the mean noise scale is that of the steps, and refuses noise without a gradient") {
  // As many steps at N = 100 as at N = 300, with batches of 100: the mean N gives the same number of steps.
  const std::vector<ap::NoiseSample> samples{{10, 2, 200}, {20, 4, 1200}};
  double steps = 0, progress = 0;
  for (const ap::NoiseSample& sample : samples) {
    const double of_step = 1 / (1 + sample.scale() / 100);
    steps += 1, progress += of_step;
  }
  const double found = ap::mean_noise_scale(samples, 100);
  CHECK(progress * (1 + found / 100) == near(steps, 1e-14));
  CHECK(ap::mean_noise_scale({{1, 2, 200}, {2, 2, 200}}, 7) == near(100, 1e-14));
  CHECK(sentence([] { (void)ap::mean_noise_scale({}, 8); }) ==
        "mean_noise_scale: there are 0 samples of batches of 8 examples, expected at least 1 and more than 0");
  CHECK(sentence([] {
          (void)ap::mean_noise_scale({{1, -1, 200}}, 8);
        }) == "mean_noise_scale: noise hides the gradient in 1 samples; measure more steps or larger batches");
}
