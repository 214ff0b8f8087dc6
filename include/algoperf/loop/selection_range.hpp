#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/config.hpp"

namespace algoperf {

// Consecutive examples of a selection, with their weights.
struct SelectionRange {
  const std::uint32_t* indices = nullptr;
  const float* weights = nullptr;
  std::size_t size = 0;
};

}  // namespace algoperf
