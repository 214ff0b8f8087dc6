#pragma once

#include <cstddef>
#include <type_traits>

#include "config.hpp"
#include "math.hpp"

namespace algoperf::math {

// P(X > a) exp(a^2 / 2) for a standard normal X and a >= 0: the ratio of the tail probability to the density at a,
// divided by sqrt(2 pi). Evaluates a polynomial in u = 2 / (1 + 0.3 a) - 1 from Chebyshev interpolation
// (tests/golden/make_normal_tail.py). The polynomial's relative error is 3e-14, and 5e-9 for float.
template <class T>
ALGOPERF_HD T normal_tail(T a) {
  using S = Scalar<T>;
  constexpr bool is_float = sizeof(S) == sizeof(float);
  constexpr std::size_t n = is_float ? 13 : 25;
  constexpr double narrow[] = {0.11098530691721656,    0.19327504949779273,     0.12556456264797508,
                               0.0571549858673445,     0.014788697281380221,    -0.0003032449709516788,
                               -0.0014993372143885682, -0.00014653964766267881, 0.00018537103170006796,
                               2.1336589130031197e-05, -2.779885486869595e-05,  -1.5873230219110811e-06,
                               3.1983167095341325e-06};
  constexpr double wide[] = {
      0.11098530691721618,     0.19327504896030265,     0.12556456075237699,     0.057155001445637822,
      0.01478875063125957,     -0.00030338036342136783, -0.001499769463806906,   -0.00014600296630120472,
      0.00018688770363321086,  2.0197970889105619e-05,  -3.0431586027040067e-05, -2.0225857562067518e-07,
      5.4710564104099403e-06,  -9.8857567204899217e-07, -8.2313513900051192e-07, 4.1113003448661452e-07,
      -9.8645658166961145e-09, -9.1469209239153903e-08, 1.0345540526688973e-07,  1.1894218323047191e-09,
      -6.664682584239408e-08,  6.4415067588074352e-09,  2.4122928940179129e-08,  -1.50461320078481e-09,
      -3.9428661823635106e-09};
  const T u = T(S(2)) / (T(S(1)) + T(S(0.3)) * a) - T(S(1));
  T sum(S(0));
  for (std::size_t k = n; k-- > 0;) sum = sum * u + T(static_cast<S>(is_float ? narrow[k < 13 ? k : 0] : wide[k]));
  return sum;
}

}  // namespace algoperf::math
