// Types shared by Decoder (loop/decoder.hpp) and searches such as beam_search.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/element_count.hpp"
#include "../core/error.hpp"

namespace algoperf {

// The limits for which a Decoder reserves memory.
struct DecodingSizes {
  std::size_t examples = 64;  // decoded at a time
  std::size_t sequences = 1;  // the maximum number per example, such as the hypotheses of a beam search
  std::size_t steps = 0;      // the maximum number of tokens of a sequence; 0: the model's limit, which it must have

  std::size_t rows() const { return element_count(examples, sequences); }
  void check() const {
    require(examples > 0 && sequences > 0, "DecodingSizes: examples is ", examples, " and sequences ", sequences,
            ", expected at least 1 each");
    require(rows() <= UINT32_MAX, "DecodingSizes: examples is ", examples, " and sequences ", sequences,
            ", expected less than 2^32 sequences in all");
  }
};

// A token that extends a sequence. `example` counts from the first example that was given to Decoder::begin(). `parent`
// is the index, among the tokens of the step before, of the token that this one follows; several may follow one. The
// first step ignores it: each token begins a sequence.
struct SequenceToken {
  std::size_t example = 0, parent = 0;
  std::int32_t token = 0;
};

}  // namespace algoperf
