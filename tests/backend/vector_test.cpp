#include "algoperf/backend/host/vector.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/backend/host/denormals.hpp"
#include "algoperf/backend/host/first_lanes.hpp"
#include "algoperf/core/random.hpp"

namespace ap = algoperf;

TEST_CASE_TEMPLATE("exp of a vector has a relative error below two epsilons", S, float, double) {
  using V = ap::Vector<S>;
  constexpr bool is_float = std::is_same_v<S, float>;
  const double least = is_float ? -86.6 : -707.6, most = is_float ? 88.72 : 709.78;
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    S x[V::width], y[V::width];
    for (std::size_t k = 0; k < V::width; ++k)
      x[k] = static_cast<S>(least + (most - least) *
                                        static_cast<double>((static_cast<std::size_t>(i) * 97 + k) % 19997) / 19997);
    ap::math::exp<V>(V::load(x)).store(y);
    for (std::size_t k = 0; k < V::width; ++k) {
      const long double exact = std::exp(static_cast<long double>(x[k]));
      worst = larger_or_nan(worst, static_cast<double>(std::abs(static_cast<long double>(y[k]) - exact) / exact));
    }
  }
  CHECK(worst < 2 * static_cast<double>(std::numeric_limits<S>::epsilon()));

  const auto at = [](S value) {
    S y[V::width];
    ap::math::exp<V>(V(value)).store(y);
    return y[V::width - 1];
  };
  constexpr S infinity = std::numeric_limits<S>::infinity();
  CHECK(at(0) == 1);
  CHECK(at(-infinity) == 0);
  CHECK(at(-800) == 0);
  CHECK(at(S(-1e10)) == 0);
  CHECK(at(std::numeric_limits<S>::lowest()) == 0);
  CHECK(at(std::numeric_limits<S>::max()) == infinity);
  CHECK(at(is_float ? S(-86.98) : S(-708)) > std::numeric_limits<S>::min());
  CHECK(at(is_float ? S(-87) : S(-708.1)) == 0);
  CHECK(at(800) == infinity);
  CHECK(at(is_float ? S(88.73) : S(709.79)) == infinity);  // here 2^n does not overflow yet
  CHECK(at(infinity) == infinity);
  CHECK(std::isnan(at(std::numeric_limits<S>::quiet_NaN())));
}

TEST_CASE_TEMPLATE("tanh of a vector has a relative error below three epsilons and is odd", S, float, double) {
  using V = ap::Vector<S>;
  const auto at = [](S value) {
    S y[V::width];
    ap::math::tanh(V(value)).store(y);
    return y[V::width - 1];
  };
  double worst = 0;
  for (int i = -9000; i < 11000; ++i) {  // from 1e-9 to 100, as many points below 1 as above
    const S x = static_cast<S>(i < 0 ? std::pow(10, i / 1000.0) : 1 + i * 0.009);
    const long double exact = std::tanh(static_cast<long double>(x));
    worst = larger_or_nan(worst, static_cast<double>(std::abs(static_cast<long double>(at(x)) - exact) / exact));
    if (at(-x) != -at(x)) CHECK(at(-x) == -at(x));
  }
  CHECK(worst < 3 * static_cast<double>(std::numeric_limits<S>::epsilon()));

  constexpr S subnormal = std::numeric_limits<S>::min() / 4;
  CHECK(at(subnormal) == subnormal);
  {
    const ap::detail::FlushDenormals flush;
    CHECK(at(subnormal) <= subnormal);
    CHECK(at(S(0.5)) == near(std::tanh(0.5), 1e-6));
  }
  CHECK(at(S(0)) == 0);
  CHECK(!std::signbit(at(S(0))));
  CHECK(std::signbit(at(S(-0.0))));
  CHECK(at(std::numeric_limits<S>::infinity()) == 1);
  CHECK(at(-std::numeric_limits<S>::infinity()) == -1);
  CHECK(at(std::numeric_limits<S>::max()) == 1);
  CHECK(std::isnan(at(std::numeric_limits<S>::quiet_NaN())));
}

TEST_CASE_TEMPLATE("fast_divide is within one unit in the last place", S, float, double) {
  using V = ap::Vector<S>;
  double worst = 0;
  ap::RandomStream random(ap::RandomKey{5});
  for (int i = 0; i < 20000; ++i) {
    S x[V::width], y[V::width], q[V::width];
    for (std::size_t k = 0; k < V::width; ++k) {
      x[k] = static_cast<S>(random.normal() * std::exp2(80 * random.uniform_double() - 60));
      y[k] = static_cast<S>(std::exp2(100 * random.uniform_double() - 60));
    }
    ap::math::fast_divide(V::load(x), V::load(y)).store(q);
    for (std::size_t k = 0; k < V::width; ++k) {
      const long double exact = static_cast<long double>(x[k]) / static_cast<long double>(y[k]);
      const S rounded = std::abs(static_cast<S>(exact));
      const S unit = std::nextafter(rounded, std::numeric_limits<S>::infinity()) - rounded;
      worst = larger_or_nan(worst, static_cast<double>(std::abs(static_cast<long double>(q[k]) - exact) / unit));
    }
  }
  CHECK(worst <= 1);

  const auto quotient = [](S x, S y) {
    S q[V::width];
    ap::math::fast_divide(V(x), V(y)).store(q);
    return q[V::width - 1];
  };
  constexpr S infinity = std::numeric_limits<S>::infinity(), nan = std::numeric_limits<S>::quiet_NaN();
  constexpr S least = std::numeric_limits<S>::min(), most = std::numeric_limits<S>::max();
  const auto check = [&] {
    CHECK(quotient(0, least) == 0);
    CHECK(std::abs(quotient(-3, infinity)) <= 4 / most);
    CHECK(quotient(6, 3) == 2);
    CHECK(quotient(-6, 3) == -2);
    CHECK(std::isnan(quotient(nan, 1)));
    CHECK(std::isnan(quotient(1, nan)));
  };
  check();
  const ap::detail::FlushDenormals flush;
  check();
}

TEST_CASE_TEMPLATE("the first lanes of a vector are loaded and stored, and nothing behind them", S, float, double) {
  using V = ap::Vector<S>;
  for (std::size_t count = 0; count <= V::width; ++count) {
    CAPTURE(count);
    std::vector<S> from(count), to(V::width + 1, S(-1)), loaded(V::width);  // sanitizers see reads behind `from`
    for (std::size_t i = 0; i < count; ++i) from[i] = static_cast<S>(i + 1);
    const V lanes = ap::detail::load_first(from.data(), count);
    lanes.store(loaded.data());
    ap::detail::store_first(lanes, to.data(), count);
    for (std::size_t i = 0; i <= V::width; ++i) CHECK(to[i] == (i < count ? static_cast<S>(i + 1) : S(-1)));
    for (std::size_t i = 0; i < V::width; ++i) CHECK(loaded[i] == (i < count ? static_cast<S>(i + 1) : S(0)));
  }
}
