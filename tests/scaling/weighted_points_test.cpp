#include <doctest/doctest.h>

#include <algoperf/scaling/laws/weighted_points.hpp>
#include <cmath>
#include <vector>

#include "../support/near.hpp"

namespace ap = algoperf;

namespace {

struct WeightedPoint {
  double x, y, weight;
};
constexpr auto x_of = [](const WeightedPoint& point) { return point.x; };
constexpr auto y_of = [](const WeightedPoint& point) { return point.y; };

}  // namespace

TEST_CASE("statistics of points honour their weights") {
  const std::vector<WeightedPoint> points = {{1, 4, 1}, {2, -5, 3}, {7, 1, 0.5}};
  CHECK(ap::extent(points, x_of).least == 1);
  CHECK(ap::extent(points, x_of).most == 7);
  CHECK(ap::total_weight(points) == 4.5);
  CHECK(ap::weighted_mean(points, y_of) == near((4 - 15 + 0.5) / 4.5, 1e-14));
}

TEST_CASE("a least-squares line equals the solution of the weighted normal equations") {
  // Sums over the points: w = 4, w x = 8, w y = 14, w x^2 = 18, w x y = 34.
  const std::vector<WeightedPoint> points = {{1, 0, 1}, {2, 4, 2}, {3, 6, 1}};
  const ap::Line line = ap::least_squares_line(points, x_of, y_of);
  CHECK(line.slope == near((4 * 34 - 8 * 14) / (4 * 18 - 8 * 8.0), 1e-14));
  CHECK(line.intercept == near((14 - 3 * 8) / 4.0, 1e-14));

  const std::vector<WeightedPoint> with_gaps = {{1, 0, 1}, {2, 4, 2},        {INFINITY, 5, 1},
                                                {3, 6, 1}, {5, INFINITY, 1}, {6, NAN, 1}};
  CHECK(ap::least_squares_line(with_gaps, x_of, y_of).slope == line.slope);
  CHECK(ap::least_squares_line(with_gaps, x_of, y_of).intercept == line.intercept);

  const std::vector<WeightedPoint> same_x = {{2, 1, 1}, {2, 3, 1}};
  CHECK(ap::least_squares_line(same_x, x_of, y_of).slope == 0);
  CHECK(ap::least_squares_line(same_x, x_of, y_of).intercept == 2);
}
