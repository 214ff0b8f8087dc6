// For tests of what reads files: a folder, the sentence of an error, and the place of the real data sets.
#pragma once

#include <doctest/doctest.h>
#if __has_include(<zlib.h>)
#include <zlib.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "algoperf/core/error.hpp"

// A folder of a test's own, gone at the end.
struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "algoperf-data-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path / name).string(); }

  std::string plain(const std::string& name, const std::string& bytes) const {
    const std::string full = *this / name;
    std::FILE* const file = std::fopen(full.c_str(), "wb");
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
    return full;
  }
#if __has_include(<zlib.h>)
  std::string gzipped(const std::string& name, const std::string& bytes) const {
    const std::string full = *this / name;
    const gzFile file = gzopen(full.c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return full;
  }
#endif
  std::filesystem::path path;
};

// What calling it says.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const algoperf::Error& error) {
    return error.what();
  }
  return "no error";
}

// Where a real data set lies; empty, with a message, where there is none.
inline std::string real_data(const std::string& name) {
  const char* const given = std::getenv("ALGOPERF_DATA");
#ifdef ALGOPERF_SOURCE_DIR
  const std::filesystem::path beside = std::filesystem::path(ALGOPERF_SOURCE_DIR) / "../shared/data";
#else
  const std::filesystem::path beside = "../shared/data";
#endif
  const std::filesystem::path path = (given != nullptr ? std::filesystem::path(given) : beside) / name;
  if (std::filesystem::exists(path)) return path.string();
  MESSAGE(name << " is not here: skipped");
  return "";
}
