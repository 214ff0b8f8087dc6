// Quantities with units: samples, parameters, FLOPs, bytes and seconds, and their products and quotients. Sums and
// comparisons of different units do not compile. For example, with  Parameters n  and  Samples d,
// Flops{6} * n / Seconds{2}  compiles, but  n + d  does not.
#pragma once

#include <compare>

#include "../../core/config.hpp"

namespace algoperf {

// The exponent of each unit; negative exponents divide.
struct Unit {
  int samples = 0, parameters = 0, flops = 0, bytes = 0, seconds = 0;

  friend constexpr bool operator==(const Unit&, const Unit&) = default;
  friend constexpr Unit operator+(const Unit& a, const Unit& b) {
    return {a.samples + b.samples, a.parameters + b.parameters, a.flops + b.flops, a.bytes + b.bytes,
            a.seconds + b.seconds};
  }
  friend constexpr Unit operator-(const Unit& a, const Unit& b) {
    return {a.samples - b.samples, a.parameters - b.parameters, a.flops - b.flops, a.bytes - b.bytes,
            a.seconds - b.seconds};
  }
};

template <Unit unit>
struct Quantity {
  double value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(double number) : value(number) {}

  constexpr Quantity& operator+=(const Quantity& b) {
    value += b.value;
    return *this;
  }
};

using Samples = Quantity<Unit{.samples = 1}>;
using Parameters = Quantity<Unit{.parameters = 1}>;
using Flops = Quantity<Unit{.flops = 1}>;
using Bytes = Quantity<Unit{.bytes = 1}>;
using Seconds = Quantity<Unit{.seconds = 1}>;
using FlopsPerSecond = Quantity<Unit{.flops = 1, .seconds = -1}>;
using BytesPerSecond = Quantity<Unit{.bytes = 1, .seconds = -1}>;
using FlopsPerByte = Quantity<Unit{.flops = 1, .bytes = -1}>;

namespace detail {

// Returns a plain double if all units cancel.
template <Unit unit>
constexpr auto quantity(double number) {
  if constexpr (unit == Unit{})
    return number;
  else
    return Quantity<unit>(number);
}

template <Unit a, Unit b>
constexpr bool like = a == b;
template <Unit a, Unit b>
consteval void explain_like() {
  static_assert(like<a, b>, "algoperf: quantities of different units cannot be added or compared");
}

}  // namespace detail

template <Unit a, Unit b>
constexpr Quantity<a> operator+(const Quantity<a>& x, const Quantity<b>& y) {
  detail::explain_like<a, b>();
  return Quantity<a>(x.value + y.value);
}
template <Unit a, Unit b>
constexpr Quantity<a> operator-(const Quantity<a>& x, const Quantity<b>& y) {
  detail::explain_like<a, b>();
  return Quantity<a>(x.value - y.value);
}
template <Unit a, Unit b>
constexpr bool operator==(const Quantity<a>& x, const Quantity<b>& y) {
  detail::explain_like<a, b>();
  return x.value == y.value;
}
template <Unit a, Unit b>
constexpr std::partial_ordering operator<=>(const Quantity<a>& x, const Quantity<b>& y) {
  detail::explain_like<a, b>();
  return x.value <=> y.value;
}
template <Unit a, Unit b>
constexpr auto operator*(const Quantity<a>& x, const Quantity<b>& y) {
  return detail::quantity<a + b>(x.value * y.value);
}
template <Unit a, Unit b>
constexpr auto operator/(const Quantity<a>& x, const Quantity<b>& y) {
  return detail::quantity<a - b>(x.value / y.value);
}
template <Unit a>
constexpr Quantity<a> operator*(double factor, const Quantity<a>& x) {
  return Quantity<a>(factor * x.value);
}
template <Unit a>
constexpr Quantity<a> operator*(const Quantity<a>& x, double factor) {
  return factor * x;
}
template <Unit a>
constexpr Quantity<a> operator/(const Quantity<a>& x, double by) {
  return Quantity<a>(x.value / by);
}

}  // namespace algoperf
