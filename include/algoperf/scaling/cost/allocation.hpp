#pragma once

#include <cmath>

#include "../../core/error.hpp"
#include "../fit/fit.hpp"
#include "../laws/chinchilla.hpp"

namespace algoperf {

// N parameters trained on D samples, at a cost of `per_pair` N D FLOPs. per_pair is 6 for a forward and a backward
// pass if only matrix products count.
struct Allocation {
  double parameters = 0, samples = 0;
};

// Returns the N and D that minimise E + A / N^alpha + B / D^beta at a cost of C = `flops`, with k = `per_pair`:
//   N = G (C / k)^a,  D = (C / k)^(1 - a) / G
//   G = (alpha A / (beta B))^(1 / (alpha + beta)),  a = beta / (alpha + beta)
// Throws Error if the fit did not converge, or if the observations do not determine A, B, alpha or beta.
inline Allocation best_allocation(const Fit<Chinchilla>& fit, double flops, double per_pair = 6) {
  require(flops > 0 && flops < HUGE_VAL && per_pair > 0, "best_allocation: ", flops, " FLOPs at ", per_pair,
          " per parameter and sample, expected positive numbers");
  require(fit.starts == 0 || fit.converged, "best_allocation: the fit did not converge");
  const auto [no_a, no_b, no_e, no_alpha, no_beta] = fit.undetermined;
  require(!no_a && !no_b && !no_alpha && !no_beta, "best_allocation: the observations do not determine the fit's ",
          no_a       ? "A"
          : no_b     ? "B"
          : no_alpha ? "alpha"
                     : "beta",
          ": other allocations fit them equally well");
  const auto [a, b, e, alpha, beta] = fit.parameters();
  require(a > 0 && b > 0 && alpha > 0 && beta > 0, "best_allocation: A, B, alpha and beta are ", a, ", ", b, ", ",
          alpha, " and ", beta, ", expected positive numbers");
  const double pairs = flops / per_pair, share = beta / (alpha + beta);
  const double g = std::pow(alpha * a / (beta * b), 1 / (alpha + beta));
  const Allocation best{g * std::pow(pairs, share), std::pow(pairs, 1 - share) / g};
  require(best.parameters > 0 && best.parameters < HUGE_VAL && best.samples > 0 && best.samples < HUGE_VAL,
          "best_allocation: the best size is ", best.parameters, " on ", best.samples,
          " samples, outside the range of a double");
  return best;
}

}  // namespace algoperf
