#include "algoperf/tuning/worker_pool.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

template <class Function>
std::map<std::size_t, ap::TaskResult> pool_results(std::size_t count, std::size_t jobs, const Function& function) {
  std::vector<std::size_t> tasks(count);
  std::iota(tasks.begin(), tasks.end(), std::size_t{0});
  std::map<std::size_t, ap::TaskResult> results;
  ap::run_in_processes(tasks, jobs, function,
                       [&](const ap::TaskResult& result) { CHECK(results.emplace(result.task, result).second); });
  CHECK(results.size() == count);
  CHECK((::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD));  // no process is left
  return results;
}

}  // namespace

TEST_CASE("each task runs once, in one of the processes, and its result arrives whole") {
  for (const std::size_t jobs : {0u, 1u, 3u}) {
    std::set<std::string> processes;
    const auto results = pool_results(
        50, jobs, [](std::size_t task) { return std::string(task * 3000, 'x') + "," + std::to_string(::getpid()); });
    for (const auto& [task, result] : results) {
      CHECK(result.failure.empty());
      CHECK(result.value.find(',') == task * 3000);
      processes.insert(result.value.substr(task * 3000 + 1));
    }
    CHECK(processes.size() <= (jobs == 0 ? 1 : jobs));
    CHECK(processes.contains(std::to_string(::getpid())) == (jobs == 0));
  }
  CHECK(pool_results(0, 2, [](std::size_t) { return std::string(); }).empty());
}

TEST_CASE("a task that throws, exits or crashes is a result, and the others run") {
  const auto results = pool_results(20, 2, [](std::size_t task) -> std::string {
    if (task == 3) throw std::runtime_error("no luck");
    if (task == 5) ::_exit(7);
    if (task == 7 || task == 8) ::raise(SIGKILL);
    if (task == 9) throw 3;
    if (task == 11) throw std::runtime_error("");
    return "fine";
  });
  CHECK(results.at(3).failure == "no luck");
  CHECK(results.at(5).failure == "the process exited with status 7");
  CHECK(results.at(7).failure == "the process was ended by signal 9 (Killed)");
  CHECK(results.at(8).failure == results.at(7).failure);
  CHECK(results.at(9).failure == "an exception that is not a std::exception");
  CHECK(results.at(11).failure == "an exception without a message");
  for (const auto& [task, result] : results)
    if (result.failure.empty()) CHECK(result.value == "fine");
  CHECK(results.at(19).failure.empty());
}

TEST_CASE("in this process, an exception is a result") {
  const auto results = pool_results(4, 0, [](std::size_t task) -> std::string {
    if (task == 0) throw std::runtime_error("no luck");
    if (task == 2) throw std::runtime_error("");
    if (task == 3) throw 42;
    return "fine";
  });
  CHECK(results.at(0).failure == "no luck");
  CHECK(results.at(1).value == "fine");
  CHECK(results.at(2).failure == "an exception without a message");
  CHECK(results.at(3).failure == "an exception that is not a std::exception");
}

TEST_CASE("an error of the caller ends all processes") {
  const std::string error = sentence([] {
    ap::run_in_processes(
        {0, 1, 2}, 2,
        [](std::size_t task) -> std::string {
          if (task > 0) ::pause();
          return {};
        },
        [](const ap::TaskResult&) { ap::fail("enough"); });
  });
  CHECK(error == "enough");
  CHECK((::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD));
}
