// A backend whose scalar type counts the operations executed on it. Tests compare these counts with the costs that
// layers report.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "algoperf/backend/column_terms.hpp"
#include "algoperf/core/map_kernels.hpp"
#include "algoperf/core/math.hpp"
#include "algoperf/core/random.hpp"

namespace nn_test {

// A scalar that counts operations. Each sum, product, quotient, ordering comparison, square root, exponential and
// logarithm counts as one; sign changes and tests for equality count as none.
struct Counted {
  float value = 0;
  static inline std::uint64_t operations = 0;

  Counted() = default;
  template <class A>
  requires std::is_arithmetic_v<A>
  constexpr Counted(A number) : value(static_cast<float>(number)) {}
  explicit operator double() const { return static_cast<double>(value); }

  static Counted once(float result) {
    ++operations;
    return Counted(result);
  }
  friend constexpr Counted operator-(Counted a) { return Counted(-a.value); }
  friend Counted operator+(Counted a, Counted b) { return once(a.value + b.value); }
  friend Counted operator-(Counted a, Counted b) { return once(a.value - b.value); }
  friend Counted operator*(Counted a, Counted b) { return once(a.value * b.value); }
  friend Counted operator/(Counted a, Counted b) { return once(a.value / b.value); }
  Counted& operator+=(Counted b) { return *this = *this + b; }
  friend bool operator<(Counted a, Counted b) { return once(0), a.value < b.value; }
  friend bool operator>(Counted a, Counted b) { return b < a; }
  friend bool operator<=(Counted a, Counted b) { return once(0), a.value <= b.value; }
  friend bool operator>=(Counted a, Counted b) { return b <= a; }
  friend bool operator==(Counted a, Counted b) { return a.value == b.value; }
};

// The team that processes a row.
struct CountingTeam {
  static constexpr unsigned size = 1;

  template <class F>
  void each(std::size_t n, const F& f) const {
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
  template <class S, class F>
  S sum(std::size_t n, const F& f) const {
    S total = 0;
    for (std::size_t i = 0; i < n; ++i) total += f(i);
    return total;
  }
  template <class S, class F>
  S max(std::size_t n, const F& f) const {
    S most = f(0);
    for (std::size_t i = 1; i < n; ++i) {
      const S x = f(i);
      if (x > most) most = x;
    }
    return most;
  }
  template <class Kernel, class S, class... In>
  void map(const Kernel& kernel, std::size_t n, S* x, const In*... in) const {
    for (std::size_t i = 0; i < n; ++i) x[i] = kernel(x[i], in[i]...);
  }
  template <class Kernel, class S, class... In>
  void map_to_two(const Kernel& kernel, std::size_t n, S* x, S* y, const In*... in) const {
    for (std::size_t i = 0; i < n; ++i) kernel(x[i], y[i], in[i]...);
  }
  template <class F>
  void each_random(algoperf::RandomKey key, std::uint64_t stream, std::size_t n, const F& f) const {
    for (std::size_t i = 0; i < n; ++i) f(i, std::size_t{1}, algoperf::philox(key.value, i / 4, stream).words + i % 4);
  }
  template <class S>
  void copy(std::size_t n, const S* from, S* to) const {
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
  }
  template <class S, class F>
  void copy_rows(unsigned count, unsigned length, S* to, const F& f) const {
    for (unsigned k = 0; k < count; ++k, to += length) {
      const auto row = f(k);
      for (unsigned j = 0; j < length; ++j) to[j] = j >= row.begin && j < row.end ? row.from[j - row.begin] : S(0);
    }
  }
};

struct CountingBackend {
  using Scalar = Counted;
  template <class T>
  class Array {
   public:
    explicit Array(std::size_t n = 0) : values_(n) {}
    T* data() { return values_.data(); }
    const T* data() const { return values_.data(); }
    std::size_t size() const { return values_.size(); }

   private:
    std::vector<T> values_;
  };
  static constexpr bool on_host = true;
  std::size_t scratch = 1 << 22;  // holds all windows of a convolution in one block
  CountingTeam team = {};

  template <class T>
  Array<T> array(std::size_t n) const {
    return Array<T>(n);
  }
  template <class T>
  void fill(std::size_t n, T* x, T value) const {
    for (std::size_t i = 0; i < n; ++i) x[i] = value;
  }
  template <class T>
  void copy(std::size_t n, const T* from, T* to) const {
    team.copy(n, from, to);
  }
  void gemm_nn(std::size_t m, std::size_t n, std::size_t k, const Counted* a, const Counted* b, Counted* c,
               bool add = false) const {
    product(
        m, n, k, [=](std::size_t i, std::size_t l) { return a[i * k + l]; },
        [=](std::size_t l, std::size_t j) { return b[l * n + j]; }, c, add);
  }
  void gemm_nt(std::size_t m, std::size_t n, std::size_t k, const Counted* a, const Counted* b, Counted* c,
               bool add = false) const {
    product(
        m, n, k, [=](std::size_t i, std::size_t l) { return a[i * k + l]; },
        [=](std::size_t l, std::size_t j) { return b[j * k + l]; }, c, add);
  }
  void gemm_nt_bias(std::size_t m, std::size_t n, std::size_t k, const Counted* a, const Counted* b,
                    const Counted* bias, Counted* c) const {
    gemm_nt(m, n, k, a, b, c);
    if (bias != nullptr) map_rows(algoperf::Add{}, m, n, c, bias);
  }
  void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const Counted* a, const Counted* b, Counted* c,
               bool add = false) const {
    product(
        m, n, k, [=](std::size_t i, std::size_t l) { return a[l * m + i]; },
        [=](std::size_t l, std::size_t j) { return b[l * n + j]; }, c, add);
  }
  template <class Kernel, class T, class... In>
  void map(const Kernel& kernel, std::size_t n, T* x, const In*... in) const {
    team.map(kernel, n, x, in...);
  }
  template <class Kernel>
  void map_rows(const Kernel& kernel, std::size_t rows, std::size_t cols, Counted* x, const Counted* row) const {
    for (std::size_t r = 0; r < rows; ++r) team.map(kernel, cols, x + r * cols, row);
  }
  void column_sums(std::size_t rows, std::size_t cols, const Counted* x, Counted* out, bool accumulate = false) const {
    for (std::size_t c = 0; c < cols; ++c) {
      const Counted sum = team.sum<Counted>(rows, [=](std::size_t r) { return x[r * cols + c]; });
      out[c] = accumulate ? out[c] + sum : sum;
    }
  }
  template <class Kernel, std::size_t inputs_size, std::size_t columns_size>
  void column_sums(const Kernel& kernel, std::size_t rows, std::size_t cols, Counted* const (&outs)[Kernel::sums],
                   const Counted* const (&inputs)[inputs_size],
                   const Counted* const (&of_columns)[columns_size]) const {
    const auto terms = algoperf::column_terms(kernel, inputs, of_columns);
    for (std::size_t c = 0; c < cols; ++c) {
      algoperf::Sums<Counted, Kernel::sums> totals;
      for (std::size_t m = 0; m < Kernel::sums; ++m) totals[m] = Counted(0);
      for (std::size_t r = 0; r < rows; ++r) {
        const auto term = terms.template at<Counted>(r * cols + c, c);
        for (std::size_t m = 0; m < Kernel::sums; ++m) totals[m] += term[m];
      }
      for (std::size_t m = 0; m < Kernel::sums; ++m) outs[m][c] = totals[m];
    }
  }
  template <class F>
  void for_each_row(std::size_t rows, std::size_t, const F& f) const {
    for (std::size_t r = 0; r < rows; ++r) f(team, r);
  }
  std::size_t concurrency() const { return 1; }
  template <class F>
  void run_concurrently(std::size_t, std::size_t count, const F& f) const {
    for (std::size_t i = 0; i < count; ++i) f(*this, std::size_t{0}, i);
  }
  void add_rows(std::size_t count, std::size_t cols, const std::int32_t* keys, const Counted* x, Counted* out) const {
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t c = 0; c < cols; ++c) out[static_cast<std::size_t>(keys[i]) * cols + c] += x[i * cols + c];
  }
  template <class T>
  void read(std::size_t n, const T* from, T* to) const {
    team.copy(n, from, to);
  }
  template <class T>
  void write(std::size_t n, const T* from, T* to) const {
    team.copy(n, from, to);
  }

 private:
  template <class A, class B>
  void product(std::size_t m, std::size_t n, std::size_t k, const A& a, const B& b, Counted* c, bool add) const {
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        Counted total = add ? c[i * n + j] : Counted(0);
        for (std::size_t l = 0; l < k; ++l) total += a(i, l) * b(l, j);
        c[i * n + j] = total;
      }
  }
};

}  // namespace nn_test

template <>
struct std::numeric_limits<nn_test::Counted> : std::numeric_limits<float> {
  static constexpr nn_test::Counted infinity() { return nn_test::Counted(std::numeric_limits<float>::infinity()); }
};
template <>
struct algoperf::Maths<nn_test::Counted> {
  using T = nn_test::Counted;
  using Scalar = T;
  using Mask = bool;
  static T sqrt(T x) { return T::once(std::sqrt(x.value)); }
  static T exp(T x) { return T::once(std::exp(x.value)); }
  static T log(T x) { return T::once(std::log(x.value)); }
  static T select(bool condition, T a, T b) { return condition ? a : b; }
};
