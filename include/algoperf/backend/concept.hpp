// The Backend concept. A backend owns memory and runs loops. It depends on no rule and no layer. Algorithms are
// written once against the members below and take a backend as a plain value.
//
//   Scalar                                  the type of parameters and gradients (Host<double> for gradient checks)
//   Stored                                  optional: the type of activations if it is not Scalar (bfloat16, on Cuda)
//   Array<T>                                owning storage: data(), size(), zeroed; empty by default. A move
//                                           keeps data(), and does not throw
//   array<T>(n)                             a new Array<T>
//   fill(n, x, value)  copy(n, from, to)
//   gemm_nn(m, n, k, a, b, c, accumulate)   C (m x n) = A (m x k) B (k x n), row-major, of Stored; c may be of Scalar.
//                                           If `accumulate` (default false) is true, adds the product to C.
//   gemm_nt(m, n, k, a, b, c, accumulate)   C (m x n) = A (m x k) B^T, where B is n x k
//   gemm_nt_bias(m, n, k, a, b, bias, c)    C (m x n) = A (m x k) B^T, plus `bias` (n, of Scalar), if not null
//   gemm_tn(m, n, k, a, b, c, accumulate)   C (m x n) = A^T B, where A is k x m and B is k x n
//   symmetric_nt / symmetric_tn             optional: see backend/products/symmetric_product.hpp
//   products_depend_on_size()               optional, host only: whether the bits of an element of gemm_nn depend on
//                                           m or n. Default: true
//   convolution(c)                          optional: see backend/convolution.hpp
//   attention(shape)                        optional: see backend/attention.hpp
//   map(kernel, n, x, in...)                x[i] = kernel(x[i], in[i]...); the kernel is a template over T
//   map_rows(kernel, rows, cols, x, row)    x[r][c] = kernel(x[r][c], row[c])
//   column_sums(rows, cols, x, out, accumulate)
//                                           out[c] = sum over r of x[r][c]. If `accumulate` (default false) is true,
//                                           adds the sums to out.
//   column_sums(kernel, rows, cols, outs, inputs, of_columns)
//                                           outs[m][c] = sum over r of kernel(inputs[0][r][c], ..., of_columns[0][c],
//                                           ...)[m]. outs, inputs and of_columns are built-in arrays of pointers. The
//                                           kernel is a template over T and returns Sums<T, Kernel::sums>.
//   row_and_column_sums(kernel, rows, cols, x, of_rows, of_columns)
//                                           of_rows[r] = sum over c, of_columns[c] = sum over r, of kernel(x[r][c])
//   for_each_row(rows, cost, f)             f(team, r) for every r, in any order; `cost` is the approximate number of
//                                           elements of a row
//   concurrency()                           the number of calls run_concurrently() may execute at a time, at least 1
//   run_concurrently(slots, count, f)       f(backend, slot, i) for i in [0, count), in any order, with a backend of
//                                           this type and slot in [0, slots): independent calls of equal cost, such as
//                                           products of matrices of one shape. Calls with the same slot never overlap.
//   add_rows(count, cols, keys, x, out)     out[keys[i]][c] += x[i][c], in a fixed order
//   sum(n, x)  dot(n, x, y)                 in double, in a fixed order; returned to the host
//   run(work)                               executes the passes of a chain over its regions (rules/chain/program.hpp)
//   eigh(n, a, values, vectors)             A = V diag(values) V^T; callers include products/linear_algebra.hpp
//   qr(n, a, q)                             A = Q R; same include; eigh and qr take Scalar only
//   on_host                                 constexpr; whether the backend's memory is host memory
//   scratch                                 the number of scalars a layer may use as scratch memory; with more scratch
//                                           a layer does more work per call
//   read(n, from, to)  write(n, from, to)   copies to and from host memory
//   synchronize()                           waits until all operations have finished
//
// An asynchronous backend (Cuda) works while the host continues. It honours the guard of a run (backend/guard.hpp)
// and also has
//   send(n, from, to)                       write() without waiting; the caller may overwrite `from` afterwards
//   dot(n, x, y, out)                       dot() with the result in the backend's memory
//   Recording, replay(recording, f)         runs f(), a step that makes the same calls each time; arguments may differ.
//                                           After a few calls the step is launched as a whole when f() returns.
//                                           f() may allocate and free arrays in its first call only.
//
// A team of `size` threads works on one row. Its members are
//   each(n, f)  sum<S>(n, f)  max<S>(n, f)  map(kernel, n, x, in...)  copy(n, from, to)
//   map_to_two(kernel, n, x, y, in...)      kernel(x[i], y[i], in[i]...) sets x[i] and y[i]
//   each_random(key, stream, n, f)          calls f(i, count, words) for pieces [i, i + count) that make up [0, n), in
//                                           any order. words[j] is the random word of element i + j: word (i + j) % 4
//                                           of philox(key, (i + j) / 4, stream). count: a std::size_t or an Index
//   copy_rows(count, length, to, f)         sets row k of `to` to the Stretch f(k)
// Each call sees what earlier calls wrote. Every thread of a team runs the row's functor. Outside these calls the
// functor may write the same value from every thread, but must not read memory it also writes unless a team call
// separates the read from the write. A functor with a static member `elementwise`, true, calls neither sum nor max, so
// that a device may form smaller teams. Pointers point into the backend's memory. Functors are named structs and are
// passed by value.
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

// A backend whose work runs while the host continues.
template <class B>
concept AsynchronousBackend = requires {
  typename B::Recording;
};

// A row that is zero outside [begin, end) and contains from[0], from[1], ... inside.
template <class S>
struct Stretch {
  const S* from;
  unsigned begin, end;

  ALGOPERF_HD S operator[](unsigned j) const { return j >= begin && j < end ? from[j - begin] : S(0); }
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

// The type in which a backend stores activations and the weights that matrix products read. Arithmetic uses Scalar.
template <class B>
using Stored = typename detail::StoredBy<B>::type;

// The default backend, defined in backend/host.hpp.
template <class S = float>
struct Host;

namespace detail {

// Copies from host memory, without waiting if the backend is asynchronous. The caller may overwrite `from` afterwards.
template <class B, class T>
void send(const B& backend, std::size_t n, const T* from, T* to) {
  if constexpr (AsynchronousBackend<B>)
    backend.send(n, from, to);
  else
    backend.write(n, from, to);
}

}  // namespace detail

// The implementation of eigh and qr, defined in backend/products/linear_algebra.hpp.
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
