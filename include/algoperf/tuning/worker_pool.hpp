// run_in_processes: runs tasks in forked processes, so that a task that crashes is a result and not the end of a study.
// POSIX only.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "../core/error.hpp"

namespace algoperf {

struct TaskResult {
  std::size_t task = 0;
  std::string value;    // what the function returned
  std::string failure;  // empty, or the message of the exception, or how the process ended
};

namespace detail {

// Reads or writes all bytes; returns false at the end of the pipe.
inline bool read_all(int file, void* to, std::size_t n) {
  for (auto* at = static_cast<char*>(to); n > 0;) {
    const ssize_t got = ::read(file, at, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    n -= static_cast<std::size_t>(got);
  }
  return true;
}
inline bool write_all(int file, const void* from, std::size_t n) {
  for (auto* at = static_cast<const char*>(from); n > 0;) {
    const ssize_t put = ::write(file, at, n);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    n -= static_cast<std::size_t>(put);
  }
  return true;
}

// Returns the message of the exception that is being handled.
inline std::string describe_exception() {
  try {
    throw;
  } catch (const std::exception& error) {
    return *error.what() == 0 ? "an exception without a message" : error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

// What a worker sends before the bytes of a result.
struct ResultHeader {
  std::uint64_t bytes;
  std::uint64_t failed;
};

class WorkerPool {
 public:
  WorkerPool() = default;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool() {
    for (Worker& worker : workers_) end(worker, true);
  }

  // Forks a worker that calls function(task) for each task that it receives.
  template <class Function>
  void add(const Function& function) {
    int tasks[2], results[2];
    require(::pipe(tasks) == 0 && ::pipe(results) == 0, "run_in_processes: a pipe cannot be made (",
            std::strerror(errno), ")");
    std::fflush(nullptr);  // otherwise the worker would write what is buffered a second time
    const pid_t parent = ::getpid(), process = ::fork();
    require(process >= 0, "run_in_processes: a process cannot be started (", std::strerror(errno), ")");
    if (process > 0) {
      ::close(tasks[0]);
      ::close(results[1]);
      workers_.push_back({process, tasks[1], results[0]});
      return;
    }
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a worker does not outlive a study that is killed
    if (::getppid() != parent) ::_exit(0);
#else
    (void)parent;
#endif
    ::close(tasks[1]);
    ::close(results[0]);
    for (const Worker& other : workers_) ::close(other.tasks), ::close(other.results);
    serve(tasks[0], results[1], function);
  }

  std::size_t size() const { return workers_.size(); }
  // Returns the number of tasks that a worker has not finished.
  std::size_t load(std::size_t w) const { return workers_[w].tasks_given.size(); }
  bool any_busy() const {
    for (const Worker& worker : workers_)
      if (!worker.tasks_given.empty()) return true;
    return false;
  }
  // Gives a worker a task. A worker that has ended since then is noticed by next_result().
  void give(std::size_t w, std::size_t task) {
    const std::uint64_t number = task;
    workers_[w].tasks_given.push_back(task);
    struct sigaction ignore = {}, before = {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before);
    write_all(workers_[w].tasks, &number, sizeof number);
    ::sigaction(SIGPIPE, &before, nullptr);
  }

  // Waits for a result. Removes a worker that has crashed, so that the caller can add another, and adds the tasks that
  // it had not begun to `not_begun`.
  TaskResult next_result(std::vector<std::size_t>& not_begun) {
    std::vector<pollfd> files;
    std::vector<std::size_t> indices;
    for (std::size_t w = 0; w < workers_.size(); ++w)
      if (load(w) > 0) files.push_back({workers_[w].results, POLLIN, 0}), indices.push_back(w);
    while (::poll(files.data(), files.size(), -1) < 0)
      require(errno == EINTR, "run_in_processes: cannot wait for a result (", std::strerror(errno), ")");
    std::size_t i = 0;
    while (files[i].revents == 0) ++i;
    const std::size_t w = indices[i];
    Worker& worker = workers_[w];
    TaskResult result{worker.tasks_given.front(), {}, {}};
    worker.tasks_given.erase(worker.tasks_given.begin());
    ResultHeader header;
    if (read_all(worker.results, &header, sizeof header)) {
      std::string& text = header.failed != 0 ? result.failure : result.value;
      text.resize(header.bytes);
      if (read_all(worker.results, text.data(), text.size())) return result;
    }
    result.value.clear();
    result.failure = end(worker, false);
    not_begun.insert(not_begun.end(), worker.tasks_given.begin(), worker.tasks_given.end());
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(w));
    return result;
  }

 private:
  struct Worker {
    pid_t process;
    int tasks, results;                         // pipes
    std::vector<std::size_t> tasks_given = {};  // in order, without those whose results have been read
  };

  // The life of a worker.
  template <class Function>
  [[noreturn]] static void serve(int tasks, int results, const Function& function) {
    std::uint64_t task;
    while (read_all(tasks, &task, sizeof task)) {
      std::string text;
      ResultHeader header{};
      try {
        text = function(static_cast<std::size_t>(task));
      } catch (...) {
        text = describe_exception();
        header.failed = 1;
      }
      header.bytes = text.size();
      if (!write_all(results, &header, sizeof header) || !write_all(results, text.data(), text.size())) break;
    }
    std::fflush(nullptr);
    ::_exit(0);
  }

  // Closes a worker's pipes, waits for it, and returns how it ended.
  static std::string end(Worker& worker, bool kill) {
    ::close(worker.tasks);
    ::close(worker.results);
    if (kill && !worker.tasks_given.empty()) ::kill(worker.process, SIGKILL);
    int status = 0;
    while (::waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status))
      return "the process was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
             ::strsignal(WTERMSIG(status)) + ")";
    return "the process exited with status " + std::to_string(WEXITSTATUS(status));
  }

  std::vector<Worker> workers_;
};

}  // namespace detail

// Calls function(task), which returns a std::string, for each of the tasks, in up to `jobs` processes forked from this
// one, and done(result) here for each result as it arrives. A task fails if the function throws or the process ends;
// another process then takes over. With jobs = 0, tasks run in this process, where only exceptions are failures.
// Functions see the memory of this process as it was when run_in_processes was called. This process does not see the
// changes that they make, but a process runs several tasks, so keep no state in static variables. Do not use a GPU in
// this process before: its driver does not survive a fork. If done throws, all processes are ended.
template <class Function, class Done>
void run_in_processes(const std::vector<std::size_t>& tasks, std::size_t jobs, const Function& function,
                      const Done& done) {
  if (jobs == 0) {
    for (const std::size_t task : tasks) {
      TaskResult result{task, {}, {}};
      try {
        result.value = function(task);
      } catch (...) {
        result.failure = detail::describe_exception();
      }
      done(result);
    }
    return;
  }
  // Workers of short tasks get the next one ahead, so that they need not wait for this process. Long tasks are not
  // given ahead, because another worker may be free earlier.
  constexpr double short_seconds = 0.02;
  const auto start = std::chrono::steady_clock::now();
  const std::size_t count = tasks.size() < jobs ? tasks.size() : jobs;
  std::vector<std::size_t> waiting(tasks.rbegin(), tasks.rend());  // the last is the next
  std::size_t finished = 0;
  detail::WorkerPool pool;
  while (!waiting.empty() || pool.any_busy()) {
    while (pool.size() < count) pool.add(function);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const bool ahead = seconds.count() * static_cast<double>(count) < short_seconds * static_cast<double>(finished);
    for (std::size_t load = 0; load < (ahead ? 2u : 1u); ++load)
      for (std::size_t w = 0; w < count && !waiting.empty(); ++w) {
        if (pool.load(w) != load) continue;
        pool.give(w, waiting.back());
        waiting.pop_back();
      }
    std::vector<std::size_t> not_begun;
    const TaskResult result = pool.next_result(not_begun);
    waiting.insert(waiting.end(), not_begun.rbegin(), not_begun.rend());
    ++finished;
    done(result);
  }
}

}  // namespace algoperf
