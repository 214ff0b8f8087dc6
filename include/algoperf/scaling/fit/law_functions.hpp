#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "../concept.hpp"
#include "jet.hpp"

namespace algoperf::detail {

// The functions of a scaling law, chosen at run time: fits are compiled once for all laws with the same numbers of
// variables and parameters.
template <std::size_t Variables, std::size_t N>
struct LawFunctions {
  using Sizes = std::array<double, Variables>;
  using Theta = std::array<double, N>;
  using Points = std::vector<FitPoint<Variables>>;

  double (*log_value)(const Sizes& logs, const Theta& theta);
  Jet<N> (*log_jet)(const Sizes& logs, const std::array<Jet<N>, N>& theta);
  Theta (*in_order)(const Theta& theta);  // sorts interchangeable terms
  std::vector<Theta> (*starts)(const Points& points);

  // Calls f(point, log law(x)) for each of the points. The logarithm has derivatives with respect to theta.
  template <class F>
  void for_each_jet(const Points& points, const Theta& at, const F& f) const {
    std::array<Jet<N>, N> theta;
    for (std::size_t i = 0; i < N; ++i) theta[i] = Jet<N>::variable(at[i], i);
    for (const auto& p : points) f(p, log_jet(p.log_x, theta));
  }
};

template <class Law>
std::array<double, Law::parameters> in_order(const std::array<double, Law::parameters>& theta) {
  if constexpr (requires { Law::in_order(theta); })
    return Law::in_order(theta);
  else
    return theta;
}

template <ScalingLaw Law>
inline constexpr LawFunctions<Law::variables, Law::parameters> law_functions{
    [](const auto& logs, const auto& theta) { return Law::template log_value<double>(logs, theta); },
    [](const auto& logs, const auto& theta) { return Law::template log_value<Jet<Law::parameters>>(logs, theta); },
    [](const auto& theta) { return in_order<Law>(theta); },
    [](const auto& points) -> std::vector<std::array<double, Law::parameters>> { return Law::starts(points); }};

}  // namespace algoperf::detail
