// Batch sizes: stepwise growth, and the gradient noise scale estimated from gradients of known mean and covariance.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "algoperf/core/error.hpp"
#include "algoperf/core/random.hpp"
#include "algoperf/schedules/all.hpp"
#include "last_step.hpp"

namespace ap = algoperf;

namespace {

// Returns |mean of `batch` gradients|^2; a gradient has 50 independent normal coordinates of mean 0.1, deviation 0.5.
// So |G|^2 = 0.5, tr(Sigma) = 12.5, and the noise scale is 25.
double squared_norm(ap::RandomStream& random, int batch) {
  double sum = 0;
  for (int k = 0; k < 50; ++k) {
    double mean = 0;
    for (int i = 0; i < batch; ++i) mean += 0.1 + 0.5 * static_cast<double>(random.normal());
    mean /= batch;
    sum += mean * mean;
  }
  return sum;
}

}  // namespace

static_assert(ap::Schedule<ap::GrowingBatch>);
static_assert(ap::Schedule<ap::TwoScaleBatch>);
static_assert(ap::Schedule<ap::NoiseScaleBatch>);
static_assert(ap::Schedule<ap::NormTestBatch>);
static_assert(ap::Schedule<ap::InnerProductBatch>);

TEST_CASE("a growing batch, and the remaining factor for the learning rate") {
  const ap::GrowingBatch batch{.first = 100, .factor = 3, .every = 10, .most = 1000};
  const std::uint64_t sizes[] = {100, 300, 900, 1000, 1000};
  const double rates[] = {1, 1, 1, 1 / 2.7, 1 / 8.1};
  for (std::uint64_t i = 0; i < 50; ++i) {
    CHECK(batch(i) == sizes[i / 10]);
    CHECK(batch.rate_factor(i) == near(rates[i / 10], 1e-15));
  }
  CHECK(batch(last_step) == 1000);
  CHECK(batch.rate_factor(last_step) == 0);
  const ap::GrowingBatch slow{.first = 10, .factor = 1.25, .every = 1, .most = 20};
  const std::uint64_t rounded[] = {10, 13, 16, 20, 20};  // 10, 12.5, 15.625, 19.53, 24.4
  for (std::uint64_t i = 0; i < 5; ++i) CHECK(slow(i) == rounded[i]);
  CHECK(ap::GrowingBatch{.first = 64, .factor = 1}(last_step) == 64);
}

// Smith et al.: once the batch stops growing, the learning rate must fall.
TEST_CASE("a growing batch and a falling learning rate give the same noise") {
  const ap::GrowingBatch batch{.first = 8, .factor = 2, .every = 3, .most = 32};
  const ap::StepDecay rate{.from = 0.1, .factor = 0.5, .every = 3};
  for (std::uint64_t i = 0; i < 30; ++i)
    CHECK(0.1 * batch.rate_factor(i) / static_cast<double>(batch(i)) == near(rate(i) / 8, 1e-15));
}

TEST_CASE("integer powers give exact integer batches") {
  const ap::GrowingBatch batch{.first = 1, .factor = 5, .every = 1, .most = last_step};
  std::uint64_t size = 1;
  for (std::uint64_t i = 0; i < 22; ++i, size *= 5) CHECK(batch(i) == size);  // 5^22 < 2^53
}

TEST_CASE("the two-scale batch ends a stage where its rate term falls to its noise term") {
  const ap::TwoScaleBatch batch{.first = 4,
                                .factor = 1.5,
                                .most = 20,
                                .rate = 0.1,
                                .smoothness = 2,
                                .strong_convexity = 0.5,
                                .variance = 8,
                                .gap = 100};
  // Step by step: the bound of the stage's excess loss, and the noise term.
  std::uint64_t step = 0;
  double from = 100;
  for (std::uint64_t size = 4; size < 20; size = std::min<std::uint64_t>((3 * size + 1) / 2, 20)) {
    const double noise = 0.1 * 2 * 8 / (4 * 0.5 * static_cast<double>(size));
    double rate_term = from;
    std::uint64_t k = 0;
    do {
      CAPTURE(step);
      CHECK(batch(step++) == size);
      rate_term *= 1 - 2 * 0.1 * 0.5;
      ++k;
    } while (rate_term > noise);
    CHECK(k > (size == 4 ? 40u : 1u));
    from = rate_term + noise;
  }
  CHECK(batch(step) == 20);
  CHECK(batch(last_step) == 20);
  // At 2 rate l >= 1, a step removes the distance: one step per stage.
  const ap::TwoScaleBatch quick{
      .first = 1, .factor = 2, .most = 8, .rate = 1, .smoothness = 1, .strong_convexity = 1, .variance = 1, .gap = 1};
  for (std::uint64_t i = 0; i < 5; ++i) CHECK(quick(i) == std::min(std::uint64_t{1} << i, std::uint64_t{8}));
}

// Gao, Koppel & Ribeiro: the same error with fewer gradients than the last batch size from the start.
TEST_CASE("a two-scale batch reaches the error of a large batch with fewer gradients") {
  const ap::TwoScaleBatch batch{.first = 1,
                                .factor = 2,
                                .most = 256,
                                .rate = 0.05,
                                .smoothness = 1,
                                .strong_convexity = 1,
                                .variance = 1,
                                .gap = 50};
  // SGD on x^2 / 2 from 10, with the standard deviation 1 of an example's gradient: the mean squared distance.
  const auto train = [](const auto& size, std::uint64_t steps, double& examples) {
    double square = 100;
    examples = 0;
    for (std::uint64_t i = 0; i < steps; ++i) {
      const double n = static_cast<double>(size(i));
      square = 0.95 * 0.95 * square + 0.05 * 0.05 / n;
      examples += n;
    }
    return square;
  };
  double of_growing = 0, of_large = 0;
  const double growing = train(batch, 200, of_growing);
  const double large = train([](std::uint64_t) { return 256; }, 200, of_large);
  CHECK(batch(199) == 256);
  CHECK(growing < 1.5 * large);
  CHECK(of_growing < 0.6 * of_large);
}

TEST_CASE("the noise scale of exact norms is exact") {
  // E|g_b|^2 = |G|^2 + tr(Sigma) / b.
  ap::NoiseScale noise;
  for (int i = 0; i < 3; ++i) {
    noise.observe(8, 2 + 40.0 / 8, 64, 2 + 40.0 / 64);
    CHECK(noise.gradient_square() == near(2, 1e-13));
    CHECK(noise.trace() == near(40, 1e-13));
    CHECK(noise.value().value() == near(20, 1e-13));
  }
}

TEST_CASE("the noise scale of normal gradients is estimated without bias") {
  ap::RandomStream random(ap::RandomKey{7});
  ap::NoiseScale noise{.decay = 0.9995};
  double square = 0, trace = 0;
  constexpr int samples = 4000;
  for (int i = 0; i < samples; ++i) {
    // One batch of 4 against one of 16; their noise is independent.
    const double small = squared_norm(random, 4), big = squared_norm(random, 16);
    noise.observe(4, small, 16, big);
    ap::NoiseScale one{.decay = 0};
    one.observe(4, small, 16, big);
    square += one.gradient_square() / samples;
    trace += one.trace() / samples;
  }
  // The deviation of one |g_B|^2 estimate is 0.4, so that of the mean of 4000 is 0.006.
  CHECK(square == near(0.5, 0.04));
  CHECK(trace == near(12.5, 0.02));
  CHECK(noise.value().value() == near(25, 0.08));
}

TEST_CASE("a noise scale that is unknown, zero, or infinite") {
  ap::NoiseScaleBatch batch{.least = 16, .most = 1024, .share = 0.5};
  CHECK(!batch.noise.known());
  CHECK(!batch.noise.value());
  CHECK(batch(0) == 16);
  batch.noise = {.decay = 0};
  batch.noise.observe(1, 2, 2, 3);  // the smaller batch has the smaller norm: no noise
  CHECK(batch.noise.value() == 0);
  CHECK(batch(0) == 16);
  batch.noise.observe(1, 4, 2, 1);  // the estimate of |G|^2 is negative
  CHECK(std::isinf(batch.noise.value().value()));
  CHECK(batch(0) == 1024);
  batch.noise.observe(8, 2 + 1001.0 / 8, 64, 2 + 1001.0 / 64);  // 500.5: half of it is 250.25
  CHECK(batch(0) == 250);
  batch.noise.observe(8, 2 + 1e6 / 8, 64, 2 + 1e6 / 64);
  CHECK(batch(0) == 1024);
}

TEST_CASE("a noise scale refuses invalid observations and is saved completely in a checkpoint") {
  ap::NoiseScaleBatch batch, other;
  CHECK_THROWS_WITH_AS(batch.noise.observe(8, 1, 8, 1),
                       "NoiseScale: the batches are 8 and 8 examples, expected 0 < small < big", ap::Error);
  CHECK_THROWS_WITH_AS(batch.noise.observe(8, std::nan(""), 16, 1),
                       "NoiseScale: the squared norms are nan and 1, expected finite numbers", ap::Error);
  CHECK(!batch.noise.known());
  for (int i = 1; i < 5; ++i) batch.noise.observe(8, 2.0 * i, 64, 1);
  ap::testing::load(other, ap::testing::save(batch));
  CHECK(other.noise.value() == batch.noise.value());
  CHECK(other(0) == batch(0));
}

TEST_CASE("the norm test: the noise of the mean gradient is theta times its norm") {
  // Gradients over 4 and 16 examples with tr(Sigma) = 100 and |G|^2 = 1.
  const ap::GradientSquares found{4, 1 + 100.0 / 4, 16, 1 + 100.0 / 16};
  ap::NormTestBatch batch{.least = 8, .most = 1000, .theta = 0.5, .patience = 1};
  CHECK(batch(0) == 8);
  batch.observe(found);
  CHECK(batch(1) == 56);  // 100 / (0.25 7.25), rounded up
  batch.observe({4, 1 + 10.0 / 4, 16, 1 + 10.0 / 16});
  CHECK(batch(2) == 56);  // it only grows
  batch.observe({4, 100, 16, 0});
  CHECK(batch(3) == 1000);
}

TEST_CASE("the inner product and the orthogonality test, by hand") {
  // Three examples with gradients (3, 1), (1, 1) and (2, -2), whose mean is (2, 0): the inner products with it are 6, 2
  // and 4, and the squares of the parts across it 1, 1 and 4.
  ap::GradientSquares found{1, (10 + 2 + 8) / 3.0, 3, 4};
  found.spread = ap::GradientSpread{(4 + 4 + 0) / 2.0, (1 + 1 + 4) / 2.0};
  const auto after_one = [&](double theta, double nu) {
    ap::InnerProductBatch batch{.least = 2, .most = 99, .theta = theta, .nu = nu, .patience = 1};
    batch.observe(found);
    return batch(1);
  };
  CHECK(after_one(0.1, 100) == 25);   // 8 / ((3 - 1) 0.01 16)
  CHECK(after_one(10, 0.25) == 12);   // 6 / ((3 - 1) 0.0625 4)
  CHECK(after_one(0.1, 0.25) == 25);  // the larger of the two
  CHECK(after_one(0.01, 1) == 99);
  found.small = 4;  // means over 4 examples vary a quarter as much
  CHECK(after_one(0.2, 100) == 25);
  CHECK(after_one(10, 0.5) == 12);

  // Without the spread there is nothing to test.
  ap::InnerProductBatch batch{.patience = 1};
  batch.observe({1, 2, 3, 4});
  CHECK(batch(1) == 32);
}

TEST_CASE("a batch grows after as many tests as its patience, to the smallest candidate, and is saved") {
  ap::NormTestBatch batch{.least = 4, .most = 64, .theta = 1, .patience = 3}, other = batch;
  const auto observe = [](ap::NormTestBatch& to, double candidate) {  // tr(Sigma) = candidate, and |g|^2 = 1
    to.observe({1, 1 + candidate / 2, 2, 1});
  };
  observe(batch, 30);
  observe(batch, 10);
  CHECK(batch(2) == 4);
  observe(batch, 20);
  CHECK(batch(3) == 10);
  observe(batch, 40);
  observe(batch, 12);
  ap::testing::load(other, ap::testing::save(batch));
  for (ap::NormTestBatch* const each : {&batch, &other}) {
    CHECK((*each)(5) == 10);
    observe(*each, 30);
    CHECK((*each)(6) == 12);
    for (int i = 0; i < 2; ++i) observe(*each, 50);
    each->observe({1, 0.0, 2, 0.0});  // 0 / 0 is no candidate
    CHECK((*each)(9) == 12);
    observe(*each, 90);
    CHECK((*each)(10) == 50);
  }
}
