// MatrixWork: the argument of a matrix stage's transform().
#pragma once

#include <cstddef>

#include "../../backend/work.hpp"
#include "../../core/layout.hpp"
#include "../../core/step.hpp"

namespace algoperf {

// One step on the tensors of one region. u and p are the region's arrays in the backend's memory. transform() either
// replaces u or, as in FactoredRms, sets the factors of its tensors. It leaves p unchanged.
template <class BackendType>
struct MatrixWork {
  using Backend = BackendType;
  using Scalar = typename Backend::Scalar;
  const Backend& backend;
  Step step;
  const Layout& layout;
  const Region& region;
  Scalar* u;
  const Scalar* p;
  TensorWork<Scalar>* tensors;  // one per tensor of the region

  std::size_t size() const { return region.tensors.size(); }
  const Shape& shape(std::size_t i) const { return layout.spec(region.tensors[i]).shape; }
  Scalar* u_of(std::size_t i) const { return u + tensors[i].offset; }
};

}  // namespace algoperf
