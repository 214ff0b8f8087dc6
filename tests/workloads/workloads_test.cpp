#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/all.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "../support/data_path.hpp"
#include "../support/folder.hpp"

using namespace algoperf;

static_assert(Workload<GlyphDigits> && Workload<GlyphDigitsCnn> && Workload<Shakespeare> && Workload<ShakespeareLm> &&
              Workload<ShakespeareLstm>);
static_assert(!Workload<int> && !Workload<SoftmaxCrossEntropy>);

namespace {

// Returns example i of a data set, followed by its label.
template <class Data>
auto example(const Data& data, std::size_t i) {
  std::vector<typename Data::Input> input(data.shape().size() + 1);
  std::int32_t label = 0;
  const std::uint32_t index = static_cast<std::uint32_t>(i);
  data.gather(&index, 1, input.data(), &label);
  input.back() = static_cast<typename Data::Input>(label);
  return input;
}

// Where a data set of tokens writes.
struct TokenRows {
  std::vector<std::int32_t>&inputs, &labels;
  template <FieldName name>
  std::int32_t* at() const {
    return std::string_view(name) == "input" ? inputs.data() : labels.data();
  }
};

// Rendered once for all tests.
const GlyphDigits& rendered() {
  static const GlyphDigits task = [] {
    GlyphDigits made{.seed = 5};
    made.train();
    return made;
  }();
  return task;
}

}  // namespace

TEST_CASE("glyphs: the splits are consecutive ranges of one stream") {
  const GlyphDigits& task = rendered();
  CHECK(task.train().size() == 50000);
  CHECK(task.validation().size() == 10000);
  CHECK(task.test().size() == 10000);
  const Glyphs stream{.seed = 5, .count = 70000};
  CHECK(example(task.train(), 49999) == example(stream, 49999));
  CHECK(example(task.validation(), 0) == example(stream, 50000));
  CHECK(example(task.test(), 9999) == example(stream, 69999));
  CHECK(task.model().input().size() == task.train().shape().size());
  CHECK(task.model().output().size() == task.train().classes());
  CHECK(task.target().value == task.target_error);
  CHECK(task.target().lower_is_better);
}

TEST_CASE("glyphs: copies made after the first use share the data") {
  const auto first = rendered().train().whole(), second = GlyphDigits(rendered()).train().whole();
  CHECK(&second.inputs() == &first.inputs());
}

TEST_CASE("glyphs: workloads with other options do not share the data") {
  const GlyphDigits other_seed{.seed = 6}, noisy{.seed = 5, .label_noise = 0.25};
  const auto plain = rendered().test().whole(), seeded = other_seed.test().whole(), changed = noisy.test().whole();
  CHECK(&seeded.inputs() != &plain.inputs());
  CHECK(&changed.inputs() != &plain.inputs());
  CHECK(example(noisy.test(), 9999) == example(Glyphs{.seed = 5, .count = 70000, .label_noise = 0.25}, 69999));
  std::size_t other_labels = 0;
  for (std::size_t i = 0; i < 1000; ++i) other_labels += example(noisy.test(), i) != example(rendered().test(), i);
  CHECK(other_labels > 100);
}

TEST_CASE("glyphs: adamw reaches the target") {
  GlyphDigits task = rendered();
  task.target_error = 0.15;
  TrainingLoop loop(task.model(), task.loss(), adamw(), Constant{2e-3}, ShuffledEpochs{.batch = 64});
  const RunReport report =
      loop.run(task.train(), Evaluate(task, {.every = 100}), UntilTarget{task.target()}, UntilStep{500});
  MESSAGE("error " << report.best.metric << " after " << report.last.now.t << " steps");
  CHECK(report.target_reached());
}

TEST_CASE("shakespeare: splits share no character") {
  const Folder folder;
  std::filesystem::create_directory(folder / "shakespeare");
  RandomStream random(RandomKey{1});
  std::string text;
  for (int i = 0; i < 4003; ++i) text += static_cast<char>('a' + random.below(26));
  folder.write("shakespeare/input.txt", text);

  const Shakespeare task{.data = folder.path()};
  const std::size_t context = Shakespeare::context;
  const auto train = task.train(), validation = task.validation(), test = task.test();
  const auto& whole = train.whole();
  REQUIRE(whole.size() == 4003 - context);
  // Example i covers the characters [i, i + context].
  const std::size_t validation_from = train.size() + context, test_from = validation_from + validation.size() + context;
  CHECK(example(validation, 0) == example(whole, validation_from));
  CHECK(example(test, 0) == example(whole, test_from));
  CHECK(test_from + test.size() == whole.size());
  CHECK(train.size() == whole.size() * 18 / 20);
  CHECK(validation.size() >= whole.size() / 20 - context);
  CHECK(task.model().output().size() == 26);
}

TEST_CASE("shakespeare: a missing file is named") {
  const Shakespeare task{.data = "/nonexistent"};
  CHECK_THROWS_WITH_AS(task.train(), doctest::Contains("/nonexistent/shakespeare/input.txt"), Error);
}

TEST_CASE("shakespeare: a few steps on the real text") {
  const std::string folder = data_path("shakespeare");
  if (folder.empty()) return;
  const Shakespeare task{.data = folder + "/.."};
  CHECK(task.train().size() > 1000000);
  CHECK(task.model().output().size() == 65);
  TrainingLoop loop(task.model(), task.loss(), adamw(), Constant{2e-3}, ShuffledEpochs{.batch = 64});
  const auto few = task.validation().subset(0, 2000);
  const double before = loop.evaluate(few, task.metric()).metric;
  loop.run(task.train(), UntilStep{60});
  CHECK(before > 4);
  CHECK(loop.evaluate(few, task.metric()).metric < 3.3);
}

TEST_CASE("shakespeare_lm: splits share no character, and the text is loaded once") {
  const Folder folder;
  std::filesystem::create_directory(folder / "shakespeare");
  std::string text;
  for (std::size_t i = 0; i < 64 * 100 + 1; ++i) text += static_cast<char>('a' + i / 64 % 26);
  folder.write("shakespeare/input.txt", text);
  const ShakespeareLm task{.data = folder.path()};
  const auto train = task.train(), validation = task.validation(), test = task.test();
  REQUIRE(train.whole().size() == 100);
  CHECK(train.size() == 90);
  CHECK(validation.size() == 4);
  CHECK(test.size() == 4);
  // Sequence i consists of letter i, and its last label is the next letter.
  const auto letters = [&](const auto& data, std::uint32_t i) {
    std::vector<std::int32_t> inputs(64), labels(64);
    data.gather(&i, 1, TokenRows{inputs, labels});
    CHECK(labels[62] == inputs[0]);
    return std::string{static_cast<char>('a' + inputs[0]), static_cast<char>('a' + labels[63])};
  };
  CHECK(letters(train, 89) == "lm");
  CHECK(letters(validation, 0) == "no");
  CHECK(letters(validation, 3) == "qr");
  CHECK(letters(test, 0) == "st");
  CHECK(&ShakespeareLm{.data = folder.path()}.train().whole().text().tokens() == &train.whole().text().tokens());
  CHECK_THROWS_WITH_AS(ShakespeareLm{.data = "/nonexistent"}.model(),
                       doctest::Contains("/nonexistent/shakespeare/input.txt"), Error);

  const Folder other;
  std::filesystem::create_directory(other / "shakespeare");
  other.write("shakespeare/input.txt", text.substr(0, 64 * 39 + 1));
  CHECK_THROWS_WITH_AS(ShakespeareLstm{.data = other.path()}.train(),
                       doctest::Contains("input.txt: the text has 39 sequences of 64 characters, expected at least 40"),
                       Error);
}

TEST_CASE("shakespeare_lm: a few steps on the real text") {
  const std::string folder = data_path("shakespeare");
  if (folder.empty()) return;
  const ShakespeareLm task{.data = folder + "/.."};
  CHECK(task.train().size() > 15000);
  CHECK(parameters_of(task.model()) == 135554);
  TrainingLoop loop(task.model(), task.loss(), adamw(), Constant{1e-2}, ShuffledEpochs{.batch = 4});
  const auto few = task.validation().subset(0, 8);
  CHECK(loop.evaluate(few, task.metric()).metric > 50);
  loop.run(task.train(), UntilStep{20});
  CHECK(loop.evaluate(few, task.metric()).metric < 40);
}
