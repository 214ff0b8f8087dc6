// AtomicFile: a file that appears whole or not at all. Written beside its place, then renamed over it.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

#include "error.hpp"

namespace algoperf {

class AtomicFile {
 public:
  // Throws Error naming the path and the system's reason.
  explicit AtomicFile(std::string path)
      : path_(std::move(path)), temporary_(path_ + ".tmp" + std::to_string(getpid())) {
    file_ = std::fopen(temporary_.c_str(), "wb");
    require(file_ != nullptr, path_, ": cannot be written: ", std::strerror(errno));
  }
  ~AtomicFile() {
    if (file_ != nullptr) std::fclose(file_);
    if (!committed_) std::remove(temporary_.c_str());
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t n) {
    const bool written = std::fwrite(data, 1, n, file_) == n;
    require(written, path_, ": cannot be written: ", std::strerror(errno));
  }
  void write(const std::string& text) { write(text.data(), text.size()); }

  // Puts the file in its place, on the disk before it takes the name.
  void commit() {
    const bool flushed = std::fflush(file_) == 0 && fsync(fileno(file_)) == 0;
    const int flush_error = errno;  // closing may set another
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    require(flushed && closed, path_, ": cannot be written: ", std::strerror(flushed ? errno : flush_error));
    const bool renamed = std::rename(temporary_.c_str(), path_.c_str()) == 0;
    require(renamed, path_, ": cannot be renamed into place: ", std::strerror(errno));
    committed_ = true;
  }

 private:
  std::string path_, temporary_;
  std::FILE* file_ = nullptr;
  bool committed_ = false;
};

}  // namespace algoperf
