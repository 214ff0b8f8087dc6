#pragma once

#include <type_traits>

#include "../core/map_kernels.hpp"
#include "concept.hpp"

namespace algoperf {

// The memory for running a model, allocated once for batches of up to `capacity` examples. It holds what layers keep
// from forward to backward, their scratch, and the rounded parameters that matrix products read. A LayerCall returned
// by call() refers to the workspace and to the arguments of call(), so all of them must outlive it.
template <class B>
class Workspace {
  using Scalar = typename B::Scalar;

 public:
  template <class Model>
  Workspace(const B& backend, const Model& model, std::size_t capacity)
      : capacity_(capacity),
        kept_(backend.template array<Stored<B>>(element_count(model.memory().kept, capacity))),
        scratch_(backend.template array<Stored<B>>(model.memory().scratch_within(backend.scratch, capacity))),
        exact_(backend.template array<Scalar>(element_count(model.memory().exact, capacity))) {}

  std::size_t capacity() const { return capacity_; }

  // Returns the LayerCall of a pass over `batch` examples, at most `capacity`. gradients may be null for a forward pass
  // without a backward pass. If the activations' type differs from the parameters' type, this rounds `values` to the
  // activations' type, so later changes of `values` do not reach the matrix products of this pass.
  LayerCall<B> call(const B& backend, const Layout& layout, const Scalar* values, Scalar* gradients, std::size_t batch,
                    Mode mode = Mode::train, RandomKey key = {}) {
    LayerCall<B> call{backend, layout, values,       gradients,       batch,        capacity_,
                      mode,    key,    kept_.data(), scratch_.data(), exact_.data()};
    if constexpr (!std::is_same_v<Stored<B>, Scalar>) {
      if (rounded_.size() < layout.size()) rounded_ = backend.template array<Stored<B>>(layout.size());
      backend.map(Assign{}, layout.size(), rounded_.data(), values);
      call.rounded = rounded_.data();
    }
    return call;
  }

 private:
  std::size_t capacity_;
  typename B::template Array<Stored<B>> kept_, scratch_, rounded_;
  typename B::template Array<Scalar> exact_;
};

}  // namespace algoperf
