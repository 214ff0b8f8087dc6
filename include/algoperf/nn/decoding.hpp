// What a Decoder (loop/decoder.hpp) and algorithms that decode, such as beam_search, tell each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/error.hpp"

namespace algoperf {

// How much a Decoder has memory for.
struct DecodingSizes {
  std::size_t examples = 64;  // decoded at a time
  std::size_t sequences = 1;  // the most of an example, such as the hypotheses of a beam search
  std::size_t steps = 64;     // the most tokens of a sequence

  void check() const {
    require(examples > 0 && sequences > 0 && steps > 0, "DecodingSizes: examples is ", examples, ", sequences ",
            sequences, " and steps ", steps, ", expected at least 1 each");
  }
};

// The next token of a sequence, which continues row `parent` of the step before. Several sequences may continue one.
struct SequenceToken {
  std::size_t example = 0, parent = 0;  // the first step ignores `parent`
  std::int32_t token = 0;
};

}  // namespace algoperf
