#pragma once

#include "concept.hpp"

namespace algoperf {

// The memory a model works in, planned once for batches of up to `capacity` examples: what layers keep from forward to
// backward, and their scratch. It must outlive the passes it makes, and so must what they are made of.
template <class B>
class Workspace {
  using S = typename B::Scalar;

 public:
  template <class Model>
  Workspace(const B& backend, const Model& model, std::size_t capacity)
      : capacity_(capacity),
        kept_(backend.template array<S>(model.memory().kept * capacity)),
        scratch_(backend.template array<S>(model.memory().scratch_within(backend.scratch, capacity))) {}

  std::size_t capacity() const { return capacity_; }

  // A pass over `batch` examples, at most `capacity`; gradients may be null for forward alone.
  LayerPass<B> pass(const B& backend, const Layout& layout, const S* values, S* gradients, std::size_t batch,
                    Mode mode = Mode::train, RandomKey key = {}) {
    return {backend, layout, values, gradients, batch, capacity_, mode, key, kept_.data(), scratch_.data()};
  }

 private:
  std::size_t capacity_;
  typename B::template Array<S> kept_, scratch_;
};

}  // namespace algoperf
