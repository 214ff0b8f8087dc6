#pragma once

#include <cstddef>
#include <type_traits>

#include "config.hpp"
#include "math.hpp"

namespace algoperf::math {

// P(X > a) exp(a^2 / 2) for a standard normal X and a >= 0: the ratio of the tail probability to the density at a,
// divided by sqrt(2 pi). Evaluates a polynomial in u = 2 / (1 + bend a) - 1 from Chebyshev interpolation
// (tests/golden/make_normal_tail.py). The polynomial's relative error is 3e-14, and 3e-8 for float.
template <class T>
ALGOPERF_HD T normal_tail(T a) {
  using S = Scalar<T>;
  constexpr bool is_float = sizeof(S) == sizeof(float);
  constexpr double bend = is_float ? 0.2 : 0.3;
  constexpr double narrow[] = {0.076919304975006403,    0.1434575722971155,     0.11606886663939342,
                               0.080883544714975858,    0.047854251787024543,   0.02341564422774247,
                               0.0089976120973842555,   0.0023754269943545765,  0.00020491409467447071,
                               -0.00013219038693922482, -4.4954124357394157e-05};
  constexpr double wide[] = {
      0.11098530691721618,     0.19327504896030265,     0.12556456075237699,     0.057155001445637822,
      0.01478875063125957,     -0.00030338036342136783, -0.001499769463806906,   -0.00014600296630120472,
      0.00018688770363321086,  2.0197970889105619e-05,  -3.0431586027040067e-05, -2.0225857562067518e-07,
      5.4710564104099403e-06,  -9.8857567204899217e-07, -8.2313513900051192e-07, 4.1113003448661452e-07,
      -9.8645658166961145e-09, -9.1469209239153903e-08, 1.0345540526688973e-07,  1.1894218323047191e-09,
      -6.664682584239408e-08,  6.4415067588074352e-09,  2.4122928940179129e-08,  -1.50461320078481e-09,
      -3.9428661823635106e-09};
  constexpr std::size_t n = is_float ? sizeof narrow / sizeof *narrow : sizeof wide / sizeof *wide;
  const T u = T(S(2)) / (T(S(1)) + T(S(bend)) * a) - T(S(1));
  T sum(S(0));
  for (std::size_t k = n; k-- > 0;) sum = sum * u + T(static_cast<S>(is_float ? narrow[is_float ? k : 0] : wide[k]));
  return sum;
}

}  // namespace algoperf::math
