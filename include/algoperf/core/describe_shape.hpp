// describe: formats a shape for error messages, as {28, 28, 1}.
#pragma once

#include <string>

#include "shape.hpp"

namespace algoperf {

std::string describe(const Shape& shape);

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED ALGOPERF_COLD std::string describe(const Shape& shape) {
  std::string text = "{";
  for (std::size_t i = 0; i < shape.rank; ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "}";
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf
