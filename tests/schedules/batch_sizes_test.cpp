// Batch sizes: stepwise growth, and the gradient noise scale estimated from gradients of known mean and covariance.
#include <doctest/doctest.h>

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
static_assert(ap::Schedule<ap::NoiseScaleBatch>);

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
