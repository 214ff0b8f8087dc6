// DecodingStep: what an op receives in a step of decoding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../backend/concept.hpp"
#include "../../core/config.hpp"

namespace algoperf {

// In decoding, a step appends one element to each of several sequences. The rows of one axis, the decoded axis, are
// these elements. All sequences have the same length. An example may have several sequences, such as the hypotheses of
// a beam search, and several sequences may continue the same one.
struct GrowingSequences {
  std::size_t place = 0;  // the position of the new elements in their sequences, from 0
  std::size_t most_steps = 0;
  // In the backend's memory. For s < place, ancestors[r most_steps + s] is the row that held element s of row r's
  // sequence in step s.
  const std::uint32_t* ancestors = nullptr;

  // Returns the index of the element that step s appended to the sequence of row r. Each row has most_steps elements.
  // If row r continues row r in every step, its elements are contiguous.
  ALGOPERF_HD std::size_t element(std::size_t r, std::size_t s) const {
    return (s == place ? r : ancestors[r * most_steps + s]) * most_steps + s;
  }
};

// The memory of an op: per row and step, kept_of_step activations and exact_of_step elements of the parameters' type
// (OpTraits). What an op keeps of an element begins at element(r, s) kept_of_step, so that later steps find it.
template <class B>
struct DecodingStep {
  GrowingSequences sequences;
  Stored<B>* kept = nullptr;
  typename B::Scalar* exact = nullptr;
};

}  // namespace algoperf
