// Search spaces: ranges and lists of values of hyperparameters, or a list of points.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../core/random.hpp"
#include "concept.hpp"
#include "halton.hpp"
#include "official_halton.hpp"
#include "random_points.hpp"
#include "sobol.hpp"

namespace algoperf {

// How a coordinate u in [0, 1) becomes a value in [min, max].
enum class Scaling {
  linear,      // min + u (max - min)
  log,         // min exp(u log(max / min)): as many values in [0.1, 1] as in [1, 10]
  reverse_log  // min + max - min exp((1 - u) log(max / min)): log, mirrored, so that values near max are dense
};

// One hyperparameter of a search space: a range, or a list of values.
struct Hyperparameter {
  std::string name;
  double min = 0, max = 0;
  Scaling scaling = Scaling::linear;
  bool integer = false;                   // whole numbers only: the value at u in [min, max + 1), rounded down
  std::vector<HyperValue> feasible = {};  // if not empty, value floor(u size), and no range

  // Returns the value at a coordinate in [0, 1).
  HyperValue at(double u) const {
    if (!feasible.empty()) {
      const auto i = static_cast<std::size_t>(u * static_cast<double>(feasible.size()));
      return feasible[i < feasible.size() ? i : feasible.size() - 1];
    }
    const double end = integer ? max + 1 : max;
    const double value = scaling == Scaling::linear ? min + u * (end - min)
                         : scaling == Scaling::log  ? min * std::exp(u * std::log(end / min))
                                                    : min + end - min * std::exp((1 - u) * std::log(end / min));
    return std::fmin(std::fmax(integer ? std::floor(value) : value, min), max);
  }
  // Returns the coordinate of a value of the range, at() its inverse; of an integer, the middle of its coordinates.
  double coordinate(double value) const {
    const double end = integer ? max + 1 : max, inside = integer ? value + 0.5 : value;
    if (!(end > min)) return 0.5;
    return scaling == Scaling::linear ? (inside - min) / (end - min)
           : scaling == Scaling::log  ? std::log(inside / min) / std::log(end / min)
                                      : 1 - std::log((min + end - inside) / min) / std::log(end / min);
  }
  // Throws Error, naming the hyperparameter, if its range is empty or a value is not finite, or if its scaling needs
  // min > 0.
  void check() const {
    for (const HyperValue& value : feasible)
      if (const double* const number = std::get_if<double>(&value.alternatives()))
        require(std::isfinite(*number), "search space: '", name, "' has the value ", *number,
                ", expected finite numbers");
    if (!feasible.empty()) return;
    require(std::isfinite(min) && std::isfinite(max), "search space: '", name, "' has the range [", min, ", ", max,
            "], expected finite numbers");
    require(min <= max, "search space: '", name, "' has min ", min, " and max ", max, ", expected min <= max");
    require(scaling == Scaling::linear || min > 0, "search space: '", name, "' has min ", min,
            ", expected more than 0, as its scaling is logarithmic");
    require(!integer || (std::floor(min) == min && std::floor(max) == max), "search space: '", name,
            "' is an integer in [", min, ", ", max, "], expected whole numbers");
  }
};

namespace detail {

inline Hyperparameter log_range(const char* name, double min, double max) {
  return {.name = name, .min = min, .max = max, .scaling = Scaling::log};
}

}  // namespace detail

// The kinds of point sequences.
enum class Search { halton, sobol, random, official };

class SearchSpace {
 public:
  // A search space of ranges and lists of values. Coordinate d of a point in the unit cube gives the value of
  // hyperparameter d. Throws Error if there is no hyperparameter, if two have one name, or if a range is impossible.
  explicit SearchSpace(std::vector<Hyperparameter> hyperparameters) : hyperparameters_(std::move(hyperparameters)) {
    require(!hyperparameters_.empty(), "search space: there is no hyperparameter");
    HyperPoint names;
    for (const Hyperparameter& each : hyperparameters_) {
      require(!names.has(each.name), "search space: '", each.name, "' is listed twice");
      names.set(each.name, 0.0);
      each.check();
    }
  }
  // A search space of the given points only, which are drawn without replacement. Throws Error if there is none.
  explicit SearchSpace(std::vector<HyperPoint> points) : listed_(std::move(points)) {
    require(!listed_.empty(), "search space: there is no point");
  }

  const std::vector<Hyperparameter>& hyperparameters() const { return hyperparameters_; }
  // The listed points; empty if the space consists of ranges.
  const std::vector<HyperPoint>& listed() const { return listed_; }
  std::size_t dimensions() const { return hyperparameters_.size(); }

  // Returns the first point of a list, or the centre of the ranges.
  HyperPoint default_point() const {
    return listed_.empty() ? at(std::vector<double>(dimensions(), 0.5)) : listed_.front();
  }
  // Returns the point at coordinates in the unit cube.
  HyperPoint at(const std::vector<double>& cube) const {
    require(cube.size() == dimensions(), "search space: there are ", cube.size(), " coordinates, expected ",
            dimensions());
    HyperPoint point;
    for (std::size_t d = 0; d < cube.size(); ++d) point.set(hyperparameters_[d].name, hyperparameters_[d].at(cube[d]));
    return point;
  }

 private:
  std::vector<Hyperparameter> hyperparameters_;
  std::vector<HyperPoint> listed_;
};

// Returns the first `count` points of a space under a sequence.
template <PointSequence Sequence>
std::vector<HyperPoint> points_of(const SearchSpace& space, const Sequence& sequence, std::size_t count) {
  std::vector<HyperPoint> points;
  for (std::size_t i = 0; i < count; ++i) points.push_back(space.at(sequence.point(i)));
  return points;
}

// Returns `count` points of a space. Of a list, draws that many points without replacement, in random order; throws
// Error if it has fewer. `seed` selects one of many equally good sets; Search::official has one set only.
inline std::vector<HyperPoint> search_points(const SearchSpace& space, std::size_t count, std::uint64_t seed = 0,
                                             Search search = Search::halton) {
  if (!space.listed().empty()) {
    std::vector<HyperPoint> points = space.listed();
    require(count <= points.size(), "search space: ", count, " points were requested of a list of ", points.size());
    RandomStream random(RandomKey{seed});
    for (std::size_t i = 0; i < count; ++i)
      std::swap(points[i], points[i + random.below(static_cast<std::uint32_t>(points.size() - i))]);
    points.resize(count);
    return points;
  }
  switch (search) {
    case Search::sobol:
      return points_of(space, ScrambledSobol(space.dimensions(), seed), count);
    case Search::random:
      return points_of(space, RandomPoints(space.dimensions(), seed), count);
    case Search::official:
      return points_of(space, OfficialHalton(space.dimensions()), count);
    case Search::halton:
      break;
  }
  return points_of(space, ScrambledHalton(space.dimensions(), seed), count);
}

}  // namespace algoperf
