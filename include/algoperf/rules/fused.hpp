// Fused: neighbouring kernels become one kernel. A flat tuple of small structs, never a tree.
#pragma once

#include <cstddef>

#include "../core/config.hpp"
#include "../core/slots.hpp"
#include "../core/tuple.hpp"

namespace algoperf {

// u' = k_n(... k_1(u, p, s_1) ..., p, s_n), where s_1 ... s_n are the kernels' shares of s, in order.
template <class... Kernels>
struct Fused {
  static constexpr std::size_t slots = (std::size_t{0} + ... + Kernels::slots);
  Tuple<Kernels...> kernels;

  template <class T>
  ALGOPERF_HD T operator()(T u, T p, Slots<T, slots>& s) const {
    return from<0, 0>(u, p, s);
  }

 private:
  template <std::size_t I, std::size_t First, class T>
  ALGOPERF_HD T from(T u, T p, Slots<T, slots>& s) const {
    if constexpr (I == sizeof...(Kernels)) {
      return u;
    } else {
      const auto& kernel = get<I>(kernels);
      constexpr std::size_t n = TupleElement<I, Tuple<Kernels...>>::slots;
      Slots<T, n> share;
      if constexpr (n > 0)
        for (std::size_t j = 0; j < n; ++j) share[j] = s[First + j];
      u = kernel(u, p, share);
      if constexpr (n > 0)
        for (std::size_t j = 0; j < n; ++j) s[First + j] = share[j];
      return from<I + 1, First + n>(u, p, s);
    }
  }
};

}  // namespace algoperf
