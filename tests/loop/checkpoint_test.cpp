#include <doctest/doctest.h>

#include <algorithm>

#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// A checkpoint after three steps, and its bytes.
struct SavedLoop {
  TemporaryFile file;
  std::string bytes;
  SavedLoop() {
    auto loop = tiny_loop(momentum(), 0.1);
    for (int i = 0; i < 3; ++i) loop.step(Tiny{}.train());
    save_checkpoint(file.path(), loop);
    bytes = file.read();
  }
};

// Returns the error message of loading the file into a loop, or an empty string.
template <class Loop>
std::string refusal(const std::string& path, Loop&& loop) {
  return sentence([&] {
    loop.start(Tiny{}.train());
    load_checkpoint(path, loop);
  });
}

std::string refusal(const std::string& path) { return refusal(path, tiny_loop(momentum(), 0.1)); }

// Appends a matching checksum, so that the checksum does not reveal that the bytes were changed.
std::string resealed(std::string body) {
  const std::uint64_t sum = detail::fnv1a(body, body.size());
  body.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return body;
}

}  // namespace

TEST_CASE("checkpoint: a loaded checkpoint is saved again byte for byte") {
  const SavedLoop saved;
  auto loop = tiny_loop(momentum(), 0.1);
  CHECK(refusal(saved.file.path(), loop).empty());
  CHECK(loop.steps() == 3);
  const TemporaryFile again;
  save_checkpoint(again.path(), loop);
  CHECK(again.read() == saved.bytes);
}

TEST_CASE("checkpoint: missing, foreign and damaged files are rejected") {
  const SavedLoop saved;
  const std::string& path = saved.file.path();
  const auto refused = [&](const std::string& bytes) {
    saved.file.write(bytes);
    return refusal(path);
  };
  CHECK(refusal("/nonexistent/x") == "/nonexistent/x: cannot be opened: No such file or directory");
  CHECK(refusal("/tmp") == "/tmp: cannot be read: Is a directory");
  CHECK(refused("") == path + ": not an algoperf checkpoint");
  CHECK(refused("ALGOPERF") == path + ": not an algoperf checkpoint");
  CHECK(refused("PNG" + saved.bytes) == path + ": not an algoperf checkpoint");

  std::string other = saved.bytes;
  other[8] = 9;
  CHECK(refused(other) == path + ": checkpoint format 9, expected 2");
  CHECK(refused(saved.bytes.substr(0, 15)) == path + ": truncated after 15 bytes");
  for (std::size_t part = 1; part < 7; ++part)
    CHECK(contains(refused(saved.bytes.substr(0, saved.bytes.size() * part / 7)), path + ": damaged or truncated"));
  for (std::size_t part = 1; part < 7; ++part) {
    other = saved.bytes;
    other[saved.bytes.size() * part / 7] ^= 4;
    CHECK(contains(refused(other), path + ": damaged or truncated"));
  }
  CHECK(contains(refused(saved.bytes + '\0'), path + ": damaged or truncated"));
  CHECK(refused(saved.bytes).empty());
}

TEST_CASE("checkpoint: prefixes, with or without a matching checksum, are rejected and not read past the end") {
  const SavedLoop saved;
  const std::string& path = saved.file.path();
  auto loop = tiny_loop(momentum(), 0.1);
  for (std::size_t size = 0; size < 400; size += 3) {
    CAPTURE(size);
    saved.file.write(saved.bytes.substr(0, size));
    REQUIRE(contains(refusal(path, loop), path));
    saved.file.write(resealed(saved.bytes.substr(0, size)));
    REQUIRE(contains(refusal(path, loop), path));
  }
}

TEST_CASE("checkpoint: entries of another run are rejected") {
  const SavedLoop saved;
  const std::string& path = saved.file.path();
  const Tiny task;
  const auto loop = [&](const auto& model, const auto& rule, const auto& selector, const auto&... tail) {
    return refusal(path, TrainingLoop(model, task.loss(), rule, Constant{0.1}, selector, tail...));
  };
  const ShuffledEpochs epochs{.batch = 32};
  CHECK(loop(task.model(), momentum(), epochs).empty());
  CHECK(loop(mlp(Shape{28, 28, 1}, {13}, 10), momentum(), epochs) ==
        path + ": 'values/0.weight' has 9408 values, expected 10192");
  CHECK(contains(loop(mlp(Shape{28, 28, 1}, {12, 12}, 10), momentum(), epochs), path + ": "));
  CHECK(contains(loop(task.model(), adamw(), epochs), "expected 'rule/0.weight/exp_avg': it was written by another"));
  CHECK(contains(loop(task.model(), sgd(), epochs), ": it was written by another"));
  CHECK(contains(loop(task.model(), momentum(), WithReplacement{.batch = 32}), ": it was written by another"));
  CHECK(contains(loop(task.model(), momentum(), epochs, Adasum<>{}, InProcess{2}), ": it was written by another"));
  CHECK(loop(task.model(), momentum(), epochs, Host<double>{}) ==
        path + ": 'values/0.weight' has another element type");
  CHECK(loop(task.model(), momentum(), ShuffledEpochs{.batch = 32, .seed = 2}) ==
        "checkpoint: the selector's seed was 1, now it is 2");
  CHECK(loop(task.model(), momentum(), ShuffledEpochs{.batch = 31}) == "checkpoint: the batch was 32, now it is 31");

  auto small = tiny_loop(momentum(), 0.1);
  CHECK(sentence([&] {
          small.start(task.validation());
          load_checkpoint(path, small);
        }) == "checkpoint: the data set had 256 examples, now it has 64");
}

TEST_CASE("checkpoint: entries after the last are rejected, unknown sections are accepted") {
  const SavedLoop saved;
  const std::string body = saved.bytes.substr(0, saved.bytes.size() - 12);  // without the end mark and the checksum
  const std::string end(4, '\0'), section = std::string("\1\0\0\0x\1\0\0\0\0\0\0\0y", 14);
  saved.file.write(resealed(body + end));
  CHECK(refusal(saved.file.path()).empty());
  saved.file.write(resealed(body + section + end));
  CHECK(refusal(saved.file.path()).empty());
  saved.file.write(resealed(body + end + section));
  CHECK(contains(refusal(saved.file.path()), ": damaged at offset "));

  auto loop = tiny_loop(momentum(), 0.1);
  loop.start(Tiny{}.train());
  CheckpointWriter more, none;
  std::uint64_t number = 7;
  more.section("state", [&](auto& archive) {
    loop.visit(archive);
    archive.number("more", number);
  });
  more.write(saved.file.path());
  CHECK(refusal(saved.file.path()) ==
        saved.file.path() + ": holds more than this run has: it was written by another run");
  none.section("other", [&](auto& archive) { archive.number("more", number); });
  none.write(saved.file.path());
  CHECK(refusal(saved.file.path()) == saved.file.path() + ": has no section 'state'");
}

TEST_CASE("checkpoint: a file that does not fit leaves the loop unchanged") {
  const Tiny task;
  const SavedLoop saved;
  // The file fits up to the selector's position, which comes last, after the parameters, the rule and the clocks.
  std::string bytes = saved.bytes.substr(0, saved.bytes.size() - 8);
  const std::size_t position = bytes.find("selector/position") + std::strlen("selector/position") + 1 + 8;
  bytes[position + 1] = 9;  // 256 * 9 + 96
  saved.file.write(resealed(bytes));
  for (const bool started : {false, true}) {
    auto loop = tiny_loop(momentum(), 0.1), same = tiny_loop(momentum(), 0.1);
    for (int i = 0; started && i < 5; ++i) {
      loop.step(task.train());
      same.step(task.train());
    }
    CHECK(contains(sentence([&] { load_checkpoint(saved.file.path(), loop); }), "position is 2400"));
    CHECK(loop.steps() == same.steps());
    for (int i = 0; i < 2; ++i) {
      loop.step(task.train());
      same.step(task.train());
    }
    CHECK(same_values(loop, same));
    CHECK(loop.last().loss == same.last().loss);
    CHECK(loop.last().examples == same.last().examples);
  }
}

TEST_CASE("checkpoint: load_checkpoint reads files of loops and of runs, before and after the loop has its data") {
  const Tiny task;
  const TemporaryFile of_loop, of_run;
  auto first = tiny_loop(momentum(), 0.1);
  std::vector<EvaluationReport> found;
  first.run(task.train(), Evaluate(task, {.every = 2}), History{found}, Checkpoints(of_run.path(), {.every = 9}),
            UntilStep{10});
  save_checkpoint(of_loop.path(), first);
  auto expected = tiny_loop(momentum(), 0.1);
  expected.run(task.train(), UntilStep{12});
  for (const TemporaryFile* const file : {&of_loop, &of_run})
    for (const bool started : {false, true}) {
      auto loop = tiny_loop(momentum(), 0.1);
      if (started) loop.step(task.train());
      load_checkpoint(file->path(), loop);
      CHECK(loop.steps() == 10);
      CHECK(loop.last().loss == first.last().loss);
      loop.run(task.train(), UntilStep{12});
      CHECK(same_values(loop, expected));
    }
  auto loop = tiny_loop(momentum(), 0.1);
  load_checkpoint(of_run.path(), loop);
  CHECK(sentence([&] { loop.step(task.validation()); }) ==
        "TrainingLoop: the data set has 64 examples, when training started it had 256");

  // A checkpoint saved before the first step stores no data size: loading it restarts the loop, with any data set.
  auto unused = tiny_loop(momentum(), 0.1);
  save_checkpoint(of_loop.path(), unused);
  load_checkpoint(of_loop.path(), loop);
  CHECK(loop.steps() == 0);
  loop.run(task.train(), UntilStep{12});
  CHECK(same_values(loop, expected));
}

TEST_CASE("checkpoint: a run resumes from a file written with different observers") {
  const Tiny task;
  const TemporaryFile file, csv;
  const Evaluate evaluate(task, {.every = 2});
  const auto checkpoints = [&] { return Checkpoints(file.path(), {.every = 100}); };
  std::vector<EvaluationReport> a, b, c, d;
  auto first = tiny_loop(momentum(), 0.1), second = tiny_loop(momentum(), 0.1), third = tiny_loop(momentum(), 0.1);
  first.run(task.train(), evaluate, History{a}, checkpoints(), UntilStep{4});
  // One more observer with a state, and a second observer of the same name.
  second.run(task.train(), evaluate, checkpoints(), CsvLog(csv.path()), History{b}, History{c}, UntilStep{6});
  CHECK(second.steps() == 6);
  CHECK(b.size() == 3);
  CHECK(c.size() == 1);
  // Fewer observers.
  third.run(task.train(), evaluate, History{d}, checkpoints(), UntilStep{8});
  CHECK(third.steps() == 8);
  CHECK(d.size() == 4);
  // A file saved by save_checkpoint, without observers.
  save_checkpoint(file.path(), third);
  auto fourth = tiny_loop(momentum(), 0.1);
  const RunReport report = fourth.run(task.train(), evaluate, History{d}, checkpoints(), UntilStep{9});
  CHECK(fourth.steps() == 9);
  CHECK(report.best.step == 9);
}

TEST_CASE("checkpoint: the best evaluation by a different metric is discarded") {
  const Tiny task;
  const TemporaryFile file;
  const auto run = [&](const auto& evaluate, std::uint64_t steps) {
    auto loop = tiny_loop(adamw(), 1e-3);
    return loop.run(task.train(), evaluate, Checkpoints(file.path()), UntilStep{steps});
  };
  struct ByEntropy : Tiny {
    static constexpr auto metric() { return CrossEntropy{}; }
  };
  CHECK(run(Evaluate(task, {.every = 2}), 4).best.step <= 4);
  const RunReport report = run(Evaluate(ByEntropy{}, {.every = 1}), 5);
  CHECK(report.best.step == 5);
  CHECK(std::string(report.best.metric_name) == "cross-entropy");
  CHECK(run(Evaluate(ByEntropy{}, {.every = 1}), 5).best.metric == report.best.metric);
}

TEST_CASE("load_values: loads only the parameters, by name, into a loop with a different rule") {
  const Tiny task;
  const TemporaryFile of_loop, of_run;
  auto first = tiny_loop(momentum(), 0.1);
  first.run(task.train(), Checkpoints(of_run.path()), UntilStep{3});
  save_checkpoint(of_loop.path(), first);
  for (const TemporaryFile* const file : {&of_loop, &of_run}) {
    // The tensors of this loop are in a different order.
    auto other = tiny_loop(
        partition([](const TensorSpec& tensor) { return tensor.kind == Kind::bias; }, sgd(), otherwise, adamw()), 0.1,
        InProcess{2}, Mean{});
    load_values(file->path(), other);
    for (const TensorHandle handle : first.layout().tensors()) {
      const std::string name = first.layout().spec(handle).name;
      const TensorPlace from = first.layout().place_of(handle);
      const TensorPlace to = other.layout().place_of(other.layout().find(name));
      CHECK(std::equal(first.values() + from.offset, first.values() + from.offset + from.size,
                       other.values() + to.offset));
    }
    CHECK(other.steps() == 0);
  }
  const auto refused = [&](const auto& model) {
    TrainingLoop loop(model, task.loss(), sgd(), Constant{0.1}, ShuffledEpochs{.batch = 32});
    const auto before = values_of(loop);
    const std::string said = sentence([&] { load_values(of_run.path(), loop); });
    CHECK(same_bits(values_of(loop), before));
    return said;
  };
  const std::string path = of_run.path();
  CHECK(refused(mlp(Shape{28, 28, 1}, {13}, 10)) == path + ": 'values/0.weight' has 9408 values, expected 10192");
  CHECK(refused(mlp(Shape{28, 28, 1}, {12, 10}, 10)) == path + ": has no parameters '4.weight'");
  CHECK(refused(linear_model(Shape{28, 28, 1}, 12)) == path + ": holds 4 tensors, the model has 2");
}

TEST_CASE("load_values: loads some tensors into a model with a different head") {
  const Tiny task;
  const TemporaryFile file;
  auto first = tiny_loop(momentum(), 0.1);
  first.run(task.train(), UntilStep{3});
  save_checkpoint(file.path(), first);
  TrainingLoop other(mlp(Shape{28, 28, 1}, {12}, 13), task.loss(), adamw(), Constant{0.1}, ShuffledEpochs{.batch = 32});
  const auto before = values_of(other);
  const auto body = [](const TensorSpec& tensor) { return !tensor.output; };
  load_values(file.path(), other, body);
  const auto span = [](const auto& values) { return std::vector<float>(values.begin(), values.end()); };
  CHECK(span(other.values("0.weight")) == span(first.values("0.weight")));
  CHECK(span(other.values("0.bias")) == span(first.values("0.bias")));
  const TensorPlace head = other.layout().place_of(other.layout().find("2.weight"));
  CHECK(std::equal(other.values() + head.offset, other.values() + head.offset + head.size,
                   before.begin() + static_cast<std::ptrdiff_t>(head.offset)));
  const auto after = values_of(other);
  CHECK(sentence([&] { load_values(file.path(), other, [](const TensorSpec&) { return true; }); }) ==
        file.path() + ": 'values/2.weight' has 120 values, expected 156");
  CHECK(sentence([&] { load_values(file.path(), other, Named{"7."}); }) ==
        file.path() + ": no tensor of the model was selected");
  CHECK(same_bits(values_of(other), after));
}

TEST_CASE("BestCheckpoint keeps the best parameters next to the last checkpoint, also after resuming") {
  const Tiny task;
  const TemporaryFile best, last;
  const auto loss_of = [&](const TemporaryFile& file) {
    auto loop = tiny_loop(momentum(), 0.05);
    load_values(file.path(), loop);
    return loop.evaluate(task.validation(), CrossEntropy{}).metric;
  };
  const auto run = [&](double rate, std::uint64_t steps) {
    auto loop = tiny_loop(momentum(), rate);
    return loop.run(task.train(), Evaluate(task.validation(), CrossEntropy{}, {.every = 4}),
                    BestCheckpoint(best.path()), Checkpoints(last.path()), UntilStep{steps});
  };
  const RunReport first = run(0.05, 60);
  CHECK(loss_of(best) == first.best.metric);
  CHECK(loss_of(last) > first.best.metric);  // the run overfits or fluctuates
  const RunReport second = run(0.05, 68);
  CHECK(loss_of(best) == second.best.metric);
  CHECK(second.best.metric <= first.best.metric);
}

TEST_CASE("checkpoint: loaded in begin, before the first step") {
  const Tiny task;
  const TemporaryFile file;
  auto first = tiny_loop(momentum(), 0.1), second = tiny_loop(momentum(), 0.1);
  first.run(task.train(), Checkpoints(file.path(), {.every = 4}), UntilStep{4});
  std::vector<std::uint64_t> seen;
  second.run(task.train(), Checkpoints(file.path(), {.every = 100}),
             AfterStep{[&](std::uint64_t t) { seen.push_back(t); }}, UntilStep{6});
  // The run that saved the file had one observer fewer. The additional observer has no state.
  CHECK(seen == std::vector<std::uint64_t>{5, 6});
  auto third = tiny_loop(momentum(), 0.1);
  third.run(task.train(), Checkpoints(file.path(), {.every = 100, .resume = Resume::never}), UntilStep{1});
  CHECK(third.steps() == 1);
}

TEST_CASE("checkpoint: sizes that a section of the report or of an observer declares allocate no memory") {
  const Tiny task;
  const TemporaryFile file, log;
  std::vector<EvaluationReport> found;
  const auto run = [&](std::uint64_t steps) {
    auto loop = tiny_loop(momentum(), 0.1);
    loop.run(task.train(), Evaluate(task, {.every = 1, .last = false}), History{found}, CsvLog(log.path()),
             Checkpoints(file.path(), {.announce = false}), UntilStep{steps});
  };
  run(2);
  CHECK(found.size() == 2);
  const std::string whole = file.read(), body = whole.substr(0, whole.size() - 8);
  const auto declared = [&](const std::string& section, const std::string& entry) {
    std::string bytes = body;
    std::size_t at = bytes.find(section);
    REQUIRE(at != std::string::npos);
    at = bytes.find(entry, at);
    REQUIRE(at != std::string::npos);
    bytes[at + entry.size() + 1 + 8 + 5] = 1;  // after the type and the count: sizes of 2^40 and more
    file.write(resealed(bytes));
    return sentence([&] { run(3); });
  };
  CHECK(contains(declared("report", "metric_size"), "'metric' has 5 values, expected 1099511627781"));
  CHECK(contains(declared("observer CsvLog", "size"), " values, expected 10995116"));
  CHECK(contains(declared("observer History", "size"), "ends before 'step'"));
  CHECK(found.size() == 2);  // unchanged
  file.write(whole);
  run(3);
  CHECK(found.size() == 3);
}
