#include "algoperf/backend/host/thread_pool.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../support/sanitizers.hpp"

using algoperf::ThreadPool;

namespace {

// Runs `tasks` tasks and counts how often each runs.
std::vector<int> visits(unsigned threads, std::size_t tasks) {
  std::vector<int> count(tasks);
  ThreadPool::instance().parallel_for(threads, tasks, [&](std::size_t i) { ++count[i]; });
  return count;
}

}  // namespace

TEST_CASE("every task runs once for every number of threads") {
  for (const unsigned threads : {0u, 1u, 2u, 3u, 8u})
    for (const std::size_t tasks : {0u, 1u, 2u, 3u, 1000u}) CHECK(visits(threads, tasks) == std::vector<int>(tasks, 1));
}

TEST_CASE("many short jobs in sequence with varying numbers of threads") {
  std::size_t sum = 0;
  for (unsigned job = 0; job < 20000; ++job) {
    std::atomic<std::size_t> done = 0;
    ThreadPool::instance().parallel_for(1 + job % 4, 5, [&](std::size_t i) { done += i; });
    sum += done;
  }
  CHECK(sum == 20000u * 10);
}

TEST_CASE("an exception of a task propagates to the caller, and the pool remains usable") {
  for (const unsigned threads : {1u, 2u, 4u})
    for (int again = 0; again < 50; ++again) {
      const auto job = [&] {
        ThreadPool::instance().parallel_for(threads, 20, [](std::size_t i) {
          if (i % 7 == 3) throw std::runtime_error("one of three");
        });
      };
      CHECK_THROWS_WITH_AS(job(), "one of three", std::runtime_error);
      CHECK(visits(threads, 50) == std::vector<int>(50, 1));
    }
}

TEST_CASE("two tasks run at the same time") {
  std::atomic<int> present = 0;
  ThreadPool::instance().parallel_for(2, 2, [&](std::size_t) {
    ++present;
    while (present < 2) std::this_thread::yield();
  });
  CHECK(present == 2);
}

TEST_CASE("a call from within a task runs on that task's thread") {
  std::vector<int> count(8 * 8);
  ThreadPool::instance().parallel_for(3, 8, [&](std::size_t i) {
    ThreadPool::instance().parallel_for(3, 8, [&, i](std::size_t j) { ++count[8 * i + j]; });
  });
  CHECK(count == std::vector<int>(64, 1));
}

TEST_CASE("callers on several threads share the pool") {
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) right += visits(3, 50) == std::vector<int>(50, 1);
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(right == 4 * 200);
}

#if !THREAD_SANITIZER  // it cannot start threads after a fork
TEST_CASE("a child process has a pool of its own") {
  for (int again = 0; again < 20; ++again) {
    CHECK(visits(4, 100) == std::vector<int>(100, 1));  // starts threads, which the child does not have
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      alarm(60);  // ends a child that hangs
      const bool right = visits(4, 100) == std::vector<int>(100, 1) && visits(2, 7) == std::vector<int>(7, 1);
      std::exit(right ? 0 : 1);  // joins the threads
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

TEST_CASE("a child process that is made while other threads use the pool has a pool of its own") {
  std::atomic<bool> stop = false;
  std::atomic<std::size_t> calls = 0;
  CHECK(visits(4, 1000) == std::vector<int>(1000, 1));  // starts the threads
  // Allocates nothing: AddressSanitizer does not release its locks in a child process.
  std::thread other([&] {
    while (!stop) ThreadPool::instance().parallel_for(4, 1000, [&](std::size_t) { ++calls; });
  });
  for (int again = 0; again < 50; ++again) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // ends a child whose pool has no threads
      std::atomic<int> on_others = 0;
      const auto caller = std::this_thread::get_id();
      while (on_others == 0)  // on a busy machine, the child's threads may start late
        ThreadPool::instance().parallel_for(4, 1000,
                                            [&](std::size_t) { on_others += std::this_thread::get_id() != caller; });
      _exit(0);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  stop = true;
  other.join();
  CHECK(calls >= 1000);
}
#endif
