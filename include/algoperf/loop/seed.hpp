#pragma once

#include <cstdint>

#include "../core/config.hpp"

namespace algoperf {

// The seed of the initial parameters and of the model's random numbers (dropout). The selector has a separate seed.
struct Seed {
  static constexpr bool is_seed = true;
  std::uint64_t value = 1;
};

}  // namespace algoperf
