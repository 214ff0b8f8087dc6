#include "algoperf/scaling/cost/projection.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/core/random.hpp"
#include "algoperf/scaling/geometric.hpp"
#include "algoperf/scaling/laws/all.hpp"

namespace ap = algoperf;

static_assert(ap::Flops(6) * ap::Parameters(2) / ap::Parameters(3) == ap::Flops(4));
static_assert(ap::Bytes(8) / ap::BytesPerSecond(4) == ap::Seconds(2));
static_assert(ap::Seconds(3) + ap::Seconds(4) > ap::Seconds(6));
static_assert(ap::Samples(6) / ap::Samples(4) == 1.5);  // a quotient of equal units is a double
static_assert(2 * ap::Samples(3) * 2 / 4 == ap::Samples(3));

TEST_CASE("the size at which a law falls to an error") {
  const ap::Fit<ap::PowerLaw> line{{.theta = {std::log(13.0), -0.066}}};
  CHECK(ap::size_for(line, 2.48) == near(std::pow(2.48 / 13.0, 1 / -0.066), 1e-12));
  const ap::Fit<ap::PowerLawWithFloor> floor{{.theta = {std::log(0.2), std::log(3.0), 0.5}}};
  CHECK(ap::size_for(floor, 0.5) == near(100, 1e-12));
  CHECK_THROWS_WITH_AS(ap::size_for(floor, 0.1), doctest::Contains("does not fall to 0.1"), ap::Error);
  CHECK_THROWS_AS(ap::size_for(floor, -1), ap::Error);
  const ap::Fit<ap::PowerLaw> rising{{.theta = {0, 0.5}}};
  CHECK_THROWS_AS(ap::size_for(rising, 1), ap::Error);
}

TEST_CASE("requirements are recovered from sweeps") {
  std::vector<ap::Observation<2>> flops, bytes;
  std::vector<ap::Observation<1>> footprints;
  for (const double p : ap::geometric(1e6, 1e10, 5)) {
    footprints.push_back({{p}, 12 * p});
    for (const double b : ap::geometric(8, 512, 4)) {
      flops.push_back({{p, b}, 481 * p * b});
      bytes.push_back({{p, b}, 1755 * p + 30784 * b * std::sqrt(p)});
    }
  }
  const ap::Requirements r = ap::requirements_of(ap::fit(ap::StepFlops{}, flops), ap::fit(ap::StepBytes{}, bytes),
                                                 ap::fit(ap::StepFootprint{}, footprints));
  CHECK(r.gamma == near(481, 1e-9));
  CHECK(r.lambda == near(1755, 1e-7));
  CHECK(r.mu == near(30784, 1e-7));
  CHECK(r.delta == near(12, 1e-9));
}

TEST_CASE("the balanced batch is the smallest at which a larger one saves no time") {
  const ap::Accelerator a;
  const ap::Requirements r{481, 1755, 30784, 12};
  const ap::Parameters p(23.8e9);
  const ap::Samples b = a.balanced_batch(r, p);
  const auto each = [&](double factor) {
    const ap::Samples batch = factor * b;
    return a.time(r.flops(p, batch), r.bytes(p, batch)).value / batch.value;
  };
  CHECK(each(1) == near(each(2), 1e-12));
  CHECK(each(0.9) > 1.05 * each(1));
  CHECK(r.intensity(p, b).value == near(a.ridge().value, 1e-12));
  CHECK(std::isinf(
      a.balanced_batch(r, ap::Parameters(1e6)).value));  // few parameters: the activations dominate at any batch
}

TEST_CASE("a ring of fewer than one device is refused") {
  constexpr ap::Accelerator a;
  static_assert(a.all_reduce(ap::Bytes(56e9), 1).value == 0 && a.all_reduce(ap::Bytes(56e9), 2).value == 1);
  CHECK_THROWS_WITH_AS(a.all_reduce(ap::Bytes(1), 0), "Accelerator: all_reduce of 0 devices, expected 1 or more",
                       ap::Error);
}

TEST_CASE("products larger than the cache read their operands more than once") {
  const ap::Accelerator a;
  CHECK(a.product_bytes(100, 200, 300).value == 4 * (100 * 300 + 300 * 200 + 100 * 200));
  const double side = std::floor(std::sqrt(6e6 / 12));
  const double times = std::ceil(8192 / side);
  CHECK(a.product_bytes(8192, 8192, 8192).value == 4.0 * 8192 * 8192 * (2 * times + 1));
  ap::Accelerator large = a;
  large.cache = ap::Bytes(1e10);
  CHECK(large.product_bytes(8192, 8192, 8192).value == 4.0 * 3 * 8192 * 8192);
}

TEST_CASE("intervals of the fits propagate to every quantity") {
  const ap::Accelerator a;
  const ap::Requirements r{6, 24, 400, 16};
  std::vector<ap::Observation<1>> errors, sizes;
  ap::RandomStream random(ap::RandomKey{2});
  for (const double x : ap::geometric(1e4, 1e7, 10)) {
    errors.push_back({{x}, 20 * std::pow(x, -0.3) * std::exp(0.03 * random.normal())});
    sizes.push_back({{x}, 30 * std::pow(x, 0.7) * std::exp(0.1 * random.normal())});
  }
  const auto curve = ap::fit(ap::PowerLaw{}, errors), model = ap::fit(ap::PowerLaw{}, sizes);
  const ap::BootstrapOptions few{.count = 400, .resample = ap::Resample::residuals};
  const auto of_curve = ap::bootstrap(curve, errors, {}, few), of_model = ap::bootstrap(model, sizes, {}, few);
  const ap::ProjectionOptions options{.accelerators = 64, .batch = ap::Samples(256)};
  const double target = 0.05;
  const auto p = ap::project(target, curve, model, r, a, options);
  const auto interval = ap::project(target, of_curve, of_model, r, a, options);
  const auto holds = [&](auto member, double truth) {
    CHECK((interval.low.*member).value < (p.*member).value);
    CHECK((p.*member).value < (interval.high.*member).value);
    CHECK((interval.low.*member).value < truth);
    CHECK(truth < (interval.high.*member).value);
  };
  const double data = std::pow(target / 20, 1 / -0.3), parameters = 30 * std::pow(data, 0.7);
  holds(&ap::Projection::data, data);
  holds(&ap::Projection::parameters, parameters);
  holds(&ap::Projection::flops, 6 * parameters * data);
  holds(&ap::Projection::memory, 16 * parameters);
  // Each quantity depends on the previous ones, and is less certain.
  const auto width = [&](auto member) {
    return std::log((interval.high.*member).value / (interval.low.*member).value);
  };
  CHECK(width(&ap::Projection::flops) > width(&ap::Projection::data));
  CHECK(width(&ap::Projection::flops) > width(&ap::Projection::parameters));

  // Some replicates put the floor above the target, so the interval has no upper end.
  for (auto& o : errors) o.y += 1;
  const auto bounded = ap::fit(ap::PowerLawWithFloor{}, errors);
  const auto of_bounded = ap::bootstrap(bounded, errors, {}, few);
  const auto open = ap::project(1.001 * bounded.parameters()[0], of_bounded, of_model, r, a, options);
  CHECK(std::isinf(open.high.data.value));
  CHECK(std::isfinite(open.low.data.value));
  CHECK(std::isinf(open.high.flops.value));
}

TEST_CASE("invalid projections are refused") {
  const ap::Fit<ap::PowerLaw> curve{{.theta = {3, -0.3}}}, model{{.theta = {0, 0.7}}};
  const ap::Requirements r{6, 24, 400, 16};
  CHECK_THROWS_WITH_AS(ap::project(0.01, curve, model, {6, 24, 4e6, 16}, ap::Accelerator{}),
                       doctest::Contains("no batch keeps the accelerator busy"), ap::Error);
  CHECK_THROWS_AS(ap::project(0.01, curve, model, r, ap::Accelerator{.peak_reached = 1.5}), ap::Error);
  CHECK_THROWS_AS(ap::project(0.01, curve, model, r, ap::Accelerator{}, {.accelerators = 0}), ap::Error);
  CHECK_THROWS_AS(ap::project(std::numeric_limits<double>::quiet_NaN(), curve, model, r, ap::Accelerator{}), ap::Error);
}

TEST_CASE("a training run has at least one step") {
  const ap::Fit<ap::PowerLaw> curve{{.theta = {std::log(13.0), -0.25}}}, model{{.theta = {std::log(100.0), 0.7}}};
  const ap::Requirements requirements{481, 1755, 30784, 12};
  const auto p = ap::project(1.0, curve, model, requirements, {}, {.accelerators = 1e6, .batch = ap::Samples(128)});
  CHECK(p.data.value < 1e6 * 128);
  CHECK(p.time == p.step_time);
  CHECK(p.flops == 1e6 * p.step_flops);
  CHECK_THROWS_WITH_AS(ap::project(1.0, curve, model, {-1, 1755, 30784, 12}, {}),
                       doctest::Contains("Requirements: gamma, lambda, mu and delta are -1"), ap::Error);
}

TEST_CASE("geometric sequences between distant ends") {
  const std::vector<double> far = ap::geometric(1e-200, 1e200, 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(std::log10(far[i]) == doctest::Approx(-200.0 + 100.0 * double(i)));
  CHECK(far.front() == 1e-200);
  CHECK(far.back() == 1e200);
  CHECK(ap::geometric(7, 9, 1) == std::vector<double>{7});
  CHECK(ap::geometric(1e200, 1e-200, 3)[1] == doctest::Approx(1));
  CHECK(ap::geometric(1, 16, 5) == std::vector<double>{1, 2, 4, 8, 16});
}
