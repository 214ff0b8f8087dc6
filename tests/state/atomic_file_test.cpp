#include "algoperf/state/atomic_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "../support/folder.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

std::string refusal(const std::string& path) {
  return sentence([&] { ap::AtomicFile file(path); });
}

}  // namespace

TEST_CASE("a file appears complete or not at all") {
  const Folder folder;
  const std::string numbers = folder / "numbers";
  {
    ap::AtomicFile file(numbers);
    file.write("old");
    CHECK(bytes_of(numbers).empty());
    file.commit();
    CHECK(bytes_of(numbers) == "old");
  }
  {
    ap::AtomicFile file(numbers);
    file.write("half of the ne");
  }
  CHECK(bytes_of(numbers) == "old");
  CHECK(access((numbers + ".tmp").c_str(), F_OK) != 0);
}

TEST_CASE("of two writers, the second is refused and the first completes") {
  const Folder folder;
  const std::string numbers = folder / "numbers";
  ap::AtomicFile first(numbers);
  first.write("first");
  CHECK(refusal(numbers) ==
        numbers + ": is being written by another writer, which holds a lock on " + numbers + ".tmp");
  first.commit();
  CHECK(bytes_of(numbers) == "first");
  CHECK(refusal(numbers).empty());
}

TEST_CASE("with many concurrent writers, the file is always complete") {
  const Folder folder;
  const std::string numbers = folder / "numbers", link = folder / "link";
  CHECK(symlink("numbers", link.c_str()) == 0);
  for (int process = 0; process < 4; ++process)
    if (fork() == 0) {
      for (int i = 0; i < 200; ++i) try {
          ap::AtomicFile file(process % 2 == 0 ? numbers : link);
          file.write(std::string(10000, static_cast<char>('a' + process)));
          file.commit();
        } catch (const ap::Error& error) {
          if (std::string(error.what()).find("is being written") == std::string::npos) _exit(1);
        }
      _exit(0);
    }
  for (int process = 0; process < 4; ++process) {
    int status = 0;
    while (waitpid(-1, &status, WNOHANG) == 0) {
      const std::string found = bytes_of(numbers);
      REQUIRE((found.empty() ? access(numbers.c_str(), F_OK) != 0 || bytes_of(numbers).size() == 10000
                             : found == std::string(10000, found[0])));
    }
    CHECK(status == 0);
  }
  CHECK(bytes_of(numbers).size() == 10000);
  CHECK(access((numbers + ".tmp").c_str(), F_OK) != 0);
}

TEST_CASE("a link in the temporary file's place is not followed") {
  const Folder folder;
  const std::string numbers = folder / "numbers";
  const std::string other = folder.write("other", "mine");
  CHECK(symlink(other.c_str(), (numbers + ".tmp").c_str()) == 0);
  CHECK(refusal(numbers) == numbers + ": cannot be written: Too many levels of symbolic links");
  CHECK(bytes_of(other) == "mine");
}

TEST_CASE("the temporary file of a killed writer is reused") {
  const Folder folder;
  const std::string numbers = folder / "numbers";
  folder.write("numbers.tmp", "much longer than what comes");
  ap::AtomicFile file(numbers);
  file.write("short");
  file.commit();
  CHECK(bytes_of(numbers) == "short");
  CHECK(access((numbers + ".tmp").c_str(), F_OK) != 0);
}

TEST_CASE("writing through symbolic links replaces their target and keeps the links") {
  const Folder folder;
  const auto link_to = [&](const std::string& name) {
    char target[256] = {};
    CHECK(readlink((folder / name).c_str(), target, sizeof target - 1) > 0);
    return std::string(target);
  };
  const auto write = [&](const std::string& name, const std::string& text) {
    ap::AtomicFile file(folder / name);
    file.write(text);
    file.commit();
  };
  folder.write("numbers", "old");
  CHECK(mkdir((folder / "below").c_str(), 0777) == 0);
  CHECK(symlink("../numbers", (folder / "below/second").c_str()) == 0);  // relative to the link's folder
  CHECK(symlink((folder / "below/second").c_str(), (folder / "first").c_str()) == 0);
  write("first", "new");
  CHECK(bytes_of(folder / "numbers") == "new");
  CHECK(link_to("first") == folder / "below/second");
  CHECK(link_to("below/second") == "../numbers");
  CHECK(access((folder / "numbers.tmp").c_str(), F_OK) != 0);

  CHECK(symlink("below/made", (folder / "dangling").c_str()) == 0);
  write("dangling", "made");
  CHECK(bytes_of(folder / "below/made") == "made");
  CHECK(link_to("dangling") == "below/made");

  // Two writers of the same file, one through its name and one through a link.
  const ap::AtomicFile first(folder / "numbers");
  CHECK(refusal(folder / "first") == folder / "first" + ": is being written by another writer, which holds a lock on " +
                                         (folder / "below/../numbers.tmp"));

  CHECK(symlink("ring", (folder / "ring").c_str()) == 0);
  CHECK(refusal(folder / "ring") == folder / "ring" + ": cannot be written: Too many levels of symbolic links");
}

TEST_CASE("a file keeps the permissions of the file that it replaces") {
  const Folder folder;
  const std::string path = folder / "file", fresh = folder / "fresh";
  const auto mode = [](const std::string& of) {
    struct stat found {};
    REQUIRE(stat(of.c_str(), &found) == 0);
    return found.st_mode & 07777;
  };
  const auto replace = [](const std::string& target) {
    ap::AtomicFile file(target);
    file.write("new");
    file.commit();
  };
  const mode_t mask = umask(027);
  replace(fresh);
  CHECK(mode(fresh) == 0640);
  for (const mode_t permissions : {0600u, 0444u, 0666u, 0751u}) {
    folder.write("file", "old");
    REQUIRE(chmod(path.c_str(), permissions) == 0);
    replace(path);
    CHECK(mode(path) == permissions);
    CHECK(bytes_of(path) == "new");
    REQUIRE(chmod(path.c_str(), 0600) == 0);
  }
  umask(mask);
}

TEST_CASE("a path that is not a regular file is refused, also through links") {
  const Folder folder;
  const std::string sentence = ": is not a regular file, expected a regular file or none";
  CHECK(mkdir((folder / "folder").c_str(), 0777) == 0);
  CHECK(mkfifo((folder / "pipe").c_str(), 0666) == 0);
  CHECK(symlink("pipe", (folder / "link").c_str()) == 0);
  for (const char* const name : {"folder", "pipe", "link"}) {
    CHECK(refusal(folder / name) == folder / name + sentence);
    CHECK(access((folder / name + ".tmp").c_str(), F_OK) != 0);
  }
  struct stat found {};
  CHECK((stat((folder / "pipe").c_str(), &found) == 0 && S_ISFIFO(found.st_mode)));

  // A file that was removed while open, addressed through /proc/self/fd.
  std::FILE* const open = std::fopen((folder / "gone").c_str(), "w");
  REQUIRE(open != nullptr);
  std::remove((folder / "gone").c_str());
  const std::string path = "/proc/self/fd/" + std::to_string(fileno(open));
  CHECK(refusal(path) == path + ": is an open file without a name, expected a file that can be replaced");
  std::fclose(open);
}

TEST_CASE("a folder that does not exist") {
  CHECK(refusal("/nowhere/numbers") == "/nowhere/numbers: cannot be written: No such file or directory");
}
