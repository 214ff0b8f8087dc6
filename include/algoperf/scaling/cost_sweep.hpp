#pragma once

#include <cstdint>
#include <vector>

#include "fit.hpp"
#include "laws/first_order.hpp"
#include "requirements.hpp"
#include "step_cost.hpp"

namespace algoperf {

// What the steps of a family of models need to first order: laws fitted to the cost of each member on each batch, to
// its memory on the last. Throws Error as fit() does, so with fewer than two members.
template <class Model, class Loss = SoftmaxCrossEntropy>
Requirements requirements_of(const std::vector<Model>& family, const std::vector<std::uint64_t>& batches,
                             const StepOptions<Loss>& options = {}) {
  std::vector<Observation<2>> flops, bytes;
  std::vector<Observation<1>> footprints;
  for (const Model& model : family)
    for (const std::uint64_t batch : batches) {
      const StepCost step = cost(model, batch, options);
      const double p = static_cast<double>(step.parameters), b = static_cast<double>(batch);
      flops.push_back({{p, b}, step.flops().value});
      bytes.push_back({{p, b}, step.bytes().value});
      if (batch == batches.back()) footprints.push_back({{p}, step.memory().value});
    }
  return requirements_of(fit(StepFlops{}, flops), fit(StepBytes{}, bytes), fit(StepFootprint{}, footprints));
}

}  // namespace algoperf
