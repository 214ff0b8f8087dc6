// Studies whose trials run on the ranks of MPI.
#include "algoperf/tuning/rank_runner.hpp"

#include <doctest/doctest.h>

#include <algoperf/combine/group/mpi.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../support/folder.hpp"
#include "../support/sentence.hpp"
#include "../tuning/batch_size/known_scaling.hpp"
#include "algoperf/tuning/batch_size/batch_size_scaling.hpp"
#include "algoperf/tuning/batch_size/scaling_curve.hpp"

namespace ap = algoperf;

namespace {

// A temporary folder that rank 0 makes and removes.
class SharedFolder {
 public:
  SharedFolder() : ranks_(ap::Mpi{}.connect()) {
    std::array<char, 256> path{};
    if (ranks_.is_root()) {
      own_.emplace();
      std::copy(own_->path().begin(), own_->path().end(), path.begin());
    }
    path_ = ranks_.all_gather(path)[0].data();
  }
  ~SharedFolder() { (void)ranks_.all_gather(0); }  // until no rank uses it

  const std::string& path() const { return path_; }
  const ap::Ranks& ranks() const { return ranks_; }

 private:
  ap::Ranks ranks_;
  std::optional<Folder> own_;
  std::string path_;
};

ap::BatchSizeScalingOptions options_in(const std::string& folder, std::shared_ptr<ap::TaskRunner> runner) {
  return {
      .folder = folder, .batch_sizes = ap::powers_of_two(16, 64), .trials = 6, .jobs = 0, .runner = std::move(runner)};
}
std::vector<double> measure(const ap::BatchSizeScalingOptions& options) {
  ap::BatchSizeScaling study(options);
  study.add(KnownScaling{.low = 1e-3, .high = 0.02}.entry());  // the best rates are above, so the space is widened
  const std::vector<ap::BatchScaling> found = study.run();
  std::vector<double> numbers;
  for (const ap::BatchStudy& each : found[0].studies)
    for (const ap::BatchTrial& trial : each.trials) {
      numbers.push_back(trial.point["learning_rate"]);
      for (const auto& measured : trial.measurements) numbers.push_back(static_cast<double>(measured.step));
    }
  return numbers;
}

}  // namespace

TEST_CASE("a study over ranks has the trials of a study in one process, on all ranks, and continues its journal") {
  const SharedFolder folder;
  const auto runner = std::make_shared<ap::RankRunner>();
  const std::vector<double> found = measure(options_in(folder.path() + "/ranks", runner));
  const std::string alone = folder.path() + "/alone_" + std::to_string(folder.ranks().rank());
  CHECK(found == measure(options_in(alone, nullptr)));
  CHECK(found.size() > 3 * 6);
  (void)folder.ranks().all_gather(0);
  // The second run finds all trials in the journal.
  const std::string journal = bytes_of(folder.path() + "/ranks/journal.jsonl");
  CHECK(measure(options_in(folder.path() + "/ranks", runner)) == found);
  CHECK(bytes_of(folder.path() + "/ranks/journal.jsonl") == journal);
  // Half of it, as if the study had been killed.
  if (folder.ranks().is_root()) {
    std::filesystem::create_directories(folder.path() + "/half");
    std::ofstream(folder.path() + "/half/journal.jsonl", std::ios::binary) << journal.substr(0, journal.size() / 2);
  }
  (void)folder.ranks().all_gather(0);
  CHECK(measure(options_in(folder.path() + "/half", runner)) == found);
}

TEST_CASE("tasks go to the rank that is free, failures are results, and an error of rank 0 ends all") {
  const SharedFolder folder;
  const std::size_t size = folder.ranks().size();
  ap::RankRunner runner;
  CHECK(runner.is_root() == folder.ranks().is_root());
  CHECK(runner.jobs() == (size == 1 ? 1 : size - 1));
  // Task 0 takes long; another rank, if there is one, does all others meanwhile.
  std::vector<std::size_t> tasks{0, 1, 2, 3, 4, 5, 6, 7}, mine;
  std::set<std::size_t> seen;
  runner.run(
      tasks,
      [&](std::size_t task) {
        mine.push_back(task);
        if (task == 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
        if (task == 3) ap::fail("task 3 fails");
        return std::string(100000 * task, 'x');
      },
      [&](const ap::TaskResult& result) {
        CHECK(seen.insert(result.task).second);
        CHECK(result.failure == (result.task == 3 ? "task 3 fails" : ""));
        CHECK(result.value.size() == (result.task == 3 ? 0 : 100000 * result.task));
      });
  CHECK(seen.size() == tasks.size());
  if (size >= 3 && std::find(mine.begin(), mine.end(), 0) != mine.end()) CHECK(mine.size() < tasks.size());
  if (size > 1 && runner.is_root()) CHECK(mine.empty());
  runner.run(
      {}, [](std::size_t) { return std::string(); }, [](const ap::TaskResult&) { FAIL("there is no task"); });

  const std::string where = runner.is_root() ? "" : "rank 0 of " + std::to_string(size) + ": ";
  CHECK(sentence([&] {
          runner.run(
              tasks, [](std::size_t) { return std::string(); },
              [&](const ap::TaskResult&) { ap::fail("the disk is full"); });
        }) == where + "the disk is full");
  std::string text = runner.is_root() ? std::string(300000, 'r') : "other";
  runner.share(text, "");
  CHECK(text == std::string(300000, 'r'));
  if (size > 1)
    CHECK(sentence([&] { runner.share(text, runner.is_root() ? "no journal" : ""); }) ==
          (runner.is_root() ? "" : where + "no journal"));
  // The ranks still work.
  std::size_t count = 0;
  runner.run(
      tasks, [](std::size_t) { return std::string(); }, [&](const ap::TaskResult&) { ++count; });
  CHECK(count == tasks.size());
}

TEST_CASE("a journal that rank 0 cannot open fails all ranks") {
  const SharedFolder folder;
  const auto runner = std::make_shared<ap::RankRunner>();
  if (folder.ranks().is_root()) std::ofstream(folder.path() + "/journal.jsonl") << "{\"journal\": 2}\n";
  (void)folder.ranks().all_gather(0);
  const std::string found = sentence([&] { (void)measure(options_in(folder.path(), runner)); });
  CHECK(found.find("journal.jsonl:1: field \"journal\" is not 1") != std::string::npos);
  CHECK(found.starts_with("rank 0 of ") == !folder.ranks().is_root());
}
