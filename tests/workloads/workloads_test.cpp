#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/all.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "../support/data_path.hpp"
#include "../support/folder.hpp"

using namespace algoperf;

static_assert(Workload<GlyphDigits> && Workload<GlyphDigitsCnn> && Workload<Shakespeare>);
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
