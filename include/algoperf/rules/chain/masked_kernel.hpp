#pragma once

#include <cstddef>

#include "../../core/config.hpp"
#include "../../core/slots.hpp"

namespace algoperf {

// A kernel that lets u pass on the tensors of a group that a mask leaves out.
template <class Kernel>
struct MaskedKernel {
  static constexpr std::size_t slots = Kernel::slots;
  Kernel kernel;
  bool included = true;
  template <class T>
  ALGOPERF_HD T operator()(T u, T p, Slots<T, slots>& s) const {
    return included ? kernel(u, p, s) : u;
  }
  template <class T>
  ALGOPERF_HD T moved(T u, T p, Slots<T, slots>& s) const requires requires {
    kernel.moved(u, p, s);
  }
  { return included ? kernel.moved(u, p, s) : p + u; }
  ALGOPERF_HD MaskedKernel carrying(auto factor) const requires requires { kernel.carrying(factor); }
  { return {kernel.carrying(factor), included}; }
};

}  // namespace algoperf
