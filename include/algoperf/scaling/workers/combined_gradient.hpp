// CombinedGradient: how near the combination of W workers' gradients is to the gradient of the loss, and how much a
// step with it lowers the loss.
//
// A worker's gradient is g = G + n: the gradient G of the loss, and noise n of mean 0 with E|n|^2 = tr(Sigma) / b for b
// examples. The noise scale N = tr(Sigma) / |G|^2, in examples, is what measure_noise_scale() measures. SGD with a rate
// of x e, where e = |G|^2 / (G' H G) is the best rate without noise, lowers the loss, to second order, by
//   |G|^2 e / 2  times  2 x gain - x^2 (gain^2 + variance N)
// if noise and gradient meet the same curvature, tr(H Sigma) / (G' H G) = N. With the mean of a batch and the best
// rate, this is 1 / (1 + N / B), and the steps to a loss are Smin (1 + N / B) (McCandlish et al. 2018,
// arXiv:1812.06162, section 2). The same assumptions for Adasum are ours: dot products equal their
// expectations, as they nearly do for gradients of many elements, and one noise scale stands for all tensors.
#pragma once

#include <cstddef>

#include "../../core/error.hpp"

namespace algoperf {

// The combination has mean `gain` G, and noise of the mean square `variance` tr(Sigma).
struct CombinedGradient {
  double gain = 1;
  double variance = 0;  // 1 / examples

  // E|g|^2 / |G|^2.
  constexpr double square(double noise_scale) const { return gain * gain + variance * noise_scale; }
  // Returns the fraction of the largest possible decrease of the loss that a step with a rate of x e brings; negative
  // if the loss rises.
  constexpr double progress(double noise_scale, double rate) const {
    return 2 * rate * gain - rate * rate * square(noise_scale);
  }
  // Returns the rate of most progress, in units of e.
  constexpr double best_rate(double noise_scale) const { return gain / square(noise_scale); }
};

// The ways of combining gradients that plans compare.
enum class Combination { mean, sum, adasum };

constexpr const char* describe(Combination combination) {
  switch (combination) {
    case Combination::mean:
      return "mean";
    case Combination::sum:
      return "sum";
    case Combination::adasum:
      return "adasum";
  }
  return "";
}

namespace detail {

// adasum_tree (combine/adasum_tree.hpp) of `workers` gradients, with expectations in place of dot products.
inline CombinedGradient adasum_of_gradients(double noise_scale, double examples_per_worker, std::size_t workers) {
  if (workers == 1) return {1, 1 / examples_per_worker};
  const CombinedGradient a = adasum_of_gradients(noise_scale, examples_per_worker, workers / 2);
  const CombinedGradient b =
      workers % 2 == 0 ? a : adasum_of_gradients(noise_scale, examples_per_worker, workers - workers / 2);
  const double dot = a.gain * b.gain;
  const double of_a = 1 - dot / (2 * a.square(noise_scale)), of_b = 1 - dot / (2 * b.square(noise_scale));
  return {of_a * a.gain + of_b * b.gain, of_a * of_a * a.variance + of_b * of_b * b.variance};
}

}  // namespace detail

// Returns the combination of `workers` gradients of `examples_per_worker` examples each. Throws Error for no worker, a
// negative noise scale, or no examples.
inline CombinedGradient combined_gradient(Combination combination, double noise_scale, double examples_per_worker,
                                          std::size_t workers) {
  require(workers >= 1, "combined_gradient: workers is 0, expected at least 1");
  require(noise_scale >= 0 && examples_per_worker > 0, "combined_gradient: the noise scale is ", noise_scale, " and ",
          examples_per_worker, " examples per worker, expected at least 0 and more than 0");
  const double n = static_cast<double>(workers);
  switch (combination) {
    case Combination::mean:
      return {1, 1 / (n * examples_per_worker)};
    case Combination::sum:
      return {n, n / examples_per_worker};
    case Combination::adasum:
      break;
  }
  return detail::adasum_of_gradients(noise_scale, examples_per_worker, workers);
}

}  // namespace algoperf
