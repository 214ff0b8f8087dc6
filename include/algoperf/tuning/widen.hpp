// Search spaces that grow: which hyperparameter of a point lies at an edge of its range, and the range beyond it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "search_space.hpp"

namespace algoperf {

// One end of the range of a hyperparameter.
struct SpaceEdge {
  std::size_t hyperparameter = 0;  // its number in the space
  bool upper = false;
};

// Returns the edges within `margin` of a point, in coordinates of the unit cube, the nearest first. The smallest and
// the largest whole number of a range of integers are at its edges. Lists of values have no edges.
inline std::vector<SpaceEdge> edges_at(const SearchSpace& space, const HyperPoint& point, double margin) {
  std::vector<std::pair<double, SpaceEdge>> found;
  for (std::size_t i = 0; i < space.dimensions(); ++i) {
    const Hyperparameter& range = space.hyperparameters()[i];
    if (!range.feasible.empty() || !(range.max > range.min)) continue;
    const double value = point[range.name], u = range.coordinate(value);
    const bool at_end = range.integer && (value == range.min || value == range.max);
    const double distance = at_end ? 0 : std::fmin(u, 1 - u);
    if (distance < margin) found.push_back({distance, {i, u > 0.5}});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<SpaceEdge> edges;
  for (const auto& [distance, edge] : found) edges.push_back(edge);
  return edges;
}

// Returns the range beyond an edge, whose width is a share of that of the range: of its logarithm, if the scaling is
// log. Ends at the range of the same name in `widest`, and is nothing if there is no room. A strip of a reverse
// logarithmic range is linear, and goes down to half of the range's minimum at most.
inline std::optional<Hyperparameter> strip_beyond(const Hyperparameter& range, bool upper, double share,
                                                  const std::vector<Hyperparameter>& widest = {}) {
  require(share > 0 && std::isfinite(share), "strip_beyond: the share is ", share,
          ", expected a finite number above 0");
  Hyperparameter strip = range;
  const bool log = range.scaling == Scaling::log;
  const double width = log ? std::pow(range.max / range.min, share) : share * (range.max - range.min);
  if (!log) strip.scaling = Scaling::linear;
  if (upper) {
    strip.min = range.integer ? range.max + 1 : range.max;
    strip.max = log ? range.max * width : range.max + width;
    if (range.integer) strip.max = std::ceil(strip.max);
  } else {
    strip.max = range.integer ? range.min - 1 : range.min;
    strip.min = log ? range.min / width : range.min - width;
    if (range.integer) strip.min = std::floor(strip.min);
    if (range.integer && log) strip.min = std::fmax(strip.min, 1);
    if (range.scaling == Scaling::reverse_log) strip.min = std::fmax(strip.min, range.min / 2);
  }
  for (const Hyperparameter& limit : widest)
    if (limit.name == range.name) {
      strip.min = std::fmax(strip.min, limit.min);
      strip.max = std::fmin(strip.max, limit.max);
    }
  const bool room = range.integer ? strip.min <= strip.max : strip.min < strip.max;
  return room && std::isfinite(strip.max) ? std::optional(strip) : std::nullopt;
}

// Returns a space with one range replaced.
inline SearchSpace with_range(const SearchSpace& space, std::size_t hyperparameter, const Hyperparameter& range) {
  std::vector<Hyperparameter> ranges = space.hyperparameters();
  ranges[hyperparameter] = range;
  return SearchSpace(std::move(ranges));
}

}  // namespace algoperf
