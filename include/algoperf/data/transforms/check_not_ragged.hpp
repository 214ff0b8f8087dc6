#pragma once

#include "../../core/error.hpp"

namespace algoperf::detail {

// Throws Error if the examples of a batch have different numbers of rows in a field.
template <class Batch>
void check_not_ragged(const Batch& batch, const char* transform, const char* field) {
  require(!batch.is_ragged(field), transform, ": the field '", field,
          "' lies on a ragged axis, expected one row per example");
}

}  // namespace algoperf::detail
