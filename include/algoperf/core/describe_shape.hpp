// describe: formats a shape for error messages, as {28, 28, 1}.
#pragma once

#include <string>

#include "shape.hpp"

namespace algoperf {

ALGOPERF_COLD inline std::string describe(const Shape& shape) {
  std::string text = "{";
  for (std::size_t i = 0; i < shape.rank; ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "}";
}

}  // namespace algoperf
