// Phantoms: the images, k-space, the U-Net against torch (tests/golden/make_unet.py), and the workload.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/tuning/submission.hpp>
#include <algoperf/workloads/phantoms.hpp>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "../golden/unet.hpp"
#include "../support/check_error.hpp"
#include "../support/reproducible.hpp"

namespace of_phantoms {
namespace {

using namespace algoperf;

// AlgoPerf's fastmri and its variants.
constexpr UNet<> large{.channels = 32, .pools = 4, .in = {320, 320, 1}};
static_assert(parameters_of(large) == 7756097);
static_assert(parameters_of(UNet<>{.channels = 64, .pools = 3, .in = {320, 320, 1}}) == 7692929);
// A scale and a bias per channel of two norms per block: 4 (2 (32 + 64 + 128 + 256) + 512).
static_assert(parameters_of(UNet<>{.channels = 32, .pools = 4, .layer_norm = true, .in = {320, 320, 1}}) ==
              7756097 + 5888);
static_assert(parameters_of(PhantomUNet::model()) == 29137);

constexpr UNet<> tiny{.channels = 1, .in = {8, 12, 1}};
using Images = InMemoryFields<Field<"input", double>, Field<"label", double>>;
Images golden_images() {
  std::vector<double> inputs, labels;
  for (int i = 0; i < 2 * 96; ++i) {
    inputs.push_back(std::sin(0.1 + 0.37 * i));
    labels.push_back(std::cos(0.2 + 0.23 * i));
  }
  return Images({inputs, {8, 12, 1}}, {labels, {8, 12, 1}});
}

TEST_CASE("u-net: the loss, gradients, steps of AdamW and outputs are torch's, also of the variants") {
  const Images data = golden_images();
  const MeanAbsoluteError loss;
  golden::check(tiny, loss, data, golden::unet);
  UNet<> layer_norm = tiny;
  layer_norm.layer_norm = true;
  golden::check(layer_norm, loss, data, golden::unet_layer_norm);
  golden::check(UNet<Tanh>{.channels = 1, .in = {8, 12, 1}}, loss, data, golden::unet_tanh);
}

TEST_CASE("u-net: gradients agree with differences") {
  for (const bool layer_norm : {false, true}) {
    const UNet<> model{.channels = 2, .layer_norm = layer_norm, .in = {4, 8, 2}};
    testing::check_error(gradient_check(model, MeanAbsoluteError{}, {.samples = 6}));
  }
}

TEST_CASE("u-net: errors name the shape and the option") {
  const auto error_of = [](const UNet<>& model) {
    try {
      layout_of(Objective<UNet<>, MeanAbsoluteError>{model, {}});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(error_of({.in = {30, 32, 1}}).find("{30, 32, 1}, expected rows and columns that are multiples of 4") !=
        std::string::npos);
  CHECK(error_of({.in = {4, 4, 1}}).find("whose last block has one pixel, expected more than 4 rows or columns") !=
        std::string::npos);
  CHECK(error_of({.pools = 0}).find("UNet has pools 0, expected 1 to 31") != std::string::npos);
}

TEST_CASE("phantoms: reproducible images in [0, 1], as many as asked for") {
  const Phantoms phantoms{.count = 3, .rows = 16, .columns = 20};
  const std::vector<float> images = phantoms.render();
  CHECK(images.size() == 3 * 16 * 20);
  CHECK(phantoms.shape() == Shape{16, 20, 1});
  CHECK(*std::min_element(images.begin(), images.end()) == 0);
  CHECK(*std::max_element(images.begin(), images.end()) <= 1);
  CHECK(*std::max_element(images.begin(), images.end()) > 0.8f);
  Phantoms second = phantoms;
  second.first = 1;
  second.count = 1;
  CHECK(second.render() == std::vector<float>(images.begin() + 320, images.begin() + 640));
  second.seed = 2;
  CHECK(second.render() != std::vector<float>(images.begin() + 320, images.begin() + 640));
  CHECK_THROWS_WITH((Phantoms{.rows = 0}.render()),
                    "Phantoms: images have 0 rows and 32 columns, expected at least 1 each");
  CHECK_THROWS_WITH((Phantoms{.details = 2}.render()), "Phantoms: details is 2, expected 3 to 2^20");
}

// The discrete Fourier transform of an image by its definition, with frequency 0 in the middle, and the inverse of what
// is left after zeroing columns.
std::vector<double> by_definition(std::size_t rows, const std::vector<float>& image,
                                  const std::vector<bool>& measured) {
  const std::size_t columns = measured.size();
  using Complex = std::complex<double>;
  const auto turn = [](double share) { return std::polar(1.0, 2 * 3.14159265358979323846 * share); };
  const auto frequency = [](std::size_t k, std::size_t n) {
    return static_cast<double>(k) - static_cast<double>(n / 2);
  };
  const auto share = [&](std::size_t u, std::size_t r, std::size_t v, std::size_t c) {
    return frequency(u, rows) * static_cast<double>(r) / static_cast<double>(rows) +
           frequency(v, columns) * static_cast<double>(c) / static_cast<double>(columns);
  };
  std::vector<Complex> space(rows * columns), back(rows * columns);
  for (std::size_t u = 0; u < rows; ++u)
    for (std::size_t v = 0; v < columns; ++v)
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c)
          if (measured[v])
            space[u * columns + v] += static_cast<double>(image[r * columns + c]) * turn(-share(u, r, v, c));
  std::vector<double> magnitudes;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      Complex sum = 0;
      for (std::size_t u = 0; u < rows; ++u)
        for (std::size_t v = 0; v < columns; ++v) sum += space[u * columns + v] * turn(share(u, r, v, c));
      magnitudes.push_back(std::abs(sum) / static_cast<double>(rows * columns));
    }
  return magnitudes;
}

TEST_CASE("k-space: zero-filled images agree with the definition of the transforms") {
  RandomStream random(RandomKey{4});
  for (const std::size_t columns : {8u, 9u, 14u}) {
    std::vector<float> image(6 * columns);
    for (float& x : image) x = random.uniform();
    std::vector<bool> measured(columns);
    for (std::size_t c = 0; c < columns; ++c) measured[c] = random.below(2) == 1;
    const std::vector<float> found = zero_filled(6, image.data(), measured);
    const std::vector<double> expected = by_definition(6, image, measured);
    for (std::size_t i = 0; i < image.size(); ++i) CHECK(std::abs(static_cast<double>(found[i]) - expected[i]) < 1e-6);
    const std::vector<float> whole = zero_filled(6, image.data(), std::vector<bool>(columns, true));
    for (std::size_t i = 0; i < image.size(); ++i) CHECK(std::abs(whole[i] - image[i]) < 1e-6f);
  }
}

TEST_CASE("k-space: the measured columns have a whole centre and the expected number") {
  RandomStream random(RandomKey{1});
  std::size_t measured = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::vector<bool> columns = Undersampling{}.columns(32, random);
    CHECK((columns[15] && columns[16]));  // floor(0.08 * 32) columns from (32 - 2 + 1) / 2 on
    measured += static_cast<std::size_t>(std::count(columns.begin(), columns.end(), true));
  }
  CHECK(std::abs(static_cast<double>(measured) / 2000 - 8) < 0.2);
  const std::vector<bool> all = Undersampling{.acceleration = 1, .center_fraction = 1}.columns(5, random);
  CHECK(std::count(all.begin(), all.end(), true) == 5);
  CHECK_THROWS_WITH((Undersampling{.acceleration = 0.5}.columns(32, random)),
                    "Undersampling: acceleration is 0.5, expected at least 1");
  CHECK_THROWS_WITH((Undersampling{.center_fraction = -1}.columns(32, random)),
                    "Undersampling: center_fraction is -1, expected [0, 1]");
  CHECK_THROWS_WITH((Undersampling{.center_fraction = 0.5}.columns(32, random)),
                    "Undersampling: the central 16 of 32 columns are measured, expected at most 8: acceleration is 4");
}

// Gathers every field of one example.
struct Example {
  std::vector<float> input = std::vector<float>(1024), label = std::vector<float>(1024),
                     intensity = std::vector<float>(3);
  template <FieldName name>
  float* at() const {
    const auto& field = std::string_view(name) == "input"   ? input
                        : std::string_view(name) == "label" ? label
                                                            : intensity;
    return const_cast<float*>(field.data());
  }
};

TEST_CASE("k-space: a reconstruction's fields restore the pixels") {
  const Phantoms phantoms{.count = 4};
  const std::vector<float> images = phantoms.render();
  const ReconstructionFields data = undersample(images, phantoms.shape(), RandomKey{3});
  REQUIRE(data.size() == 4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    Example example;
    data.gather(&i, 1, example);
    RandomStream random(RandomKey{3}.fold(i));
    const std::vector<float> zeros = zero_filled(32, images.data() + 1024 * i, Undersampling{}.columns(32, random));
    double sum = 0, squares = 0;
    for (std::size_t j = 0; j < 1024; ++j) {
      const float mean = example.intensity[0], deviation = example.intensity[1];
      CHECK(std::abs(mean + deviation * example.input[j] - zeros[j]) < 1e-5f);
      if (example.label[j] < 6) CHECK(std::abs(mean + deviation * example.label[j] - images[1024 * i + j]) < 1e-5f);
      CHECK(std::abs(example.label[j]) <= 6);
      sum += static_cast<double>(example.input[j]);
      squares += static_cast<double>(example.input[j]) * static_cast<double>(example.input[j]);
    }
    CHECK(std::abs(sum) < 1e-2);
    CHECK(std::abs(squares / 1024 - 1) < 1e-4);
    CHECK(example.intensity[2] == *std::max_element(&images[1024 * i], &images[1024 * i] + 1024));
  }
  CHECK_THROWS_WITH(undersample(images, {32, 32}, RandomKey{3}),
                    "undersample: images have shape {32, 32}, expected {rows, columns, 1}");
  CHECK_THROWS_WITH(undersample(images, {30, 32, 1}, RandomKey{3}),
                    "undersample: there are 4096 pixels, expected a multiple of 960, those of an image");
  CHECK_THROWS_WITH(undersample(std::vector<float>(1024), {32, 32, 1}, RandomKey{3}),
                    "undersample: the pixels of image 0 are equal after undersampling");
  std::vector<float> negative = images;
  negative[1025] = -0.5f;
  CHECK_THROWS_WITH(undersample(negative, {32, 32, 1}, RandomKey{3}),
                    "undersample: pixel 1 of image 1 is -0.5, expected at least 0");
}

TEST_CASE("phantoms: the workload, its variants, and its metric in a few steps") {
  static_assert(Workload<PhantomReconstruction>);
  const PhantomReconstruction task;
  CHECK(task.name == "phantoms_unet");
  static_assert(loss_kind<decltype(task.loss())> == LossKind::mean_absolute_error);
  CHECK(task.train().size() == 4000);
  CHECK(task.validation().size() == 500);
  CHECK(task.test().size() == 500);
  std::set<std::string> names;
  task.each_variant([&](const auto& variant) {
    CHECK(variant.base == task.name);
    CHECK(variant.train().size() == 4000);
    names.insert(variant.name);
  });
  CHECK(names == std::set<std::string>{"phantoms_unet_model_size", "phantoms_unet_tanh", "phantoms_unet_layernorm"});

  TrainingLoop loop(task.model(), task.loss(), adamw(), Constant{3e-3}, ShuffledEpochs{.batch = 32});
  const auto few = task.validation().subset(0, 64);
  const EvaluationReport before = loop.evaluate(few, task.metric());
  loop.run(task.train(), UntilStep{24});
  const EvaluationReport after = loop.evaluate(few, task.metric());
  CHECK(after.loss < 0.8 * before.loss);
  CHECK(after.metric > before.metric + 0.1);
}

TEST_CASE("phantoms: training is deterministic and resumes") {
  const Phantoms phantoms{.count = 24};
  const ReconstructionFields data = undersample(phantoms.render(), phantoms.shape(), RandomKey{3});
  const auto learner = [](const auto&... tail) {
    return TrainingLoop(UNet<>{.channels = 2}, PhantomReconstruction{}.loss(), adamw(), Constant{1e-2},
                        ShuffledEpochs{.batch = 8}, tail...);
  };
  testing::check_reproducible(learner, data, 6);
  testing::check_workers(learner, data, 3);
}

}  // namespace
}  // namespace of_phantoms
