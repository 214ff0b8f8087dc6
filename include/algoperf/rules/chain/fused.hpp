// Fused: consecutive kernels as one kernel, stored as a flat tuple of small structs. fuse(kernels...) creates one and
// folds each Scale (a learning rate, a trust ratio) into the constants of the kernels before it, by means of their
// members:
//
//   Kernel scaled(S factor) const      the kernel whose result is `factor` times this one's
//   Kernel commuted(S factor) const    k' with factor k(u, p, s) = k'(factor u, p, s): the factor moves to the kernel
//                                      before this one
//
// A kernel may have one of the two or neither. With neither, the Scale remains a separate kernel after it. In a pass
// that applies the update, the last kernel may compute the new parameter itself:
//
//   T applied(T u, T p, Slots<T, slots>& s) const   p + k(u, p, s), in fewer operations
#pragma once

#include <concepts>
#include <cstddef>

#include "../../core/config.hpp"
#include "../../core/slots.hpp"
#include "../../core/tuple.hpp"
#include "scale.hpp"

namespace algoperf {

// u' = k_n(... k_1(u, p, s_1) ..., p, s_n), where s_1 ... s_n are the kernels' slots, consecutive in s.
template <class... Kernels>
struct Fused {
  static constexpr std::size_t slots = (std::size_t{0} + ... + Kernels::slots);
  Tuple<Kernels...> kernels;

  template <class T>
  ALGOPERF_HD T operator()(T u, T p, Slots<T, slots>& s) const {
    return from<0, 0, false>(u, p, s);
  }
  // p' = p + u'
  template <class T>
  ALGOPERF_HD T applied(T u, T p, Slots<T, slots>& s) const {
    return from<0, 0, true>(u, p, s);
  }

 private:
  template <std::size_t I, std::size_t First, bool applies, class T>
  ALGOPERF_HD T from(T u, T p, Slots<T, slots>& s) const {
    if constexpr (I == sizeof...(Kernels)) {
      return applies ? p + u : u;
    } else {
      const auto& kernel = get<I>(kernels);
      constexpr std::size_t n = TupleElement<I, Tuple<Kernels...>>::slots;
      Slots<T, n> share;
      if constexpr (n > 0)
        for (std::size_t j = 0; j < n; ++j) share[j] = s[First + j];
      constexpr bool last = applies && I + 1 == sizeof...(Kernels) && requires { kernel.applied(u, p, share); };
      if constexpr (last)
        u = kernel.applied(u, p, share);
      else
        u = kernel(u, p, share);
      if constexpr (n > 0)
        for (std::size_t j = 0; j < n; ++j) s[First + j] = share[j];
      if constexpr (last)
        return u;
      else
        return from<I + 1, First + n, applies>(u, p, s);
    }
  }
};

namespace detail {

struct NoScale {};

template <class K>
inline constexpr bool is_scale = false;
template <class S>
inline constexpr bool is_scale<Scale<S>> = true;

template <class K, class MaybeScale>
concept TakesScale = requires(const K& kernel, const MaybeScale& scale) {
  { kernel.scaled(scale.factor) } -> std::same_as<K>;
};

template <class K, class MaybeScale>
concept CommutesWithScale = requires(const K& kernel, const MaybeScale& scale) {
  { kernel.commuted(scale.factor) } -> std::same_as<K>;
};

template <class S>
ALGOPERF_HD constexpr Scale<S> product(const Scale<S>& a, const Scale<S>& b) {
  return {a.factor * b.factor};
}
template <class S>
ALGOPERF_HD constexpr Scale<S> product(const Scale<S>& a, NoScale) {
  return a;
}

// Folds kernels N - 1, ..., 0, from last to first. `done` are the folded kernels after them; `scale` is the pending
// Scale between kernel N - 1 and `done`, or NoScale.
template <std::size_t N, class... Kernels, class MaybeScale, class... Done>
ALGOPERF_HD constexpr auto fold(const Tuple<Kernels...>& kernels, MaybeScale scale, const Done&... done) {
  constexpr bool pending = is_scale<MaybeScale>;
  if constexpr (N == 0 && pending) {
    return Fused<MaybeScale, Done...>{tuple_of(scale, done...)};
  } else if constexpr (N == 0) {
    return Fused<Done...>{tuple_of(done...)};
  } else {
    const auto& kernel = get<N - 1>(kernels);
    using K = TupleElement<N - 1, Tuple<Kernels...>>;
    if constexpr (is_scale<K>)
      return fold<N - 1>(kernels, product(kernel, scale), done...);
    else if constexpr (CommutesWithScale<K, MaybeScale>)
      return fold<N - 1>(kernels, scale, kernel.commuted(scale.factor), done...);
    else if constexpr (TakesScale<K, MaybeScale>)
      return fold<N - 1>(kernels, NoScale{}, kernel.scaled(scale.factor), done...);
    else if constexpr (pending)
      return fold<N - 1>(kernels, NoScale{}, kernel, scale, done...);
    else
      return fold<N - 1>(kernels, scale, kernel, done...);
  }
}

}  // namespace detail

// Returns the kernels, in order, as one kernel.
template <class... Kernels>
ALGOPERF_HD constexpr auto fuse(const Kernels&... kernels) {
  return detail::fold<sizeof...(Kernels)>(tuple_of(kernels...), detail::NoScale{});
}

}  // namespace algoperf
