#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/random.hpp"

namespace algoperf {

// Independent uniform points in the unit cube: random search. Coordinate d of point i is the first number in [0, 1) of
// RandomKey{seed}.fold(i).fold(d).
class RandomPoints {
 public:
  explicit RandomPoints(std::size_t dimensions, std::uint64_t seed = 0) : dimensions_(dimensions), seed_(seed) {}

  std::size_t dimensions() const { return dimensions_; }
  std::vector<double> point(std::uint64_t i) const {
    std::vector<double> x;
    for (std::size_t d = 0; d < dimensions_; ++d)
      x.push_back(RandomStream(RandomKey{seed_}.fold(i).fold(d)).uniform_double());
    return x;
  }

 private:
  std::size_t dimensions_;
  std::uint64_t seed_;
};

}  // namespace algoperf
