#pragma once

#include <cstddef>

#include "../../backend/concept.hpp"
#include "../../core/map_kernels.hpp"
#include "memory_plan.hpp"

namespace algoperf::detail {

// Executes a step of kind `add`, `copy` or `zero` on n elements of the gradient of a value.
template <class B>
void run_gradient_step(const B& backend, PlanStep::Kind kind, std::size_t n, const Stored<B>* x, Stored<B>* y) {
  if (kind == PlanStep::Kind::add)
    backend.map(Add{}, n, y, x);
  else if (kind == PlanStep::Kind::copy)
    backend.copy(n, x, y);
  else
    backend.fill(n, y, Stored<B>(0));
}

// The type of run_gradient_step<B>.
template <class B>
using GradientStep = void(const B&, PlanStep::Kind, std::size_t, const Stored<B>*, Stored<B>*);

}  // namespace algoperf::detail
