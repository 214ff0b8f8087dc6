// TaskRunner: runs the trials of a study elsewhere than in processes forked from this one. RankRunner (rank_runner.hpp)
// runs them on the ranks of MPI.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "journal.hpp"
#include "worker_pool.hpp"

namespace algoperf {

// If several processes run the same study together, one is its root. All call the same functions in the same order. The
// root alone writes the journal, and all get all results.
class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  virtual bool is_root() const = 0;
  // Returns the number of tasks that run at a time.
  virtual std::size_t jobs() const = 0;
  // Called by all processes. Sets `text` to that of the root, or, if the root's `failure` is not empty, throws Error in
  // the others.
  virtual void share(std::string& text, const std::string& failure) = 0;
  // Calls function(task) for each task, somewhere, and done(result) in every process for each result. Throws Error in
  // all processes if done throws in the root.
  virtual void run(const std::vector<std::size_t>& tasks, const std::function<std::string(std::size_t)>& function,
                   const std::function<void(const TaskResult&)>& done) = 0;
};

// Whether this process writes journals and reports: without a runner, or as its root.
inline bool is_root(const std::shared_ptr<TaskRunner>& runner) { return !runner || runner->is_root(); }

namespace detail {

// Runs tasks by the runner or, without one, as run_in_processes does.
template <class Function, class Done>
void run_tasks(const std::shared_ptr<TaskRunner>& runner, std::size_t jobs, const std::vector<std::size_t>& tasks,
               const Function& function, const Done& done) {
  if (runner)
    runner->run(tasks, function, done);
  else
    run_in_processes(tasks, jobs, function, done);
}

// Opens the journal. The root alone reads and writes the file, and sends its contents to the others.
inline std::unique_ptr<Journal> open_journal(const std::shared_ptr<TaskRunner>& runner, const std::string& path,
                                             const Journal::Json& settings, bool sync) {
  std::string bytes;
  if (!is_root(runner)) {
    runner->share(bytes, {});
    return std::make_unique<Journal>(path, settings, bytes);
  }
  std::unique_ptr<Journal> journal;
  try {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder);
    journal = std::make_unique<Journal>(path, settings, JournalOptions{.sync = sync});
  } catch (...) {
    if (runner) runner->share(bytes, describe_exception());
    throw;
  }
  if (runner) {
    bytes = journal->bytes(settings);
    runner->share(bytes, {});
  }
  return journal;
}

}  // namespace detail

}  // namespace algoperf
