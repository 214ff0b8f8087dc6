// ctc_decode: best-path (greedy) decoding of the outputs of a model trained with CtcLoss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "../core/error.hpp"
#include "../data/fields.hpp"

namespace algoperf {

// Decodes the outputs of one example, `rows` x `classes`: takes the class with the largest output of each row (the
// first if several are equal), merges repeats in consecutive rows, and removes blanks.
// Source: Graves et al. 2006, "Connectionist temporal classification", section 3.2 (best path decoding).
// Throws Error unless `blank` is one of the classes.
template <class S>
std::vector<std::int32_t> ctc_decode(const S* outputs, std::size_t rows, std::size_t classes, std::size_t blank = 0) {
  require(blank < classes, "ctc_decode: blank is ", blank, ", expected one of the ", classes, " classes");
  std::vector<std::int32_t> symbols;
  std::size_t last = blank;
  for (const S* row = outputs; row != outputs + rows * classes; row += classes) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < classes; ++c)
      if (row[c] > row[best]) best = c;
    if (best != blank && best != last) symbols.push_back(static_cast<std::int32_t>(best));
    last = best;
  }
  return symbols;
}

// Decodes the outputs of all examples of a data set, such as those of predictor.predict(data), whose rows lie on the
// ragged axis `axis`. Throws Error unless there are `classes` outputs for each row.
template <class S, RaggedDataset Data>
std::vector<std::vector<std::int32_t>> ctc_decode(const std::vector<S>& outputs, const Data& data,
                                                  std::string_view axis, std::size_t classes, std::size_t blank = 0) {
  std::size_t rows = 0;
  for (std::size_t i = 0; i < data.size(); ++i) rows += data.rows(axis, i);
  require(outputs.size() == rows * classes, "ctc_decode: there are ", outputs.size(), " outputs, expected ", classes,
          " for each of ", rows, " rows");
  std::vector<std::vector<std::int32_t>> decoded;
  const S* next = outputs.data();
  for (std::size_t i = 0; i < data.size(); ++i) {
    decoded.push_back(ctc_decode(next, data.rows(axis, i), classes, blank));
    next += data.rows(axis, i) * classes;
  }
  return decoded;
}

}  // namespace algoperf
