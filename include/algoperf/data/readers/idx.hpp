// IDX: reads the file format of MNIST and similar data sets (LeCun, Cortes and Burges, yann.lecun.com/exdb/mnist),
// plain or gzipped. Link with zlib.
//
// A file is: two zero bytes; the element type (0x08 = unsigned byte, the only one supported); the rank; one big-endian
// 32-bit extent per axis; the elements, row-major. Offsets in error messages count from 0, and after decompression
// unless they are called "as stored".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/shape.hpp"
#include "../in_memory.hpp"
#include "gz_file.hpp"

namespace algoperf {

// The contents of an IDX file; the size of `bytes` is the product of `dims`.
struct Idx {
  std::vector<std::size_t> dims;
  std::vector<std::uint8_t> bytes;
};

namespace detail {

inline std::vector<std::size_t> read_idx_header(GzFile& file) {
  std::uint8_t magic[4], extent[4];
  file.read_all(magic, 4, "magic number");
  require(magic[0] == 0 && magic[1] == 0, file.path(), ": starts with the bytes ", magic[0], " ", magic[1],
          ", expected 0 0 as in an IDX file");
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

// Reads `path`, or `path`.gz if `path` does not exist. Throws Error with the file and the byte offset. Memory use is
// bounded by the file's contents, not by the extents its header declares; a file of more than `limit` bytes after
// decompression is refused.
inline Idx read_idx(const std::string& path, std::uint64_t limit = GzFile::default_limit) {
  constexpr std::size_t chunk = std::size_t{1} << 20;
  GzFile file(path, limit);
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
  require(file.read(&extra, 1) == 0, file.path(), ": continues at byte ", end, ", expected the end after ", expected,
          " elements");
  return idx;
}

// Reads images (rank 3: N x rows x columns) and their labels (rank 1: N) as a data set of shape rows x columns x 1 with
// pixels in [0, 1] (value / 255). Throws Error as read_idx does, if a rank is wrong, if the two files differ in N, or
// if a label is outside [0, classes).
inline InMemory<float> load_idx(const std::string& images_path, const std::string& labels_path,
                                std::size_t classes = 10, std::uint64_t limit = GzFile::default_limit) {
  const Idx images = read_idx(images_path, limit), labels = read_idx(labels_path, limit);
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
