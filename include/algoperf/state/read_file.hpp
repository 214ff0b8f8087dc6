// read_file: reads a whole file into memory.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "../core/error.hpp"

namespace algoperf {

// Throws Error, with the path and the system's reason, if the file cannot be opened or read.
inline std::string read_file(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  require(file != nullptr, path, ": cannot be opened: ", std::strerror(errno));
  std::string bytes;
  char chunk[1 << 16];
  for (std::size_t n; (n = std::fread(chunk, 1, sizeof chunk, file)) > 0;) bytes.append(chunk, n);
  const bool failed = std::ferror(file) != 0;
  const int reason = errno;  // fclose may overwrite errno
  std::fclose(file);
  require(!failed, path, ": cannot be read: ", std::strerror(reason));
  return bytes;
}

}  // namespace algoperf
