// Transforms of batches, and prefetching.
#include <doctest/doctest.h>

#include <algoperf/data/one_hot.hpp>
#include <algoperf/data/prefetched.hpp>
#include <algoperf/data/transformed.hpp>
#include <algoperf/data/transforms/cutout.hpp>
#include <algoperf/data/transforms/mixup.hpp>
#include <algoperf/data/transforms/random_crop.hpp>
#include <algoperf/data/transforms/random_flip.hpp>
#include <algoperf/data/transforms/spec_augment.hpp>
#include <algoperf/nn/metrics/soft_error_rate.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "tagger.hpp"
#include "tiny.hpp"

namespace algoperf::testing::of_transforms {

using tagging::numbers;
using tagging::tokens;

// Where a data set of the fields "input" and "label" writes.
struct Rows {
  float* inputs;
  float* labels;
  template <FieldName name>
  float* at() const {
    return std::string_view(name) == "input" ? inputs : labels;
  }
};
using Images = InMemoryFields<Field<"input", float>, Field<"label", float>>;

// Applies a transform to images of values from 1 on.
template <class Transform>
std::vector<float> applied(const Transform& transform, std::size_t n, const Shape& shape, std::uint64_t key,
                           std::vector<float>* labels = nullptr) {
  std::vector<float> values(n * shape.size()), of_labels(2 * n);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  for (std::size_t i = 0; i < 2 * n; ++i) of_labels[i] = i % 3 == 0 ? 1.0f : 0.0f;
  const auto data = transformed(Images({values, shape}, {of_labels, {2}}), transform);
  std::vector<std::uint32_t> indices;
  for (std::size_t i = 0; i < n; ++i) indices.push_back(static_cast<std::uint32_t>(i));
  data.gather(indices.data(), n, Rows{values.data(), of_labels.data()}, RandomKey{key});
  if (labels != nullptr) *labels = of_labels;
  return values;
}
float first_value(std::size_t i, const Shape& shape, std::size_t r, std::size_t c, std::size_t k) {
  return static_cast<float>(i * shape.size() + (r * shape[1] + c) * (shape.rank == 3 ? shape[2] : 1) + k + 1);
}

TEST_CASE("RandomCrop: moves each image by up to the padding, in both directions") {
  for (const Shape shape : {Shape{5, 7, 3}, Shape{4, 3}}) {
    const std::size_t n = 400, channels = shape.rank == 3 ? shape[2] : 1;
    const auto x = applied(RandomCrop{.padding = 2}, n, shape, 3);
    std::map<std::pair<int, int>, int> shifts;
    for (std::size_t i = 0; i < n; ++i) {
      int found = 0;
      for (int down = -2; down <= 2; ++down)
        for (int right = -2; right <= 2; ++right) {
          bool same = true;
          for (std::size_t r = 0; r < shape[0]; ++r)
            for (std::size_t c = 0; c < shape[1]; ++c)
              for (std::size_t k = 0; k < channels; ++k) {
                const int from_r = static_cast<int>(r) + down, from_c = static_cast<int>(c) + right;
                const bool inside = from_r >= 0 && from_r < static_cast<int>(shape[0]) && from_c >= 0 &&
                                    from_c < static_cast<int>(shape[1]);
                const float expected = inside ? first_value(i, shape, static_cast<std::size_t>(from_r),
                                                            static_cast<std::size_t>(from_c), k)
                                              : 0.0f;
                same = same && x[i * shape.size() + (r * shape[1] + c) * channels + k] == expected;
              }
          if (!same) continue;
          ++found;
          ++shifts[{down, right}];
        }
      CHECK(found == 1);
    }
    CHECK(shifts.size() == 25);
    for (const auto& [shift, count] : shifts) CHECK(count > 4);  // 16 are expected
  }
  // A padding larger than the image.
  for (const float v : applied(RandomCrop{.padding = 9}, 50, {2, 2}, 1)) CHECK(v >= 0);
  CHECK(applied(RandomCrop{.padding = 0}, 3, {2, 2}, 1) == applied(RandomFlip{.probability = 0}, 3, {2, 2}, 1));
}

TEST_CASE("RandomFlip: reverses the columns of half of the images") {
  for (const Shape shape : {Shape{3, 4, 2}, Shape{2, 5}}) {
    const std::size_t n = 300, channels = shape.rank == 3 ? shape[2] : 1;
    const auto x = applied(RandomFlip{}, n, shape, 5);
    std::size_t flipped = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const bool flip = x[i * shape.size()] != first_value(i, shape, 0, 0, 0);
      flipped += flip;
      for (std::size_t r = 0; r < shape[0]; ++r)
        for (std::size_t c = 0; c < shape[1]; ++c)
          for (std::size_t k = 0; k < channels; ++k)
            CHECK(x[i * shape.size() + (r * shape[1] + c) * channels + k] ==
                  first_value(i, shape, r, flip ? shape[1] - 1 - c : c, k));
    }
    CHECK(flipped > 110);
    CHECK(flipped < 190);
  }
}

TEST_CASE("Cutout: a square around a pixel, cut at the edges") {
  const Shape shape{6, 8, 2};
  for (const std::size_t size : {std::size_t{1}, std::size_t{3}, std::size_t{4}}) {
    std::map<std::size_t, int> areas;
    const std::size_t n = 300;
    const auto x = applied(Cutout{.size = size}, n, shape, 7);
    for (std::size_t i = 0; i < n; ++i) {
      std::size_t top = 6, bottom = 0, left = 8, right = 0, zeros = 0;
      for (std::size_t r = 0; r < 6; ++r)
        for (std::size_t c = 0; c < 8; ++c) {
          const float* const pixel = x.data() + i * shape.size() + (r * 8 + c) * 2;
          CHECK((pixel[0] == 0) == (pixel[1] == 0));
          if (pixel[0] != 0) continue;
          ++zeros;
          top = std::min(top, r), bottom = std::max(bottom, r + 1);
          left = std::min(left, c), right = std::max(right, c + 1);
        }
      REQUIRE(zeros > 0);
      CHECK(zeros == (bottom - top) * (right - left));  // a rectangle
      CHECK(bottom - top <= size);
      CHECK(right - left <= size);
      if (bottom - top < size) CHECK((top == 0 || bottom == 6));
      if (right - left < size) CHECK((left == 0 || right == 8));
      ++areas[zeros];
    }
    CHECK(areas.rbegin()->first == size * size);
  }
}

TEST_CASE("Mixup: one weight for inputs and labels, and the example before as partner") {
  double sum = 0, squares = 0;
  const int draws = 3000;
  for (int draw = 0; draw < draws; ++draw) {
    const std::size_t n = 3;
    const Shape shape{300};
    std::vector<float> labels;
    const auto x = applied(Mixup{.alpha = 0.4}, n, shape, static_cast<std::uint64_t>(draw), &labels);
    // Example 1 is 300 larger than example 0.
    const double w = 1 - (301 + 1 - 1 - static_cast<double>(x[300])) / 300;
    sum += w;
    squares += w * w;
    if (draw >= 3) continue;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < 300; j += 37) {
        const double own = static_cast<double>(i * 300 + j + 1),
                     before = static_cast<double>((i + 2) % 3 * 300 + j + 1);
        CHECK(static_cast<double>(x[i * 300 + j]) == doctest::Approx(w * own + (1 - w) * before).epsilon(1e-4));
      }
    const double first[] = {1, 0, 0, 1, 0, 0};
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(static_cast<double>(labels[i]) ==
            doctest::Approx(w * first[i] + (1 - w) * first[(i + 4) % 6]).epsilon(1e-3));
  }
  // Beta(a, a) has the mean 1 / 2 and the variance 1 / (4 (2 a + 1)).
  const double mean = sum / draws;
  CHECK(std::abs(mean - 0.5) < 0.03);
  CHECK(std::abs(squares / draws - mean * mean - 1 / (4 * 1.8)) < 0.01);
  for (const double alpha : {1.0, 5.0}) {
    double total = 0, square = 0;
    RandomStream random(RandomKey{1});
    for (int i = 0; i < 20000; ++i) {
      const double g = detail::draw_gamma(alpha, random);
      total += g / 20000;
      square += g * g / 20000;
    }
    CHECK(total == near(alpha, 0.03));
    CHECK(square - total * total == near(alpha, 0.06));
  }
  CHECK(sentence([] { applied(Mixup{.alpha = 0}, 2, {3}, 1); }) == "Mixup: alpha is 0, expected more than 0");
}

TEST_CASE("SpecAugment: stretches of frames and of frequencies") {
  const Shape shape{40, 12};
  const auto zeros = [&](const SpecAugment& transform, bool frames) {
    std::vector<std::size_t> lengths;
    const auto x = applied(transform, 200, shape, 2);
    for (std::size_t i = 0; i < 200; ++i) {
      std::size_t length = 0;
      for (std::size_t k = 0; k < shape[frames ? 0 : 1]; ++k) {
        bool all = true, none = true;
        for (std::size_t j = 0; j < shape[frames ? 1 : 0]; ++j) {
          const std::size_t t = frames ? k : j, f = frames ? j : k;
          (x[i * shape.size() + t * 12 + f] == 0 ? none : all) = false;
        }
        CHECK(all != none);  // whole frames, or whole frequencies
        length += all;
      }
      lengths.push_back(length);
    }
    std::sort(lengths.begin(), lengths.end());
    return lengths;
  };
  const auto time = zeros({.time_masks = 1, .max_time_ratio = 0.25, .frequency_masks = 0, .max_frequencies = 5}, true);
  CHECK(time.front() == 0);
  CHECK(time.back() == 9);  // floor(u 10)
  const auto frequency = zeros({.time_masks = 0, .frequency_masks = 1, .max_frequencies = 5}, false);
  CHECK(frequency.front() == 0);
  CHECK(frequency.back() == 4);
  const auto several =
      zeros({.time_masks = 3, .max_time_ratio = 0.25, .frequency_masks = 0, .max_frequencies = 5}, true);
  CHECK(several.back() > 12);
  const SpecAugment short_masks{.time_masks = 20, .max_time_ratio = 0.06, .frequency_masks = 0, .max_frequencies = 5};
  const auto x = applied(short_masks, 50, shape, 3);
  std::size_t first = 0, last = 0;  // masks of at most 2 frames reach both ends
  for (std::size_t i = 0; i < 50; ++i) {
    first += x[i * shape.size()] == 0;
    last += x[(i + 1) * shape.size() - 1] == 0;
  }
  CHECK(first > 3);  // 12 are expected
  CHECK(last > 3);
  // The whole width may be masked, and whatever is refused says so.
  zeros({.time_masks = 0, .frequency_masks = 1, .max_frequencies = 13}, false);
  CHECK(sentence([] {
          applied(SpecAugment{}, 1, {40, 12}, 1);
        }) == "SpecAugment: max_frequencies is 27, expected at most one more than the 12 frequencies");
  CHECK(sentence([] {
          applied(SpecAugment{.max_time_ratio = 2}, 1, {40, 40}, 1);
        }) == "SpecAugment: max_time_ratio is 2, expected [0, 1]");
  CHECK(sentence([] { applied(SpecAugment{}, 1, {40}, 1); }) ==
        "SpecAugment: the field 'input' has shape {40}, expected {frames, frequencies}");
  CHECK(sentence([] {
          applied(SpecAugment{.hop = 2}, 1, {40, 40}, 1);
        }) == "SpecAugment: hop is 2, expected 0, because the field 'input' has one row per example");
}

// Windows of 4 frames with 3 frequencies, of which each begins 3 frames after the one before.
using Windows = InMemoryFields<Field<"input", float>>;

TEST_CASE("SpecAugment: a frame is masked in all windows that hold it") {
  constexpr std::size_t hop = 3, frequencies = 3, shape = 4 * frequencies;
  const std::vector<std::uint32_t> windows{5, 0, 1, 12};
  const Windows data({{"frames", windows}}, {std::vector<float>(18 * shape, 1), {4, frequencies}, "frames"});
  const auto masked = [&](const SpecAugment& transform, std::uint64_t key) {
    std::vector<float> x(18 * shape);
    const std::vector<std::uint32_t> all{0, 1, 2, 3};
    transformed(data, transform).gather(all.data(), all.size(), Rows{x.data(), nullptr}, RandomKey{key});
    return x;
  };
  std::size_t zeros = 0;
  bool last = false;
  for (std::uint64_t key = 0; key < 40; ++key) {
    const auto x =
        masked({.time_masks = 2, .max_time_ratio = 0.3, .frequency_masks = 1, .max_frequencies = 2, .hop = hop}, key);
    std::size_t first = 0;
    for (const std::uint32_t rows : windows) {
      for (std::size_t w = first; w + 1 < first + rows; ++w)  // the last frame of a window is the next one's first
        for (std::size_t f = 0; f < frequencies; ++f)
          CHECK(x[w * shape + 3 * frequencies + f] == x[(w + 1) * shape + f]);
      first += rows;
    }
    zeros += static_cast<std::size_t>(std::count(x.begin(), x.end(), 0.0f));
    last = last || std::equal(x.end() - frequencies, x.end(), std::vector<float>(frequencies, 0).begin());
  }
  CHECK(zeros > 40 * 18 * shape / 10);
  CHECK(last);
  CHECK(sentence([&] { masked({.max_frequencies = 2}, 1); }) ==
        "SpecAugment: hop is 0, expected the frames from one window to the next, because the field 'input' lies on a "
        "ragged axis");
}

TEST_CASE("transforms: a field that does not fit is named") {
  CHECK(sentence([] {
          applied(RandomFlip{.field = "images"}, 1, {4, 4}, 1);
        }) == "InMemoryFields: there is no field 'images'");
  CHECK(sentence([] {
          applied(RandomFlip{.probability = 50}, 1, {4, 4}, 1);
        }) == "RandomFlip: probability is 50, expected [0, 1]");
  CHECK(sentence([] {
          applied(RandomCrop{.padding = std::size_t{1} << 40}, 1, {4, 4}, 1);
        }) == "RandomCrop: padding is 1099511627776, expected at most 2147483647");
  for (const float v : applied(Cutout{.size = std::size_t(-1)}, 3, {4, 4}, 1)) CHECK(v == 0);
  CHECK(sentence([] { applied(RandomCrop{}, 1, {16}, 1); }) ==
        "RandomCrop: the field 'input' has shape {16}, expected {rows, columns, channels} or {rows, columns}");
  TrainingLoop loop(Tiny::model(), Tiny::loss(), sgd(), Constant{0.1}, ShuffledEpochs{.batch = 4});
  const Tiny task;
  CHECK(
      sentence([&] { loop.step(transformed(task.train(), Mixup{})); }) ==
      "data: a transform changes the field 'label', but the data set has no field of this name that holds real values");
}

// Adds noise to inputs, and counts its calls.
struct Noise {
  std::shared_ptr<int> calls = std::make_shared<int>(0);
  template <class Batch>
  void operator()(const Batch& batch, RandomKey key) const {
    ++*calls;
    auto* const x = batch.reals("input");
    const std::size_t width = batch.shape("input").size();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      RandomStream random(key.fold(i));
      for (std::size_t j = 0; j < width; ++j) x[i * width + j] += random.uniform();
    }
  }
};

template <class Data, class... Tail>
auto values_after(std::uint64_t steps, const Data& data, const Tail&... tail) {
  auto loop = tiny_loop(momentum(), 0.02, tail...);
  loop.run(data, UntilStep{steps});
  return values_of(loop);
}

TEST_CASE("transforms: the same bits for any number of threads and with prefetching, and nearly for workers") {
  const Tiny task;
  const auto data = transformed(task.train(), RandomCrop{.padding = 3}, RandomFlip{}, Noise{});
  const auto one = values_after(20, data);
  CHECK(one != values_after(20, task.train()));
  CHECK(one == values_after(20, data));
  CHECK(one == values_after(20, data, Host<>{.threads = 2}));
  CHECK(one == values_after(20, prefetched(data)));
  CHECK(one == values_after(20, prefetched(data), Host<>{.threads = 3}));
  CHECK(values_after(20, task.train()) == values_after(20, prefetched(task.train())));
  const auto workers = values_after(20, prefetched(data), Mean{}, InProcess{4});
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(std::abs(workers[i] - one[i]) < 1e-3);
  // Transforms of transformed data run after its own.
  const auto nested = transformed(transformed(task.train(), RandomFlip{.probability = 1}), RandomCrop{.padding = 3});
  CHECK(values_after(20, nested) != values_after(20, transformed(task.train(), RandomCrop{.padding = 3})));
  // The transforms depend on the loop's seed, on the step, and on their place.
  CHECK(one != values_after(20, data, Seed{2}));
  CHECK(one != values_after(20, transformed(task.train(), RandomFlip{}, RandomCrop{.padding = 3}, Noise{})));
  std::vector<float> once(4), twice(4);
  const Images zeros({std::vector<float>(4), {4}}, {{0, 1}, {2}});
  const std::uint32_t index = 0;
  float label[2];
  transformed(zeros, Noise{}).gather(&index, 1, Rows{once.data(), label}, RandomKey{1});
  transformed(zeros, Noise{}, Noise{}).gather(&index, 1, Rows{twice.data(), label}, RandomKey{1});
  for (std::size_t i = 0; i < 4; ++i) CHECK(twice[i] != 2 * once[i]);
  auto loop = tiny_loop(sgd(), 0.0);
  const auto constant = transformed(task.train().subset(0, 32), Noise{});
  CHECK(*loop.step(constant).loss != *loop.step(constant).loss);
}

TEST_CASE("transforms: evaluations and predictions leave them out") {
  const Tiny task;
  const Noise noise;
  const auto data = transformed(task.train(), noise);
  auto loop = tiny_loop(sgd(), 0.1);
  CHECK(loop.evaluate(data, ErrorRate{}).loss == loop.evaluate(task.train(), ErrorRate{}).loss);
  CHECK(loop.predict(data) == loop.predict(task.train()));
  CHECK(*noise.calls == 0);
  loop.step(data);
  CHECK(*noise.calls == 1);
}

// Has labels outside of its classes.
struct Mislabelled : InMemory<float> {
  explicit Mislabelled(const InMemory<float>& data) : InMemory(data) {}
  template <class T, class L>
  void gather(const std::uint32_t* indices, std::size_t n, T* inputs, L* labels) const {
    InMemory::gather(indices, n, inputs, labels);
    std::fill_n(labels, n, L(10));
  }
};

TEST_CASE("one_hot: labels are distributions, and Mixup trains on them") {
  const Tiny task;
  const auto soft = one_hot(task.train());
  TrainingLoop of_classes(Tiny::model(), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 100});
  TrainingLoop of_distributions(Tiny::model(), SoftCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 100});
  for (int i = 0; i < 3; ++i)
    CHECK(*of_classes.step(task.train()).loss == near(*of_distributions.step(soft).loss, 1e-5));
  CHECK(of_classes.evaluate(task.train(), ErrorRate{}).metric ==
        of_distributions.evaluate(soft, SoftErrorRate{}).metric);
  CHECK(sentence([&] { of_distributions.evaluate(one_hot(Mislabelled(task.all)), SoftErrorRate{}); }) ==
        "one_hot: the label of example 0 is 10, expected [0, 10)");
  TrainingLoop mixed(Tiny::model(), SoftCrossEntropy{}, adamw(), Constant{0.003}, ShuffledEpochs{.batch = 32});
  const double before = mixed.evaluate(soft, SoftErrorRate{}).metric;
  mixed.run(transformed(soft, Mixup{}), UntilStep{60});
  CHECK(mixed.evaluate(soft, SoftErrorRate{}).metric < before / 2);
}

TEST_CASE("prefetching: each batch is gathered once, and the last one ahead is not used") {
  const Tiny task;
  const Noise noise;
  values_after(20, prefetched(transformed(task.train(), noise)));
  CHECK(*noise.calls == 21);
}

TEST_CASE("prefetching: resumed runs continue with the same bits, with it or without") {
  const Tiny task;
  const auto data = transformed(task.train(), RandomCrop{.padding = 3}, Noise{});
  const auto expected = values_after(25, data);
  // Saved within a run, while the next batch is gathered, and resumed with and without prefetching.
  MemoryWriter writer;
  auto saved = tiny_loop(momentum(), 0.02);
  saved.run(prefetched(data), UntilStep{25}, [&](const StepReport& report) {
    if (report.now.t == 11) saved.visit(writer);
  });
  CHECK(values_of(saved) == expected);
  const auto resume = [&](const auto& from) {
    auto loop = tiny_loop(momentum(), 0.02);
    MemoryReader reader{writer.saved};
    loop.visit(reader);
    CHECK(loop.steps() == 11);
    loop.run(from, UntilStep{25});
    return values_of(loop);
  };
  CHECK(resume(data) == expected);
  CHECK(resume(prefetched(data)) == expected);
  // Runs of several parts, on data that is freed in between.
  auto parts = tiny_loop(momentum(), 0.02);
  parts.run(prefetched(data), UntilStep{7});
  parts.step(data);
  {
    const auto copy = std::make_unique<decltype(prefetched(data))>(data);
    parts.run(*copy, UntilStep{15});
  }
  parts.run(prefetched(data), UntilStep{25});
  CHECK(values_of(parts) == expected);
}

TEST_CASE("prefetching: steps on several data sets, and data that is made resident twice") {
  const Tiny task;
  const auto a = prefetched(task.train().subset(0, 128)), b = prefetched(task.train().subset(128, 256));
  const auto steps = [&](const auto& first, const auto& second, bool resident) {
    auto loop = tiny_loop(momentum(), 0.02);
    loop.step(first);
    if (resident) loop.make_resident(first);
    for (int i = 0; i < 3; ++i) {
      loop.step(first);
      loop.step(second);
      if (resident) loop.make_resident(first);
    }
    loop.step(task.train().subset(0, 128));
    loop.step(first);
    loop.release_data();
    loop.release_data();
    loop.step(first);
    return values_of(loop);
  };
  const auto expected = steps(task.train().subset(0, 128), task.train().subset(128, 256), false);
  CHECK(steps(a, b, true) == expected);
  CHECK(steps(a, a, true) == steps(a, a, false));
  // Loading an earlier state while the next batch is gathered.
  auto loop = tiny_loop(momentum(), 0.02), straight = tiny_loop(momentum(), 0.02);
  loop.make_resident(a);
  MemoryWriter writer;
  for (int i = 0; i < 5; ++i) {
    loop.step(a);
    if (i == 1) loop.visit(writer);
  }
  MemoryReader reader{writer.saved};
  loop.visit(reader);
  for (int i = 0; i < 6; ++i) loop.step(a);
  loop.release_data();
  for (int i = 0; i < 8; ++i) straight.step(a);
  CHECK(same_values(loop, straight));
  auto unused = tiny_loop(momentum(), 0.02);
  unused.make_resident(a);
  unused.release_data();
}

// Chooses by the learning rate of the step.
struct ByRate {
  std::size_t batch = 4;
  struct State {
    std::uint64_t calls = 0;
    template <class Archive>
    void visit(Archive& archive) {
      archive.number("calls", calls);
    }
  };
  State state(std::size_t) const { return {}; }
  void select(State& state, Step step, Selection& selection) const {
    ++state.calls;
    const auto first = static_cast<std::uint32_t>(step.learning_rate * 100 + static_cast<double>(state.calls));
    selection.indices = {first, first + 1, first + 2, first + 3};
    selection.weights.assign(4, 1.0f);
  }
};

TEST_CASE("prefetching: a schedule that reacts to an evaluation changes the selection ahead") {
  const Tiny task;
  const auto run = [&](const auto& data) {
    TrainingLoop loop(Tiny::model(), Tiny::loss(), sgd(), Plateau{.peak = 0.5, .factor = 0.5, .patience = 0}, ByRate{});
    loop.run(data, Evaluate(task.validation(), CrossEntropy{}, {.every = 3}), UntilStep{20});
    CHECK(loop.last().now.learning_rate < 0.5);
    return values_of(loop);
  };
  CHECK(run(task.train()) == run(prefetched(task.train())));
}

// Fails on an example.
struct Broken : Tiny {
  struct Data : InMemory<float> {
    std::uint32_t bad;
    Data(const InMemory<float>& data, std::uint32_t at) : InMemory(data), bad(at) {}
    template <class T, class L>
    void gather(const std::uint32_t* indices, std::size_t n, T* inputs, L* labels) const {
      InMemory::gather(indices, n, inputs, labels);
      require(std::find(indices, indices + n, bad) == indices + n, "example ", bad, " is broken");
    }
  };
};

TEST_CASE("prefetching: errors of the data and of the selector end the step that they concern") {
  const Broken::Data data(Tiny::digits(), 200);
  const auto steps_before_error = [&](const auto& selector, const auto& from) {
    TrainingLoop loop(Tiny::model(), Tiny::loss(), sgd(), Constant{0.1}, selector);
    const std::string said = sentence([&] { loop.run(from, UntilStep{1000}); });
    return said + " after " + std::to_string(loop.steps());
  };
  const ShuffledEpochs batches{.batch = 16};
  const std::string expected = steps_before_error(batches, data);
  CHECK(contains(expected, "example 200 is broken"));
  CHECK(!contains(expected, "after 0"));
  CHECK(steps_before_error(batches, prefetched(data)) == expected);
  // Selects beyond the end at last.
  const std::string beyond = steps_before_error(ByRate{}, Tiny::digits());
  CHECK(contains(beyond, "TrainingLoop: the selector chose example 320, expected [0, 320) after 306"));
  CHECK(steps_before_error(ByRate{}, prefetched(Tiny::digits())) == beyond);
}

}  // namespace algoperf::testing::of_transforms
