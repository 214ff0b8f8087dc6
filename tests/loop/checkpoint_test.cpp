#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// A checkpoint of three steps, and its bytes.
struct Saved {
  TemporaryFile file;
  std::string bytes;
  Saved() {
    auto loop = tiny_loop(momentum(), 0.1);
    for (int i = 0; i < 3; ++i) loop.step(Tiny{}.train());
    save_checkpoint(file.path(), loop);
    bytes = file.read();
  }
};

// What a loop says of the file.
template <class Loop>
std::string refusal(const std::string& path, Loop&& loop) {
  return sentence([&] {
    loop.start(Tiny{}.train());
    load_checkpoint(path, loop);
  });
}

std::string refusal(const std::string& path) { return refusal(path, tiny_loop(momentum(), 0.1)); }

// The same bytes with a checksum that fits: what only a careful forger would write.
std::string resealed(std::string body) {
  const std::uint64_t sum = detail::fnv1a(body, body.size());
  body.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return body;
}

}  // namespace

TEST_CASE("checkpoint: what was saved is loaded, and saved again to the byte") {
  const Saved saved;
  auto loop = tiny_loop(momentum(), 0.1);
  CHECK(refusal(saved.file.path(), loop).empty());
  CHECK(loop.steps() == 3);
  const TemporaryFile again;
  save_checkpoint(again.path(), loop);
  CHECK(again.read() == saved.bytes);
}

TEST_CASE("checkpoint: missing, foreign and damaged files are refused") {
  const Saved saved;
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
  CHECK(refused(other) == path + ": checkpoint format 9, expected 1");
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

TEST_CASE("checkpoint: every prefix and every forged prefix is refused, never read past its end") {
  const Saved saved;
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

TEST_CASE("checkpoint: entries of another run are refused") {
  const Saved saved;
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
  CHECK(loop(task.model(), momentum(), epochs, Host<double>{}) == path + ": 'values/0.weight' has another number type");
  CHECK(loop(task.model(), momentum(), ShuffledEpochs{.batch = 32, .seed = 2}) ==
        "checkpoint: the selector's seed was 1, now it is 2");
  CHECK(loop(task.model(), momentum(), ShuffledEpochs{.batch = 31}) == "checkpoint: the batch was 32, now it is 31");

  auto small = tiny_loop(momentum(), 0.1);
  CHECK(sentence([&] {
          small.start(task.validation());
          load_checkpoint(path, small);
        }) == "ShuffledEpochs: the archive is of 256 examples, expected 64");
}

TEST_CASE("checkpoint: entries after the last are refused") {
  const Saved saved;
  const std::string body = saved.bytes.substr(0, saved.bytes.size() - 12);  // without the end mark and the checksum
  const std::string end(4, '\0'), entry = std::string("\1\0\0\0x\1\1\0\0\0\0\0\0\0y", 15);
  saved.file.write(resealed(body + end));
  CHECK(refusal(saved.file.path()).empty());
  const std::string more = saved.file.path() + ": holds more than this run has: it was written by another run";
  saved.file.write(resealed(body + entry + end));
  CHECK(refusal(saved.file.path()) == more);
  saved.file.write(resealed(body + end + entry));
  CHECK(refusal(saved.file.path()) == more);
}

TEST_CASE("checkpoint: a place that cannot be written") {
  const Tiny task;
  const std::string path = "/nonexistent/run.checkpoint";
  auto loop = tiny_loop(momentum(), 0.1);
  CHECK(sentence([&] { loop.run(task.train(), Checkpoints(path, {.every = 2}), UntilStep{9}); }) ==
        path + ": cannot be written: No such file or directory");
  CHECK(loop.steps() == 2);
}

TEST_CASE("checkpoint: a folder without write permission keeps the old file") {
  if (geteuid() == 0) {
    MESSAGE("skipped: root may write anywhere");
    return;
  }
  char folder[] = "/tmp/algoperf_test_XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string path = std::string(folder) + "/file";
  auto loop = tiny_loop(momentum(), 0.1);
  save_checkpoint(path, loop);
  chmod(folder, 0500);
  CHECK(sentence([&] { save_checkpoint(path, loop); }) == path + ": cannot be written: Permission denied");
  CHECK(refusal(path).empty());
  chmod(folder, 0700);
  std::remove(path.c_str());
  rmdir(folder);
}

TEST_CASE("checkpoint: loaded in begin, before the first step") {
  const Tiny task;
  const TemporaryFile file;
  auto first = tiny_loop(momentum(), 0.1), second = tiny_loop(momentum(), 0.1);
  first.run(task.train(), Checkpoints(file.path(), {.every = 4}), UntilStep{4});
  std::vector<std::uint64_t> seen;
  second.run(task.train(), Checkpoints(file.path(), {.every = 100}),
             AfterStep{[&](std::uint64_t t) { seen.push_back(t); }}, UntilStep{6});
  // The run that saved had one observer more or less, none of them with a state.
  CHECK(seen == std::vector<std::uint64_t>{5, 6});
  auto third = tiny_loop(momentum(), 0.1);
  third.run(task.train(), Checkpoints(file.path(), {.every = 100, .resume = false}), UntilStep{1});
  CHECK(third.steps() == 1);
}
