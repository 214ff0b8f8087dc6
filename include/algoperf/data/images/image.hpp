#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/config.hpp"

namespace algoperf {

// An image with 8 bits per channel: element (r columns + c) channels + k of `bytes` is channel k of pixel (r, c).
struct Image {
  std::size_t rows = 0, columns = 0, channels = 3;
  std::vector<std::uint8_t> bytes;
};

}  // namespace algoperf
