#pragma once

#include <cstddef>

#include "../../core/config.hpp"
#include "../../core/slots.hpp"

namespace algoperf {

// A kernel that returns u unchanged on tensors that a mask excludes.
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
  ALGOPERF_HD T applied(T u, T p, Slots<T, slots>& s) const requires requires {
    kernel.applied(u, p, s);
  }
  { return included ? kernel.applied(u, p, s) : p + u; }
  ALGOPERF_HD MaskedKernel commuted(auto factor) const requires requires { kernel.commuted(factor); }
  { return {kernel.commuted(factor), included}; }
};

}  // namespace algoperf
