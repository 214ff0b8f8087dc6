// ctc_decode: the symbols that a model trained by CtcLoss spells.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/config.hpp"

namespace algoperf {

// Decodes the outputs of one example, `rows` x `classes`: takes the largest output of each row (the first of equal
// ones), merges equal neighbours, and removes blanks.
// Source: Graves et al. 2006, "Connectionist temporal classification", section 3.2 (best path decoding).
template <class S>
std::vector<std::int32_t> ctc_decode(const S* outputs, std::size_t rows, std::size_t classes, std::size_t blank = 0) {
  std::vector<std::int32_t> symbols;
  std::size_t last = blank;
  for (const S* row = outputs; row != outputs + rows * classes; row += classes) {
    const auto best = static_cast<std::size_t>(std::max_element(row, row + classes) - row);
    if (best != blank && best != last) symbols.push_back(static_cast<std::int32_t>(best));
    last = best;
  }
  return symbols;
}

}  // namespace algoperf
