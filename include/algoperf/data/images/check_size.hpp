#pragma once

#include <cstddef>
#include <string>

#include "../../core/error.hpp"

namespace algoperf::detail {

// Throws Error unless an image has 1 to 2^28 pixels.
inline void check_size(std::size_t rows, std::size_t columns, const std::string& name) {
  constexpr std::size_t most = std::size_t{1} << 28;
  require(rows > 0 && columns > 0 && columns <= most / rows, name, ": the image has ", rows, " x ", columns,
          " pixels, expected 1 to 2^28");
}

}  // namespace algoperf::detail
