#include "algoperf/core/atomic_file.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace ap = algoperf;

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Folder {
  std::string path = [] {
    char name[] = "/tmp/algoperf_test_XXXXXX";
    return std::string(mkdtemp(name));
  }();
  std::string file = path + "/numbers";
  ~Folder() {
    std::remove(file.c_str());
    std::remove((file + ".tmp").c_str());
    rmdir(path.c_str());
  }
};

std::string sentence(const std::string& path) {
  try {
    ap::AtomicFile file(path);
  } catch (const ap::Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a file appears whole, or not at all") {
  const Folder folder;
  {
    ap::AtomicFile file(folder.file);
    file.write("old");
    CHECK(read(folder.file).empty());
    file.commit();
    CHECK(read(folder.file) == "old");
  }
  {
    ap::AtomicFile file(folder.file);
    file.write("half of the ne");
  }
  CHECK(read(folder.file) == "old");
  CHECK(access((folder.file + ".tmp").c_str(), F_OK) != 0);
}

TEST_CASE("two writers: the second is told, and the first comes to its end") {
  const Folder folder;
  ap::AtomicFile first(folder.file);
  first.write("first");
  CHECK(sentence(folder.file) ==
        folder.file + ": is being written by somebody else, who holds " + folder.file + ".tmp");
  first.commit();
  CHECK(read(folder.file) == "first");
  CHECK(sentence(folder.file).empty());
}

TEST_CASE("many writers at once: whoever ends last, the file is whole") {
  const Folder folder;
  for (int process = 0; process < 4; ++process)
    if (fork() == 0) {
      for (int i = 0; i < 200; ++i) try {
          ap::AtomicFile file(folder.file);
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
      const std::string found = read(folder.file);
      REQUIRE((found.empty() ? access(folder.file.c_str(), F_OK) != 0 || read(folder.file).size() == 10000
                             : found == std::string(10000, found[0])));
    }
    CHECK(status == 0);
  }
  CHECK(read(folder.file).size() == 10000);
  CHECK(access((folder.file + ".tmp").c_str(), F_OK) != 0);
}

TEST_CASE("a link in the temporary file's place is not followed") {
  const Folder folder;
  const std::string other = folder.path + "/other";
  std::ofstream(other) << "mine";
  CHECK(symlink(other.c_str(), (folder.file + ".tmp").c_str()) == 0);
  CHECK(sentence(folder.file) == folder.file + ": cannot be written: Too many levels of symbolic links");
  CHECK(read(other) == "mine");
  std::remove(other.c_str());
}

TEST_CASE("what a killed writer left is taken over") {
  const Folder folder;
  std::ofstream(folder.file + ".tmp") << "much longer than what comes";
  ap::AtomicFile file(folder.file);
  file.write("short");
  file.commit();
  CHECK(read(folder.file) == "short");
  CHECK(access((folder.file + ".tmp").c_str(), F_OK) != 0);
}

TEST_CASE("a folder that is not there") {
  CHECK(sentence("/nowhere/numbers") == "/nowhere/numbers: cannot be written: No such file or directory");
}
