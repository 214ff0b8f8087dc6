// Files that cannot be written: the error message names the file, and the old file is kept.
#include <doctest/doctest.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "in_child.hpp"
#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// Returns the error messages of two writers, one per line: of a checkpoint, and of the log of a run of one step.
std::string refusals(const std::string& checkpoint, const std::string& log) {
  const Tiny task;
  auto loop = tiny_loop(momentum(), 0.1);
  loop.start(task.train());
  const std::string first = sentence([&] { save_checkpoint(checkpoint, loop); });
  return first + '\n' +
         sentence([&] { loop.run(task.train(), Evaluate(task, {.every = 1}), CsvLog(log), UntilStep{1}); });
}

std::string expected_of(const std::string& checkpoint, const std::string& log, const std::string& reason) {
  return checkpoint + ": cannot be written: " + reason + '\n' + log + ": cannot be written: " + reason;
}

bool become_nobody() {
  constexpr unsigned nobody = 65534;
  return setgroups(0, nullptr) == 0 && setegid(nobody) == 0 && seteuid(nobody) == 0;
}

// Mounts a small file system in a mount namespace of this process. It disappears with the process.
bool mount_small_disk(const std::string& folder) {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("algoperf-test", folder.c_str(), "tmpfs", 0, "size=256k") == 0;
}

void fill_disk(const std::string& folder) {
  std::ofstream filler(folder + "/filler");
  const std::string page(4096, 'x');
  while (filler.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) continue;
}

}  // namespace

TEST_CASE("a folder that does not exist") {
  const Tiny task;
  const std::string path = "/nonexistent/run.checkpoint";
  auto loop = tiny_loop(momentum(), 0.1);
  CHECK(sentence([&] { loop.run(task.train(), Checkpoints(path, {.every = 2}), UntilStep{9}); }) ==
        path + ": cannot be written: No such file or directory");
  CHECK(loop.steps() == 0);
}

TEST_CASE("a folder that disappears: the run goes on, but the save at the end must succeed") {
  const Tiny task;
  const Folder parent;
  const std::string folder = parent / "runs", path = folder + "/run.checkpoint";
  const auto run = [&](std::uint64_t removed_at, std::uint64_t restored_at) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    auto loop = tiny_loop(momentum(), 0.1);
    AfterStep accident{[&](std::uint64_t t) {
      if (t == removed_at) std::filesystem::remove_all(folder);
      if (t == restored_at) std::filesystem::create_directory(folder);
    }};
    return loop.run(task.train(), accident, Checkpoints(path, {.every = 2}), UntilStep{9});
  };
  const WarningsIgnored ignored;
  const RunReport report = run(3, 8);
  CHECK(report.last.now.t == 9);
  CHECK(report.failed_saves == 2);  // steps 4 and 6
  REQUIRE(report.warnings.size() == 2);
  CHECK(report.warnings[0] ==
        "step 4 was not saved, and the run goes on: " + path + ": cannot be written: No such file or directory");
  auto resumed = tiny_loop(momentum(), 0.1);
  load_checkpoint(path, resumed);
  CHECK(resumed.steps() == 9);
  CHECK(sentence([&] { run(9, 0); }) == path + ": cannot be written: No such file or directory");
}

TEST_CASE("a folder without write permission") {
  const Folder folder;
  const std::string path = folder / "file", log = folder.write("log.csv", "old");
  auto loop = tiny_loop(momentum(), 0.1);
  loop.step(Tiny{}.train());
  save_checkpoint(path, loop);
  const std::string old = bytes_of(path);
  chmod(folder.path().c_str(), 0555);
  const std::string said =
      from_child([&] { return geteuid() != 0 || become_nobody() ? refusals(path, log) : "root for ever"; });
  chmod(folder.path().c_str(), 0700);
  if (said == "root for ever") {
    MESSAGE("skipped: root may write to any folder, and cannot switch to another user here");
    return;
  }
  CHECK(said == expected_of(path, log, "Permission denied"));
  CHECK(bytes_of(path) == old);
  CHECK(bytes_of(log) == "old");
}

TEST_CASE("a limit on the file size") {
  const Folder folder;
  const std::string path = folder / "file";
  auto loop = tiny_loop(momentum(), 0.1);
  loop.start(Tiny{}.train());
  save_checkpoint(path, loop);
  const std::string old = bytes_of(path);
  const std::string said = from_child([&] {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &ignore, nullptr);
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    loop.step(Tiny{}.train());
    return sentence([&] { save_checkpoint(path, loop); });
  });
  CHECK(said == path + ": cannot be written: File too large");
  CHECK(bytes_of(path) == old);
  CHECK(access((path + ".tmp").c_str(), F_OK) != 0);
}

TEST_CASE("a full disk") {
  const Folder folder;
  const std::string path = folder / "file", log = folder / "log.csv";
  const std::string found = from_child([&]() -> std::string {
    if (!mount_small_disk(folder.path())) return "no disk";
    auto loop = tiny_loop(momentum(), 0.1);
    loop.step(Tiny{}.train());
    save_checkpoint(path, loop);
    folder.write("log.csv", "old");
    const std::string old = bytes_of(path);
    fill_disk(folder.path());
    const std::string said = refusals(path, log);
    const bool kept = !old.empty() && bytes_of(path) == old && bytes_of(log) == "old";
    const bool clean = access((path + ".tmp").c_str(), F_OK) != 0 && access((log + ".tmp").c_str(), F_OK) != 0;
    return said + (kept ? "\nkept" : "\nlost") + (clean ? ", clean" : ", with a rest");
  });
  if (found == "no disk") {
    MESSAGE("skipped: only root (CAP_SYS_ADMIN) may mount a small disk");
    return;
  }
  CHECK(found == expected_of(path, log, "No space left on device") + "\nkept, clean");
}
