// DecodingStep: what an op knows of a step of decoding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../backend/concept.hpp"
#include "../../core/config.hpp"

namespace algoperf {

// In decoding, the rows of one axis, the decoded axis, are the newest elements of sequences, all at the same place. A
// step appends an element to every sequence. An example may have several sequences, such as the hypotheses of a beam
// search, and several sequences may continue the same one.
struct GrowingSequences {
  std::size_t place = 0;  // of the newest elements: the number of elements before them
  std::size_t most_steps = 0;
  // In the backend's memory: ancestors[r most_steps + s] is the row of the earlier step s that sequence r contains.
  const std::uint32_t* ancestors = nullptr;

  // Returns the index, among the elements of all rows with most_steps elements each, of the element that step s
  // appended to the sequence that row r continues now. So the elements of a row that continued itself are contiguous.
  ALGOPERF_HD std::size_t element(std::size_t r, std::size_t s) const {
    return (s == place ? r : ancestors[r * most_steps + s]) * most_steps + s;
  }
};

// Memory for the elements that the op's traits kept_of_step and exact_of_step ask for, at each
// GrowingSequences::element().
template <class B>
struct DecodingStep {
  GrowingSequences sequences;
  Stored<B>* kept = nullptr;
  typename B::Scalar* exact = nullptr;
};

}  // namespace algoperf
