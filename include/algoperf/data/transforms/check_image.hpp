#pragma once

#include <cstddef>

#include "../../core/describe_shape.hpp"
#include "../../core/error.hpp"
#include "../../core/shape.hpp"

namespace algoperf::detail {

// The extents of an image {rows, columns, channels} or {rows, columns}.
struct ImageShape {
  std::size_t rows, columns, channels;

  // Throws Error if the shape is not an image's.
  ImageShape(const char* transform, const char* field, const Shape& shape)
      : rows(shape[0]), columns(shape[1]), channels(shape.rank == 3 ? shape[2] : 1) {
    require(shape.rank == 2 || shape.rank == 3, transform, ": the field '", field, "' has shape ", describe(shape),
            ", expected {rows, columns, channels} or {rows, columns}");
  }
  std::size_t row_size() const { return columns * channels; }
  std::size_t size() const { return rows * row_size(); }
};

}  // namespace algoperf::detail
