// The matrix decompositions, compiled for several instruction sets.
#pragma once

#include <cstddef>

namespace algoperf::decompositions {

template <class S>
struct Functions {
  bool (*eigh)(std::size_t n, const S* a, S* values, S* vectors);
  void (*qr)(std::size_t n, const S* a, S* q);
};

struct Table {
  Functions<float> of_float;
  Functions<double> of_double;
};

extern const Table sse2, avx2, avx512;

}  // namespace algoperf::decompositions
