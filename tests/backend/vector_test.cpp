#include "algoperf/backend/vector.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

namespace ap = algoperf;

namespace {

template <class S>
struct Lanes {
  using V = ap::Vector<S>;
  S values[V::width];
  explicit Lanes(V v) { v.store(values); }
};

template <class S>
ap::Vector<S> ramp(S first) {
  S values[ap::Vector<S>::width];
  for (std::size_t i = 0; i < ap::Vector<S>::width; ++i) values[i] = first + static_cast<S>(i);
  return ap::Vector<S>::load(values);
}

}  // namespace

TEST_CASE_TEMPLATE("a vector does in every lane what a scalar does", S, float, double) {
  using V = ap::Vector<S>;
  for (const S first : {S(-2), S(0), S(2)}) {
    const V x = ramp<S>(first), y = ramp<S>(S(0.5));
    const Lanes<S> sum(x + y), difference(x - y), product(x * y), quotient(x / y), negative(-x),
        root(ap::math::sqrt(y)), sign(ap::math::sign(x)), absolute(ap::math::abs(x)), most(ap::math::max(x, V(1))),
        least(ap::math::min(x, V(1))), chosen(ap::math::select(x > V(0) && !(x == V(1)), x, y)),
        other(ap::math::select(x <= V(-2) || x >= V(2), x, y));
    for (std::size_t i = 0; i < V::width; ++i) {
      const S a = first + static_cast<S>(i), b = S(0.5) + static_cast<S>(i);
      CHECK(sum.values[i] == a + b);
      CHECK(difference.values[i] == a - b);
      CHECK(product.values[i] == a * b);
      CHECK(quotient.values[i] == a / b);
      CHECK(negative.values[i] == -a);
      CHECK(root.values[i] == std::sqrt(b));
      CHECK(sign.values[i] == ap::math::sign(a));
      CHECK(absolute.values[i] == std::abs(a));
      CHECK(most.values[i] == std::fmax(a, S(1)));
      CHECK(least.values[i] == std::fmin(a, S(1)));
      CHECK(chosen.values[i] == (a > 0 && a != 1 ? a : b));
      CHECK(other.values[i] == (a <= -2 || a >= 2 ? a : b));
    }
  }
}

TEST_CASE_TEMPLATE("a number fills every lane and keeps its sign, zero's too", S, float, double) {
  for (const S x : {S(0), S(-0.0), S(1.5), std::numeric_limits<S>::infinity()}) {
    const Lanes<S> lanes{ap::Vector<S>(x)};
    for (const S lane : lanes.values) {
      CHECK(lane == x);
      CHECK(std::signbit(lane) == std::signbit(x));
    }
  }
}
