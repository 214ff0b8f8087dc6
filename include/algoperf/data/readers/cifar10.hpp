// CIFAR-10 in its binary format (Krizhevsky 2009), plain or gzipped. Link with zlib.
//
// A file is a sequence of records of 3073 bytes: the class, 0 to 9, then the red, the green and the blue bytes of an
// image of 32 x 32 pixels, by rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../byte_images.hpp"
#include "gz_file.hpp"

namespace algoperf {

// The mean and deviation of CIFAR-10's training images.
inline constexpr ChannelStatistics cifar10_statistics{{.49139968, .48215827, .44653124, 0},
                                                      {.24703233, .24348505, .26158768, 1}};

// Reads the images of several files, in order, each from its path or from path.gz. Throws Error, naming the file and
// the byte, if a file cannot be read, has no images, ends within an image, or has a class above 9.
inline ByteImages load_cifar10(const std::vector<std::string>& paths, std::uint64_t limit = GzFile::default_limit) {
  constexpr std::size_t pixels = 32 * 32, record_size = 1 + 3 * pixels;
  std::vector<std::uint8_t> bytes;
  std::vector<std::int32_t> labels;
  for (const std::string& path : paths) {
    GzFile file(path, limit);
    std::uint8_t record[record_size];
    for (;;) {
      const std::size_t begin = file.offset(), got = file.read(record, record_size);
      if (got == 0 && begin > 0) break;
      require(got == record_size, file.path(), ": ends at byte ", file.offset(), ", expected ", record_size,
              " bytes of an image from byte ", begin);
      require(record[0] < 10, file.path(), ": the class at byte ", begin, " is ", record[0], ", expected 0 to 9");
      labels.push_back(record[0]);
      const std::size_t image = bytes.size();
      bytes.resize(image + 3 * pixels);
      for (std::size_t p = 0; p < pixels; ++p)
        for (std::size_t k = 0; k < 3; ++k) bytes[image + 3 * p + k] = record[1 + k * pixels + p];
    }
  }
  return ByteImages(std::move(bytes), std::move(labels), Shape{32, 32, 3}, 10, cifar10_statistics);
}

}  // namespace algoperf
