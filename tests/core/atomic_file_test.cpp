#include "algoperf/core/atomic_file.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "../support/folder.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

std::string refusal(const std::string& path) {
  return sentence([&] { ap::AtomicFile file(path); });
}

}  // namespace

TEST_CASE("a file appears whole, or not at all") {
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

TEST_CASE("two writers: the second is told, and the first comes to its end") {
  const Folder folder;
  const std::string numbers = folder / "numbers";
  ap::AtomicFile first(numbers);
  first.write("first");
  CHECK(refusal(numbers) == numbers + ": is being written by somebody else, who holds " + numbers + ".tmp");
  first.commit();
  CHECK(bytes_of(numbers) == "first");
  CHECK(refusal(numbers).empty());
}

TEST_CASE("many writers at once: whoever ends last, the file is whole") {
  const Folder folder;
  const std::string numbers = folder / "numbers";
  for (int process = 0; process < 4; ++process)
    if (fork() == 0) {
      for (int i = 0; i < 200; ++i) try {
          ap::AtomicFile file(numbers);
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

TEST_CASE("what a killed writer left is taken over") {
  const Folder folder;
  const std::string numbers = folder / "numbers";
  folder.write("numbers.tmp", "much longer than what comes");
  ap::AtomicFile file(numbers);
  file.write("short");
  file.commit();
  CHECK(bytes_of(numbers) == "short");
  CHECK(access((numbers + ".tmp").c_str(), F_OK) != 0);
}

TEST_CASE("a folder that is not there") {
  CHECK(refusal("/nowhere/numbers") == "/nowhere/numbers: cannot be written: No such file or directory");
}
