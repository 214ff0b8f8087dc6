#include "algoperf/loop/observers/tensorboard.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>

#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// Returns how often each tag occurs in the event files of a folder.
std::map<std::string, int> tags_in(const std::string& folder) {
  std::map<std::string, int> counts;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string bytes = bytes_of(file.path());
    for (const char* const tag :
         {"train/loss", "train/learning_rate", "train/gradient_norm", "evaluation/loss", "evaluation/error",
          "evaluation_1/error", "time/training_seconds", "time/evaluation_seconds"})
      for (std::size_t at = 0; (at = bytes.find(tag, at)) != std::string::npos; ++at) ++counts[tag];
  }
  return counts;
}

}  // namespace

TEST_CASE("TensorBoard gets the curves of steps and of evaluations") {
  const Folder folder;
  const Tiny task;
  auto loop = tiny_loop(sgd(), 0.25);
  loop.run(task.train(), Evaluate{task, {.every = 4}}, Evaluate{task, {.every = 6}},
           TensorBoard(folder / "run", {.every = 2, .gradient_norm = true}), UntilStep{12});
  CHECK(tags_in(folder / "run") == std::map<std::string, int>{{"train/loss", 6},
                                                              {"train/learning_rate", 6},
                                                              {"train/gradient_norm", 6},
                                                              {"evaluation/loss", 3},
                                                              {"evaluation/error", 3},
                                                              {"evaluation_1/error", 2},
                                                              {"time/training_seconds", 3},
                                                              {"time/evaluation_seconds", 3}});
}

TEST_CASE("a resumed run adds a file that replaces later points; without the option, no norm is measured") {
  const Folder folder;
  const Tiny task;
  auto loop = tiny_loop(sgd(), 0.25);
  loop.run(task.train(), TensorBoard(folder / "run"), UntilStep{3});
  loop.run(task.train(), TensorBoard(folder / "run"), UntilStep{5});
  CHECK(tags_in(folder / "run") == std::map<std::string, int>{{"train/loss", 5}, {"train/learning_rate", 5}});
  int files = 0, restarts = 0, first_steps = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder / "run")) {
    ++files;
    const auto starts_at = [bytes = bytes_of(file.path())](const std::string& step) {  // of a session
      return bytes.find("\x10" + step + "\x3a\x02\x08\x01") != std::string::npos;
    };
    restarts += starts_at("\x04");
    first_steps += starts_at("\x01");
  }
  CHECK(files == 2);
  CHECK(restarts == 1);
  CHECK(first_steps == 0);
}

TEST_CASE("options of TensorBoard that are out of range, and folders that cannot be made, are refused") {
  CHECK(sentence([] { TensorBoard("x", {.every = 0}); }) == "TensorBoardOptions: every is 0, expected at least 1");
  const Folder folder;
  folder.write("f", "");
  const Tiny task;
  auto loop = tiny_loop(sgd(), 0.25);
  CHECK(sentence([&] {
          loop.run(task.train(), TensorBoard(folder / "f/g"), UntilStep{1});
        }).starts_with(folder / "f/g: cannot be made ("));
  CHECK(loop.steps() == 0);
}
