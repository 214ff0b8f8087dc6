// The matrix decompositions, compiled for several instruction sets.
#pragma once

#include <cstddef>

namespace algoperf::decompositions {

template <class S>
struct Functions {
  bool (*eigh)(std::size_t n, const S* a, S* values, S* vectors);
  void (*qr)(std::size_t n, const S* a, S* q);
};

// Converts to the functions of a scalar type.
struct Table : Functions<float>, Functions<double> {};

extern const Table sse2, avx2, avx512;

}  // namespace algoperf::decompositions
