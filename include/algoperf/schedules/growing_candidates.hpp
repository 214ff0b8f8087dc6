#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf::detail {

// A batch size that only grows: after each `patience` candidates, to the smallest of them.
struct GrowingCandidates {
  double size = 0;  // 0 before it has grown
  double smallest = 0;
  std::uint64_t count = 0;

  // Adds a candidate, which may be infinite. NaN counts as none.
  void add(double candidate, std::uint64_t patience) {
    if (candidate != candidate) return;
    candidate = __builtin_ceil(candidate);
    if (count == 0 || candidate < smallest) smallest = candidate;
    if (++count < patience) return;
    if (smallest > size) size = smallest;
    count = 0;
  }
  std::uint64_t within(std::uint64_t least, std::uint64_t most) const {
    if (!(size > static_cast<double>(least))) return least;
    return size < static_cast<double>(most) ? static_cast<std::uint64_t>(size) : most;
  }

  template <class Archive>
  void visit(Archive& archive) {
    archive.number("size", size);
    archive.number("smallest", smallest);
    archive.number("count", count);
  }
};

inline void check_growing(const char* schedule, std::uint64_t least, std::uint64_t most, std::uint64_t patience,
                          double theta) {
  require(least >= 2 && least <= most, schedule, ": least is ", least, ", expected 2 to most, which is ", most);
  require(patience >= 1, schedule, ": patience is 0, expected at least 1");
  require(is_finite(theta) && theta > 0, schedule, ": theta is ", theta, ", expected (0, inf)");
}

}  // namespace algoperf::detail
