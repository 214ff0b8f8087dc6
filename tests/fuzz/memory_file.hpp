// A file that lives in memory, for loaders that take a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

class MemoryFile {
 public:
  MemoryFile(const void* bytes, std::size_t n) : file_(memfd_create("fuzz", 0)) {
    if (file_ < 0 || write(file_, bytes, n) != static_cast<ssize_t>(n)) std::abort();
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};
