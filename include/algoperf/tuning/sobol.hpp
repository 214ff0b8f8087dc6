// Sobol sequences: quasi-random points in the unit cube whose first 2^k points fill it evenly, for every k.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/error.hpp"
#include "../core/random.hpp"

namespace algoperf {

namespace detail {

// A primitive polynomial modulo 2, as bits from the highest power to the constant, and the first direction numbers: as
// many as its degree.
struct SobolDirections {
  std::uint32_t polynomial;
  std::uint32_t first[9];
};
// Of the dimensions after the first. Source: Joe & Kuo 2008, "Constructing Sobol sequences with better two-dimensional
// projections", file new-joe-kuo-6.
inline constexpr SobolDirections sobol_directions[] = {
    // clang-format off
    {3, {1}},
    {7, {1, 3}},
    {11, {1, 3, 1}},
    {13, {1, 1, 1}},
    {19, {1, 1, 3, 3}},
    {25, {1, 3, 5, 13}},
    {37, {1, 1, 5, 5, 17}},
    {41, {1, 1, 5, 5, 5}},
    {47, {1, 1, 7, 11, 19}},
    {55, {1, 1, 5, 1, 1}},
    {59, {1, 1, 1, 3, 11}},
    {61, {1, 3, 5, 5, 31}},
    {67, {1, 3, 3, 9, 7, 49}},
    {91, {1, 1, 1, 15, 21, 21}},
    {97, {1, 3, 1, 13, 27, 49}},
    {103, {1, 1, 1, 15, 7, 5}},
    {109, {1, 3, 1, 15, 13, 25}},
    {115, {1, 1, 5, 5, 19, 61}},
    {131, {1, 3, 7, 11, 23, 15, 103}},
    {137, {1, 3, 7, 13, 13, 15, 69}},
    {143, {1, 1, 3, 13, 7, 35, 63}},
    {145, {1, 3, 5, 9, 1, 25, 53}},
    {157, {1, 3, 1, 13, 9, 35, 107}},
    {167, {1, 3, 1, 5, 27, 61, 31}},
    {171, {1, 1, 5, 11, 19, 41, 61}},
    {185, {1, 3, 5, 3, 3, 13, 69}},
    {191, {1, 1, 7, 13, 1, 19, 1}},
    {193, {1, 3, 7, 5, 13, 19, 59}},
    {203, {1, 1, 3, 9, 25, 29, 41}},
    {211, {1, 3, 5, 13, 23, 1, 55}},
    {213, {1, 3, 7, 3, 13, 59, 17}},
    {229, {1, 3, 1, 3, 5, 53, 69}},
    {239, {1, 1, 5, 5, 23, 33, 13}},
    {241, {1, 1, 7, 7, 1, 61, 123}},
    {247, {1, 1, 7, 9, 13, 61, 49}},
    {253, {1, 3, 3, 5, 3, 55, 33}},
    {285, {1, 3, 1, 15, 31, 13, 49, 245}},
    {299, {1, 3, 5, 15, 31, 59, 63, 97}},
    {301, {1, 3, 1, 11, 11, 11, 77, 249}},
    {333, {1, 3, 1, 11, 27, 43, 71, 9}},
    {351, {1, 1, 7, 15, 21, 11, 81, 45}},
    {355, {1, 3, 7, 3, 25, 31, 65, 79}},
    {357, {1, 3, 1, 1, 19, 11, 3, 205}},
    {361, {1, 1, 5, 9, 19, 21, 29, 157}},
    {369, {1, 3, 7, 11, 1, 33, 89, 185}},
    {391, {1, 3, 3, 3, 15, 9, 79, 71}},
    {397, {1, 3, 7, 11, 15, 39, 119, 27}},
    {425, {1, 1, 3, 1, 11, 31, 97, 225}},
    {451, {1, 1, 1, 3, 23, 43, 57, 177}}
    // clang-format on
};
inline constexpr std::size_t sobol_dimensions = 1 + sizeof sobol_directions / sizeof *sobol_directions;

inline std::uint32_t reversed_bits(std::uint32_t x) {
  for (std::uint32_t shift = 16, mask = 0x0000FFFFu; shift > 0; shift /= 2, mask ^= mask << shift)
    x = (x >> shift & mask) | (x & mask) << shift;
  return x;
}

// Permutes the bits of x, from the highest on, so that each bit depends on the seed and on the bits above it: an
// approximation of Owen's nested uniform scrambling. Source: Laine & Karras 2011 and Burley 2020, "Practical hash-based
// Owen scrambling", with Vegdahl's constants.
inline std::uint32_t owen_scrambled(std::uint32_t x, std::uint32_t seed) {
  x = reversed_bits(x) + seed;
  for (const std::uint32_t factor : {0x6C50B47Cu, 0xB82F1E52u, 0xC7AFE638u, 0x8D22F6E6u}) x ^= x * factor;
  return reversed_bits(x);
}

}  // namespace detail

// The Sobol sequence, scrambled. Coordinate d of point i, both from 0, is the exclusive or of the direction numbers of
// the bits of i that are set, scrambled with a seed of its own, and divided by 2^32. Points are in the order of i, not
// of its Gray code. Any two seeds give independent sequences. Each block of 2^k successive points, beginning at a
// multiple of 2^k, has one coordinate in each interval of length 2^-k: take a power of two of them.
// Source: Sobol 1967; Joe & Kuo 2008.
class ScrambledSobol {
 public:
  // Throws Error if there are more than 50 dimensions.
  explicit ScrambledSobol(std::size_t dimensions, std::uint64_t seed = 0) {
    require(dimensions <= detail::sobol_dimensions, "ScrambledSobol: there are ", dimensions,
            " dimensions, expected at most ", detail::sobol_dimensions);
    for (std::size_t d = 0; d < dimensions; ++d)
      dimensions_.push_back({directions(d), static_cast<std::uint32_t>(RandomKey{seed}.fold(d).value)});
  }

  std::size_t dimensions() const { return dimensions_.size(); }
  // Returns point i < 2^32, in [0, 1) in each dimension.
  std::vector<double> point(std::uint64_t i) const {
    require(i >> 32 == 0, "ScrambledSobol: point ", i, " does not exist, expected less than 2^32");
    std::vector<double> x;
    for (const Dimension& dimension : dimensions_) {
      std::uint32_t bits = 0;
      for (std::size_t k = 0; k < 32; ++k)
        if (i >> k & 1) bits ^= dimension.directions[k];
      x.push_back(detail::owen_scrambled(bits, dimension.seed) * 0x1p-32);
    }
    return x;
  }

  // Returns the direction numbers of a dimension, as binary fractions of 32 bits: one for each bit of i.
  static std::vector<std::uint32_t> directions(std::size_t dimension) {
    std::vector<std::uint32_t> v(32);
    if (dimension == 0) {
      for (std::size_t k = 0; k < 32; ++k) v[k] = 1u << (31 - k);
      return v;
    }
    const auto& [polynomial, first] = detail::sobol_directions[dimension - 1];
    std::size_t degree = 0;
    while (polynomial >> (degree + 1) > 0) ++degree;
    for (std::size_t k = 0; k < 32; ++k) {
      if (k < degree) {
        v[k] = first[k] << (31 - k);
        continue;
      }
      v[k] = v[k - degree] ^ v[k - degree] >> degree;
      for (std::size_t j = 1; j < degree; ++j)
        if (polynomial >> (degree - j) & 1) v[k] ^= v[k - j];
    }
    return v;
  }

 private:
  struct Dimension {
    std::vector<std::uint32_t> directions;
    std::uint32_t seed;
  };
  std::vector<Dimension> dimensions_;
};

}  // namespace algoperf
