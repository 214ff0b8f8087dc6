// Runs in processes that are killed or interrupted.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "in_child.hpp"
#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

constexpr std::uint64_t total = 60;

// A loop with importance sampling and averaged weights, so that every kind of state is in the checkpoint.
auto make_loop() {
  return TrainingLoop(Tiny::model(), Tiny::loss(), chain(Adam{}, Descend{}, WeightAverage{.decay = 0.9}),
                      Constant{1e-3}, LossProportional{.batch = 24});
}

template <class Loop, class... Observers>
RunReport train(Loop& loop, const std::string& path, std::uint64_t every, Observers&&... observers) {
  const Tiny task;
  return loop.run(task.train(), Evaluate(task, {.every = 20}), observers..., Checkpoints(path, {.every = every}),
                  UntilStep{total});
}

// Limits the size of files: a write that extends a file beyond `bytes` ends this process by SIGXFSZ.
void die_at_byte(rlim_t bytes) {
  const rlimit no_core{0, 0}, limit{bytes, bytes};
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, SIG_DFL);
}

struct Expected {
  decltype(make_loop()) loop = make_loop();
  RunReport report;
  Expected() {
    const TemporaryFile file;
    report = train(loop, file.path(), 1000);
  }
};

}  // namespace

TEST_CASE("a run killed at random steps ends with the same bits as an uninterrupted run") {
  Expected expected;
  const TemporaryFile file;
  RandomStream random(RandomKey{7});
  int killed = 0;
  for (std::uint64_t last = 0; last < total;) {
    last += 5 + random.below(12);
    const int status = in_child(
        [&] {
          auto loop = make_loop();
          train(loop, file.path(), 3, AfterStep{[&](std::uint64_t t) {
                  if (t >= last) raise(SIGKILL);
                }});
        },
        nothing);
    if (WIFSIGNALED(status)) ++killed;
  }
  CHECK(killed >= 3);
  auto resumed = make_loop();
  const RunReport report = train(resumed, file.path(), 3);
  CHECK(same_values(resumed, expected.loop));
  CHECK(same_report(report, expected.report));
}

TEST_CASE("a run killed 200 times, also while it writes, ends with the same bits as an uninterrupted run") {
  const Tiny task;
  const TemporaryFile file;
  RandomStream random(RandomKey{8});
  const auto until = [&](auto& loop, std::uint64_t step) {
    return loop.run(task.train(), Evaluate(task, {.every = 20}),
                    Checkpoints(file.path(), {.every = 1, .announce = false}), UntilStep{step});
  };
  const auto version = [&] {  // the file's modification time, which changes with each checkpoint
    struct stat found {};
    return stat(file.path().c_str(), &found) == 0 ? found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec : 0;
  };
  const auto train_for_ever = [&] {
    auto loop = make_loop();
    until(loop, 1'000'000);
  };
  const std::string temporary = file.path() + ".tmp";
  for (int killed = 0; killed < 200; ++killed) {
    if (killed % 4 == 3) {  // kill while the file is written, at a random byte
      const auto size = static_cast<std::uint32_t>(std::filesystem::file_size(file.path()));
      const std::uint32_t bytes = 1 + random.below(size - 1);
      const int status = in_child(
          [&] {
            die_at_byte(bytes);
            train_for_ever();
          },
          nothing);
      REQUIRE(WIFSIGNALED(status));
      REQUIRE(WTERMSIG(status) == SIGXFSZ);
      REQUIRE(std::filesystem::file_size(temporary) == bytes);
      continue;
    }
    const auto before = version();
    const int status = in_child(train_for_ever, [&](pid_t pid) {
      while (version() == before && waitpid(pid, nullptr, WNOHANG) == 0) usleep(200);
      usleep(random.below(3000));
      kill(pid, SIGKILL);
    });
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGKILL);
  }
  auto last = make_loop();
  load_checkpoint(file.path(), last);
  CHECK(last.steps() >= 150);
  const std::uint64_t end = last.steps() + 3;
  auto resumed = make_loop(), whole = make_loop();
  until(resumed, end);
  CHECK(access(temporary.c_str(), F_OK) != 0);  // the temporary file of the killed process is removed
  std::remove(file.path().c_str());
  until(whole, end);
  CHECK(same_values(resumed, whole));
}

TEST_CASE("Ctrl-C saves a checkpoint, and a second run resumes from it") {
  for (const int signal : {SIGINT, SIGTERM}) {
    Expected expected;
    const TemporaryFile file;
    auto first = make_loop(), second = make_loop();
    const RunReport report = train(first, file.path(), 1000, AfterStep{[&](std::uint64_t t) {
                                     if (t == 17) raise(signal);
                                   }});
    CHECK(report.reason == Control::interrupted);
    CHECK(std::string(describe(report.reason)) == "interrupted");
    CHECK(report.last.now.t == 17);
    CHECK(file.exists());
    CHECK(same_report(train(second, file.path(), 1000), expected.report));
    CHECK(same_values(second, expected.loop));
  }
}

TEST_CASE("a second Ctrl-C ends the process") {
  const TemporaryFile file;
  const int status = in_child(
      [&] {
        auto loop = make_loop();
        train(loop, file.path(), 1000, AfterStep{[](std::uint64_t) {
                raise(SIGINT);
                raise(SIGINT);
              }});
      },
      nothing);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
}

TEST_CASE("the previous signal handlers are restored, however a run ends") {
  const auto handler = [](int) {};
  struct sigaction mine {
  }, before{}, found{};
  mine.sa_handler = handler;
  sigaction(SIGINT, &mine, &before);
  const TemporaryFile file;
  const auto is_back = [&] {
    sigaction(SIGINT, nullptr, &found);
    return found.sa_handler == mine.sa_handler;
  };
  auto loop = make_loop();
  train(loop, file.path(), 1000, AfterStep{[&](std::uint64_t t) {
          if (t == 2) CHECK(!is_back());
        }});
  CHECK(is_back());

  std::remove(file.path().c_str());
  auto throws = make_loop();
  CHECK_THROWS_AS(train(throws, file.path(), 1000, AfterStep{[](std::uint64_t) { fail("stop"); }}), Error);
  CHECK(is_back());

  file.write("not a checkpoint");
  auto refuses = make_loop();
  CHECK_THROWS_AS(train(refuses, file.path(), 1000), Error);
  CHECK(is_back());
  sigaction(SIGINT, &before, nullptr);
}

TEST_CASE("a signal that the process ignores stays ignored, and interrupted system calls are restarted") {
  struct sigaction ignore {
  }, before{}, found{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &before);
  const TemporaryFile file;
  auto loop = make_loop();
  const RunReport report = train(loop, file.path(), 1000, AfterStep{[&](std::uint64_t t) {
                                   if (t != 3) return;
                                   raise(SIGINT);
                                   sigaction(SIGTERM, nullptr, &found);
                                 }});
  CHECK(report.reason == Control::budget_spent);
  CHECK((found.sa_handler != SIG_DFL));
  CHECK((found.sa_flags & SA_RESTART) != 0);
  sigaction(SIGINT, nullptr, &found);
  CHECK((found.sa_handler == SIG_IGN));
  sigaction(SIGINT, &before, nullptr);
}

TEST_CASE("two checkpoint files in one run: one signal stops it, and the previous signal handlers are restored") {
  const auto handler = [](int) {};
  struct sigaction mine {
  }, before{}, found{};
  mine.sa_handler = handler;
  sigaction(SIGINT, &mine, &before);
  const Tiny task;
  const TemporaryFile one, two;
  auto loop = make_loop();
  const RunReport report =
      loop.run(task.train(), Checkpoints(one.path()), Checkpoints(two.path()), AfterStep{[](std::uint64_t t) {
                 if (t == 3) raise(SIGINT);
               }},
               UntilStep{9});
  sigaction(SIGINT, nullptr, &found);
  CHECK((found.sa_handler == mine.sa_handler));
  CHECK(report.reason == Control::interrupted);
  CHECK(one.read() == two.read());
  sigaction(SIGINT, &before, nullptr);
}
