#pragma once

#include <cstdint>

namespace algoperf {

// Seeds the first parameters and the model's own random numbers. The selector has a seed of its own.
struct Seed {
  static constexpr bool is_seed = true;
  std::uint64_t value = 1;
};

}  // namespace algoperf
