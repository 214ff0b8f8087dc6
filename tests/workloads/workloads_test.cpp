#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/all.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace algoperf;

static_assert(Workload<GlyphDigits> && Workload<GlyphDigitsCnn> && Workload<Shakespeare>);
static_assert(!Workload<int> && !Workload<SoftmaxCrossEntropy>);

namespace {

// Example i of a data set, its label at the end.
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

// The data root of a run by hand or by CTest: the environment's, or the folder beside the repository.
std::string root() {
  const char* const named = std::getenv("ALGOPERF_DATA");
  return named != nullptr ? named : ALGOPERF_SOURCE_DIR "/../shared/data";
}

}  // namespace

TEST_CASE("glyphs: the splits are neighbours in one stream") {
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

TEST_CASE("shakespeare: no character is in two splits") {
  char folder[] = "/tmp/algoperf_test_XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string root = folder, inner = root + "/shakespeare", path = inner + "/input.txt";
  REQUIRE(mkdir(inner.c_str(), 0700) == 0);
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  RandomStream random(RandomKey{1});
  for (int i = 0; i < 4003; ++i) std::fputc('a' + static_cast<int>(random.below(26)), file);
  std::fclose(file);

  const Shakespeare task{.data = root};
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
  std::remove(path.c_str());
  rmdir(inner.c_str());
  rmdir(folder);
}

TEST_CASE("shakespeare: a missing file is named") {
  const Shakespeare task{.data = "/nonexistent"};
  CHECK_THROWS_WITH_AS(task.train(), doctest::Contains("/nonexistent/shakespeare/input.txt"), Error);
}

TEST_CASE("shakespeare: a few steps on the real text") {
  if (access((root() + "/shakespeare/input.txt").c_str(), R_OK) != 0) {
    MESSAGE("skipped: there is no " << root() << "/shakespeare/input.txt");
    return;
  }
  const Shakespeare task{.data = root()};
  CHECK(task.train().size() > 1000000);
  CHECK(task.model().output().size() == 65);
  TrainingLoop loop(task.model(), task.loss(), adamw(), Constant{2e-3}, ShuffledEpochs{.batch = 64});
  const auto few = task.validation().subset(0, 2000);
  const double before = loop.evaluate(few, task.metric()).metric;
  loop.run(task.train(), UntilStep{60});
  CHECK(before > 4);
  CHECK(loop.evaluate(few, task.metric()).metric < 3.3);
}
