// GzFile: reads a file from front to back, gzipped or not; zlib detects which from the first two bytes. Link with zlib.
#pragma once

#include <zlib.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "../../core/error.hpp"

namespace algoperf {

// Offsets count from 0 and after decompression, except those that an error message calls "as stored". A file that
// decompresses to more than `limit` bytes is refused, however small it is on disk: a kilobyte of gzip can decompress to
// a megabyte.
class GzFile {
 public:
  static constexpr std::uint64_t default_limit = std::uint64_t{1} << 32;

  // Opens `path`, or `path`.gz if that fails. Throws Error if neither can be opened.
  explicit GzFile(const std::string& path, std::uint64_t limit = default_limit)
      : path_(path), file_(gzopen(path.c_str(), "rb")), limit_(limit) {
    if (file_ != nullptr) return;
    const int reason = errno;
    path_ += ".gz";
    file_ = gzopen(path_.c_str(), "rb");
    require(file_ != nullptr, path, ": cannot be opened, nor can ", path_, " (", std::strerror(reason), ")");
  }
  ~GzFile() { gzclose_r(file_); }
  GzFile(const GzFile&) = delete;
  GzFile& operator=(const GzFile&) = delete;

  const std::string& path() const { return path_; }
  std::size_t offset() const { return offset_; }

  // Reads up to n <= 2^30 bytes; returns fewer only at the end. Throws Error if the file or its compression is corrupt,
  // or if the limit is exceeded.
  std::size_t read(void* to, std::size_t n) {
    const int got = gzread(file_, to, static_cast<unsigned>(n));
    int code = Z_OK;
    const char* const message = gzerror(file_, &code);
    offset_ += got > 0 ? static_cast<std::size_t>(got) : 0;
    require(code == Z_OK || code == Z_STREAM_END, message, " near byte ", gzoffset(file_), " of the file as stored");
    require(offset_ <= limit_, path_, ": decompresses to more than the limit of ", limit_, " bytes");
    return static_cast<std::size_t>(got);
  }

  // Reads exactly n bytes, described as `what` in the error message. Throws Error if the file ends earlier.
  void read_all(void* to, std::size_t n, const char* what) {
    const std::size_t start = offset_, got = read(to, n);
    require(got == n, path_, ": ends at byte ", offset_, ", expected ", n, " bytes of ", what, " from byte ", start);
  }

  // Appends up to n bytes, fewer only at the end of the file, and returns their number. Memory use is bounded by the
  // file's contents, not by n.
  std::size_t append(std::string& to, std::size_t n) {
    constexpr std::size_t chunk = 1 << 16;
    const std::size_t start = to.size();
    for (std::size_t done = 0, got = 1; done < n && got > 0; done += got) {
      to.resize(start + done + (n - done < chunk ? n - done : chunk));
      got = read(to.data() + start + done, to.size() - start - done);
      to.resize(start + done + got);
    }
    return to.size() - start;
  }

 private:
  std::string path_;
  gzFile file_;
  std::uint64_t limit_;
  std::size_t offset_ = 0;
};

// The decompressed contents of a whole file, and the path under which it was opened.
struct Unpacked {
  std::string path, bytes;
};
inline Unpacked read_unpacked(const std::string& path, std::uint64_t limit = GzFile::default_limit) {
  GzFile file(path, limit);
  Unpacked whole{file.path(), {}};
  file.append(whole.bytes, static_cast<std::size_t>(-1));
  return whole;
}

}  // namespace algoperf
