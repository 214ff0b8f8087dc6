// What backend/ is about. A Backend owns memory and runs loops; it knows no rule and no layer. Algorithms are written
// once against these members, and a backend is passed to them as a plain value.
//
//   Scalar                                  the type of parameters and gradients (Host<double> for gradient checks)
//   Stored                                  optional: that of activations, if not Scalar (bfloat16, on Cuda)
//   Array<T>                                owning storage: data(), size(), zeroed
//   array<T>(n)                             a new Array<T>
//   fill(n, x, value)  copy(n, from, to)
//   gemm_nn / gemm_nt / gemm_tn(m, n, k, a, b, c, accumulate)
//                                           of Stored; c may be of Scalar
//   symmetric_nt / symmetric_tn             optional: what backend/products/symmetric_product.hpp says
//   convolution(c)                          optional: what backend/convolution.hpp says
//   map(kernel, n, x, in...)                x[i] = kernel(x[i], in[i]...); the kernel is a template over T
//   map_rows(kernel, rows, cols, x, row)    x[r][c] = kernel(x[r][c], row[c])
//   column_sums(rows, cols, x, out)         out[c] = sum over r of x[r][c]
//   row_and_column_sums(kernel, rows, cols, x, of_rows, of_columns)
//                                           of_rows[r] = sum over c, of_columns[c] = sum over r, of kernel(x[r][c])
//   for_each_row(rows, cost, f)             f(team, r) for every r, in any order; `cost` is about a row's elements
//   concurrency()                           how many calls run_concurrently() may execute at a time, at least 1
//   run_concurrently(slots, count, f)       f(backend, slot, i) for i in [0, count), in any order, the backend of this
//                                           very type: independent calls of equal cost, such as products of matrices of
//                                           one shape; those of one slot, which is less than `slots`, follow each other
//   add_rows(count, cols, keys, x, out)     out[keys[i]][c] += x[i][c], in a fixed order
//   sum(n, x)  dot(n, x, y)                 in double, in 16 lanes and a fixed tree; returned to the host
//   run(work)                               a chain's passes over its regions (rules/chain/program.hpp)
//   eigh(n, a, values, vectors)             A = V diag(values) V^T; users include products/linear_algebra.hpp
//   qr(n, a, q)                             A = Q R; likewise, of S only
//   on_host                                 constexpr; whether its memory is the host's
//   scratch                                 how many scalars layers may work in, so that they do much at once
//   read(n, from, to)  write(n, from, to)   to and from host memory
//
// A backend whose work goes on while the host does (Cuda) heeds the guard of a run (backend/guard.hpp), and also has
//   send(n, from, to)                       write without waiting; `from` may be changed when it returns
//   dot(n, x, y, out)                       to its memory
//   Graph, replay(recording, f)                 f(), a step that is the same each time but for its numbers: after a few
//                                           times started as a whole, when f() is over; so f() makes and destroys no
//                                           array but the first time
//
// A team works on one row: each(n, f), sum<S>(n, f), max<S>(n, f), map(kernel, n, x, in...), copy(n, from, to) and
// copy_rows(count, length, to, f), in which row k of `to` becomes the Stretch f(k); one after the other: a call sees
// what the calls before it wrote. All threads of a team run the row's functor: outside of these calls it may write one
// value many times, but not read what it changes, unless a call stands between the reading and the writing.
// Pointers name the backend's memory; functors are named structs, copied to wherever they run.
#pragma once

#include <concepts>
#include <cstddef>

#include "../core/config.hpp"

namespace algoperf {

template <class B>
concept Backend = requires(const B& b, typename B::Scalar* x) {
  typename B::Scalar;
  { b.template array<typename B::Scalar>(std::size_t{}).data() } -> std::same_as<typename B::Scalar*>;
  b.fill(std::size_t{}, x, typename B::Scalar{});
  b.gemm_nn(std::size_t{}, std::size_t{}, std::size_t{}, x, x, x, false);
};

// Whether a backend's work goes on while the host does.
template <class B>
concept AsynchronousBackend = requires {
  typename B::Recording;
};

// A row of zeros, but for [begin, end), which is from[0], from[1], ...
template <class S>
struct Stretch {
  const S* from;
  unsigned begin, end;
};

namespace detail {

template <class B>
struct StoredBy {
  using type = typename B::Scalar;
};
template <class B>
requires requires { typename B::Stored; }
struct StoredBy<B> {
  using type = typename B::Stored;
};

}  // namespace detail

// The type of a backend's activations, and of the weights that matrix products read: computed in its Scalar.
template <class B>
using Stored = typename detail::StoredBy<B>::type;

// The default backend, defined in backend/host.hpp.
template <class S = float>
struct Host;

namespace detail {

// From host memory, which may be changed when it returns, without waiting where the backend can.
template <class B, class T>
void send(const B& backend, std::size_t n, const T* from, T* to) {
  if constexpr (AsynchronousBackend<B>)
    backend.send(n, from, to);
  else
    backend.write(n, from, to);
}

}  // namespace detail

// What eigh and qr are made of, defined in backend/products/linear_algebra.hpp.
template <class S>
struct LinearAlgebra;

namespace detail {

template <class T>
concept Defined = requires {
  sizeof(T);
};

template <class S>
consteval bool explain_decompositions() {
  static_assert(Defined<LinearAlgebra<S>>,
                "algoperf: this rule decomposes matrices: #include <algoperf/backend/products/linear_algebra.hpp>");
  return Defined<LinearAlgebra<S>>;
}

}  // namespace detail

}  // namespace algoperf
