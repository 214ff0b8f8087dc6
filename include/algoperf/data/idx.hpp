// IDX: the file format of MNIST and its cousins (LeCun, Cortes and Burges, yann.lecun.com/exdb/mnist), plain or
// gzipped. Link with zlib.
//
// A file is: two zero bytes; the element type (0x08 = unsigned byte, the only one read here); the rank; one big-endian
// 32-bit extent per axis; the elements, row-major. Offsets in error sentences count from 0, and after decompression
// unless they say "as stored".
#pragma once

#include <zlib.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/shape.hpp"
#include "in_memory.hpp"

namespace algoperf {

// The contents of an IDX file: `bytes` holds the product of `dims`.
struct Idx {
  std::vector<std::size_t> dims;
  std::vector<std::uint8_t> bytes;
};

namespace detail {

// A file read front to back, gzipped or not: zlib tells by the first two bytes.
class IdxFile {
 public:
  // Opens `path`, or else `path`.gz.
  explicit IdxFile(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
    if (file_ != nullptr) return;
    const int reason = errno;
    path_ += ".gz";
    file_ = gzopen(path_.c_str(), "rb");
    require(file_ != nullptr, path, ": cannot be opened, nor can ", path_, " (", std::strerror(reason), ")");
  }
  ~IdxFile() { gzclose_r(file_); }
  IdxFile(const IdxFile&) = delete;
  IdxFile& operator=(const IdxFile&) = delete;

  const std::string& path() const { return path_; }
  std::size_t offset() const { return offset_; }

  // Reads up to n <= 2^30 bytes; fewer only at the end. Throws Error if the file or its compression is broken.
  std::size_t read(std::uint8_t* to, std::size_t n) {
    const int got = gzread(file_, to, static_cast<unsigned>(n));
    int code = Z_OK;
    const char* const message = gzerror(file_, &code);
    offset_ += got > 0 ? static_cast<std::size_t>(got) : 0;
    require(code == Z_OK || code == Z_STREAM_END, message, " near byte ", gzoffset(file_), " of the file as stored");
    return static_cast<std::size_t>(got);
  }

  // Reads exactly n bytes that hold `what`, or throws Error.
  void read_all(std::uint8_t* to, std::size_t n, const char* what) {
    const std::size_t start = offset_, got = read(to, n);
    require(got == n, path_, ": ends at byte ", offset_, ", expected ", n, " bytes of ", what, " from byte ", start);
  }

 private:
  std::string path_;
  gzFile file_;
  std::size_t offset_ = 0;
};

inline std::vector<std::size_t> read_idx_header(IdxFile& file) {
  std::uint8_t magic[4], extent[4];
  file.read_all(magic, 4, "magic number");
  require(magic[0] == 0 && magic[1] == 0, file.path(), ": starts with the bytes ", magic[0], " ", magic[1],
          ", expected 0 0 of an IDX file");
  require(magic[2] == 8, file.path(), ": the element type at byte 2 is ", magic[2], ", expected 8 (unsigned byte)");
  require(magic[3] >= 1 && magic[3] <= Shape::max_rank, file.path(), ": the rank at byte 3 is ", magic[3],
          ", expected 1 to ", Shape::max_rank);
  std::vector<std::size_t> dims;
  for (int axis = 0; axis < magic[3]; ++axis) {
    file.read_all(extent, 4, "extent");
    dims.push_back(std::size_t{extent[0]} << 24 | std::size_t{extent[1]} << 16 | std::size_t{extent[2]} << 8 |
                   extent[3]);
  }
  return dims;
}

}  // namespace detail

// Reads `path`, or `path`.gz if there is no such file. Throws Error that names the file and the byte. Memory follows
// what the file holds, not what its header promises.
inline Idx read_idx(const std::string& path) {
  constexpr std::size_t chunk = std::size_t{1} << 20;
  detail::IdxFile file(path);
  Idx idx{detail::read_idx_header(file), {}};
  std::size_t expected = 1;
  for (const std::size_t extent : idx.dims)
    require(!__builtin_mul_overflow(expected, extent, &expected), file.path(),
            ": the extents from byte 4 multiply to 2^64 elements or more");
  const std::size_t start = file.offset();
  while (idx.bytes.size() < expected) {
    const std::size_t have = idx.bytes.size(), want = expected - have < chunk ? expected - have : chunk;
    idx.bytes.resize(have + want);
    const std::size_t got = file.read(idx.bytes.data() + have, want);
    require(got == want, file.path(), ": ends at byte ", file.offset(), ", expected ", expected, " elements from byte ",
            start, " and found ", have + got);
  }
  std::uint8_t extra;
  const std::size_t end = file.offset();  // reading past it also checks the gzip checksum
  require(file.read(&extra, 1) == 0, file.path(), ": goes on at byte ", end, ", expected the end after ", expected,
          " elements");
  return idx;
}

// Images (rank 3: N x rows x columns) and their labels (rank 1: N) as a data set of shape rows x columns x 1 with
// pixels in [0, 1] (value / 255). Throws Error as read_idx does, and if the files do not belong together.
inline InMemory<float> load_idx(const std::string& images_path, const std::string& labels_path,
                                std::size_t classes = 10) {
  const Idx images = read_idx(images_path), labels = read_idx(labels_path);
  require(images.dims.size() == 3, images_path, ": the rank at byte 3 is ", images.dims.size(),
          ", expected 3 (images x rows x columns)");
  require(labels.dims.size() == 1, labels_path, ": the rank at byte 3 is ", labels.dims.size(),
          ", expected 1 (labels)");
  require(images.dims[0] == labels.dims[0], labels_path, ": the extent at byte 4 is ", labels.dims[0],
          " labels, expected ", images.dims[0], " as in ", images_path);
  constexpr std::size_t labels_start = 8;
  for (std::size_t i = 0; i < labels.bytes.size(); ++i)
    require(labels.bytes[i] < classes, labels_path, ": the label at byte ", labels_start + i, " is ", labels.bytes[i],
            ", expected [0, ", classes, ")");
  std::vector<float> pixels(images.bytes.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(images.bytes[i]) / 255.0f;
  return InMemory<float>(std::move(pixels), std::vector<std::int32_t>(labels.bytes.begin(), labels.bytes.end()),
                         Shape(images.dims[1], images.dims[2], 1), classes);
}

}  // namespace algoperf
