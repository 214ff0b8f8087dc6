#pragma once

#include <cstdint>
#include <vector>

#include "../../core/error.hpp"
#include "../fit/fit.hpp"
#include "../laws/first_order.hpp"
#include "requirements.hpp"
#include "step_cost.hpp"

namespace algoperf {

// Returns the first-order requirements of the training steps of a family of models. Fits laws of FLOPs and bytes to
// the cost of each model on each batch, and a law of memory to the memory of each model on the batch `trained`,
// because memory includes activations. The laws are first-order: for small models, whose activations exceed their
// parameters, the predicted memory can be far off. Throws Error if there are fewer than two models or no batch.
template <class Model, class Loss = SoftmaxCrossEntropy>
Requirements requirements_of(const std::vector<Model>& family, const std::vector<std::uint64_t>& batches,
                             std::uint64_t trained, const StepOptions<Loss>& options = {}) {
  require(family.size() >= 2, "requirements_of: there are ", family.size(), " models, expected at least 2");
  require(!batches.empty(), "requirements_of: there are no batches");
  std::vector<Observation<2>> flops, bytes;
  std::vector<Observation<1>> footprints;
  for (const Model& model : family) {
    const StepCost step = cost(model, trained, options);
    footprints.push_back({{static_cast<double>(step.parameters)}, step.memory().value});
  }
  for (const Model& model : family)
    for (const std::uint64_t batch : batches) {
      const StepCost step = cost(model, batch, options);
      const double p = static_cast<double>(step.parameters), b = static_cast<double>(batch);
      flops.push_back({{p, b}, step.flops().value});
      bytes.push_back({{p, b}, step.bytes().value});
    }
  return requirements_of(fit(StepFlops{}, flops), fit(StepBytes{}, bytes), fit(StepFootprint{}, footprints));
}

}  // namespace algoperf
