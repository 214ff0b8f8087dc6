// A file in memory, for loaders that take a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
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

  // A path of a file that does not exist yet, removed at the end; for files that are renamed into place.
  class Named {
   public:
    Named() : path_("/dev/shm/algoperf_fuzz_" + std::to_string(getpid())) {}
    ~Named() { std::remove(path_.c_str()); }
    Named(const Named&) = delete;
    Named& operator=(const Named&) = delete;
    const std::string& path() const { return path_; }

   private:
    std::string path_;
  };

 private:
  int file_;
};
