// A folder for a test's files, gone at its end.
#pragma once

#include <algoperf/core/error.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace formats_test {

struct Folder {
  std::string path = [] {
    char name[] = "/tmp/algoperf_test_XXXXXX";
    return std::string(mkdtemp(name));
  }();
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return path + "/" + name; }
};

inline void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
inline std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What an Error says after the file's name; empty if nothing is thrown.
template <class F>
std::string sentence(const std::string& path, const F& f) {
  try {
    f();
  } catch (const algoperf::Error& error) {
    const std::string what = error.what();
    return what.rfind(path, 0) == 0 ? what.substr(path.size()) : what;
  }
  return {};
}

}  // namespace formats_test
