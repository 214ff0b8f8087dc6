#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../core/half.hpp"
#include "../../core/math.hpp"
#include "../graph/op.hpp"
#include "../init.hpp"
#include "../layers/dense.hpp"
#include "check_alike.hpp"
#include "look_up_dense.hpp"
#include "lstm_steps.hpp"

namespace algoperf {

namespace detail {

// The recurrent part of an LSTM: from the inputs' part of the gates' pre-activations to h.
struct Recurrence {
  std::size_t units = 1;
  bool reverse = false;
  SharedTensor weight = {};  // {4 units, units}
  static constexpr const char* name = "recurrence";

  constexpr std::array<SharedTensor, 1> tensors() const { return {weight}; }
  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    check_activations(net, own, x[0]);
    return {no_index, x[0].axis, Shape{units}, ElementType::activation};
  }
  constexpr OpTraits traits(const std::array<Value, 1>&) const {
    OpTraits traits;
    traits.reads_inputs = 0;
    traits.memory.kept = (lstm_gates + 1) * units;  // the gates, and h of the step before
    traits.memory.exact = units;                    // the cells
    traits.memory.scratch = lstm_gates * units * units;
    traits.example_scratch = (lstm_gates + 2) * units;
    if (!reverse) traits.decodes = true;
    traits.kept_of_step = traits.exact_of_step = units;  // h and c
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t rows = net.rows(x[0]), later = later_rows(net, rows), gates = lstm_gates * units;
    tally.operation(matrix_product("recurrence", later, gates, units));
    tally.operation({"gates", rows * units * 53 + later * units * 6, rows * units * 5, rows * units * 7});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t rows = net.rows(x[0]), later = later_rows(net, rows), gates = lstm_gates * units;
    tally.operation(matrix_product("recurrence, gradient", later, units, gates));
    tally.operation(matrix_product("recurrence, weight gradient", gates, units, rows));
    tally.operation({"gates, gradient", rows * units * 39 + later * units * 5, rows * units * 7, rows * units * 5});
  }

  template <class Call>
  void forward(const Call& call) const {
    using S = typename Call::S;
    using T = typename Call::Scalar;
    const Memory<Call> memory(call, units);
    const std::size_t gates = lstm_gates * units;
    if (call.decoding != nullptr) return decode(call, memory);
    // On the host, every step reads the transpose of the weights: each of its products then reads rows of vectors, and
    // its bits do not depend on the number of examples.
    S* const transposed = call.pass.scratch;
    if constexpr (Call::Backend::on_host)
      call.pass.backend.for_each_row((units + 15) / 16, 16 * gates,
                                     TransposeRows<S>{gates, units, call.weight(weight), transposed});
    for_each_block(call, [&](const auto& backend, std::size_t first, std::size_t count) {
      T* const products = memory.scratch(first);
      S* const states = reinterpret_cast<S*>(products + count * gates);
      LstmForward<S> step{{}, call.in(0), products, memory.gates, memory.before, memory.cells, states, call.out()};
      if constexpr (std::is_same_v<S, T>)
        if (call.pass.mode == Mode::evaluate) {
          step.gates = products;
          step.before = nullptr;
          step.cells = states + count * units;
        }
      for (std::size_t t = 0, longest = longest_of(call, first, count); t < longest; ++t) {
        if (t > 0) {
          if constexpr (Call::Backend::on_host)
            backend.gemm_nn(count, gates, units, states, transposed, products);
          else
            backend.gemm_nt(count, gates, units, states, call.weight(weight), products);
        }
        step.at = time(call, first, t);
        backend.for_each_row(count, 32 * units, step);
      }
    });
  }
  template <class Call>
  void backward(const Call& call) const {
    using S = typename Call::S;
    using T = typename Call::Scalar;
    const Memory<Call> memory(call, units);
    for_each_block(call, [&](const auto& backend, std::size_t first, std::size_t count) {
      T* const d_states = memory.scratch(first);
      T* const d_cells = d_states + count * units;
      S* const d_sums = reinterpret_cast<S*>(d_cells + count * units);
      backend.fill(2 * count * units, d_states, T(0));
      for (std::size_t step = longest_of(call, first, count); step-- > 0;) {
        backend.for_each_row(count, 32 * units,
                             LstmBackward<S>{time(call, first, step), call.d_out(), memory.gates, memory.cells,
                                             d_states, d_cells, d_sums});
        if (step > 0) backend.gemm_nn(count, units, lstm_gates * units, d_sums, call.weight(weight), d_states);
      }
    });
    const auto& backend = call.pass.backend;
    const std::size_t rows = call.rows(0);
    if (call.gradient(weight) != nullptr)
      backend.gemm_tn(lstm_gates * units, units, rows, memory.gates, memory.before, call.gradient(weight),
                      call.adds_to_tensor(0));
    if (call.d_in(0) != nullptr) backend.copy(rows * lstm_gates * units, memory.gates, call.d_in(0));
  }

 private:
  // Computes the newest element of each sequence.
  template <class Call, class Memory>
  void decode(const Call& call, const Memory& memory) const {
    using S = typename Call::S;
    const auto& backend = call.pass.backend;
    const std::size_t rows = call.rows(0), gates = lstm_gates * units;
    const LstmStep<S> step{units,         call.decoding->sequences, call.in(0),           memory.gates,
                           memory.before, call.decoding->kept,      call.decoding->exact, call.out()};
    if (step.sequences.place > 0) {
      backend.for_each_row(rows, units, LstmStatesBefore<S>{step});
      backend.gemm_nt(rows, gates, units, memory.before, call.weight(weight), memory.gates);
    }
    backend.for_each_row(rows, 32 * units, step);
  }
  // Returns the number of rows that have a row before them.
  template <class Net>
  static constexpr std::uint64_t later_rows(const Net& net, std::uint64_t rows) {
    return rows < net.examples() ? 0 : rows - net.examples();
  }
  template <class Call>
  struct Memory {
    using S = typename Call::S;
    using T = typename Call::Scalar;
    S *gates, *before;
    T *cells, *of_examples;
    std::size_t per_example;
    Memory(const Call& call, std::size_t width)
        : gates(call.pass.kept),
          before(gates + call.rows(0) * lstm_gates * width),
          cells(call.pass.exact),
          of_examples(call.example_scratch),
          per_example((lstm_gates + 2) * width) {}
    // Returns the scratch memory of a block of examples.
    T* scratch(std::size_t first) const { return of_examples + first * per_example; }
  };

  template <class Call>
  LstmTime time(const Call& call, std::size_t first, std::size_t step) const {
    return {units, step, first, reverse, call.axis_of(0).rows};
  }
  // Returns the number of rows of the longest of these examples, or on a device, of all.
  template <class Call>
  static std::size_t longest_of(const Call& call, std::size_t first, std::size_t count) {
    const AxisRows& axis = call.axis_of(0);
    if (!Call::Backend::on_host || axis.rows.begins == nullptr) return axis.longest;
    std::size_t longest = 0;
    for (std::size_t e = first; e < first + count; ++e) longest = math::max(longest, axis.rows.count(e));
    return longest;
  }
  template <class Backend>
  static bool products_depend_on_size(const Backend& backend) {
    if constexpr (requires { backend.products_depend_on_size(); })
      return backend.products_depend_on_size();
    else
      return true;
  }
  // Calls f(backend, first, count) for each block of examples. The threads of a host share the blocks; those that
  // remain run one after another, each with all threads. Blocks of 32 examples are faster than two of 16, if there
  // is one for every thread. If products depend on their size, all blocks have 16, so that no bit depends on the number
  // of threads.
  template <class Call, class F>
  static void for_each_block(const Call& call, const F& f) {
    const auto& backend = call.pass.backend;
    if (call.examples == 0) return;
    if constexpr (Call::Backend::on_host) {
      const std::size_t threads = backend.concurrency();
      const std::size_t block = !products_depend_on_size(backend) && call.examples > 32 * (threads - 1) ? 32 : 16;
      backend.run_concurrently(threads, (call.examples + block - 1) / block,
                               [&](const auto& own, std::size_t, std::size_t i) {
                                 const std::size_t first = i * block, left = call.examples - first;
                                 f(own, first, left < block ? left : block);
                               });
    } else {
      f(backend, 0, call.examples);
    }
  }
};

}  // namespace detail

// A block: a long short-term memory over the rows of each example, x_1, x_2, ...:
//   i, f, o = sigmoid(a_i), sigmoid(a_f), sigmoid(a_o),   g = tanh(a_g),   a = W x_t + b + U h_(t-1)
//   c_t = f c_(t-1) + i g,   h_t = o tanh(c_t),   h_0 = c_0 = 0
// Shapes: in {width} on an axis with several rows per example, out {units}: h of each row. Tensors: `input.weight` W
//   {4 units, width} and `input.bias` b {4 units}, and `recurrent` U {4 units, units}. The gates come in the order i,
//   f, g, o. If `reverse`, the last row of an example is its x_1; Concat joins the two directions.
// Hyperparameters: units, at least 1; reverse; init, of W and U; bias_init.
// If `embedding` has a table, the input holds a token per row, and x_t is the table's row at the token. The block then
//   computes W x + b once for each row x of the table, at the cost of LookUpDense instead of Dense. This costs less if
//   a batch has more tokens than the table has rows.
// Source: Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000.
//   W and U are torch's weight_ih and weight_hh.
// Departs from torch: one bias, the sum of torch's two, which starts at 0; by default, W starts within
//   1 / sqrt(width) instead of 1 / sqrt(units).
// Cost: that of the Dense layer `input`; per row, 8 units^2 FLOPs for the product with U forward and 16 units^2
//   backward; and 59 and 44 units for the gates. The first row of an example costs less. Keeps 5 x units activations
//   per row, and units elements of the parameters' type.
// In decoding, keeps h and c for each row of a step.
// On a ragged axis, an example takes as much time as the longest of its block of 16 on the host, or of all on a device,
//   which is not counted. CUDA graphs are seldom replayed, because the number of launches depends on the longest one.
struct Lstm {
  std::size_t units = 1;
  bool reverse = false;
  Init init = Init::torch_uniform;
  Init bias_init = Init::zeros;
  LookUp embedding = {};

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    net.check(x.axis != examples_axis, {}, "Lstm expects several rows per example, got shape ", x.shape,
              " on the axis '", net.axis_name(x), "'; net.rows_of() makes rows of an example's first extent");
    net.check(units > 0, {}, "Lstm: units is 0, expected at least 1");
    const std::size_t gates = detail::lstm_gates * units;
    const Value sums = embedding.table.index == no_index
                           ? net("input", Dense{.units = gates, .init = init, .bias_init = bias_init}, x)
                           : of_tokens(net, gates, x);
    const SharedTensor weight = net.tensor("recurrent", Kind::weight, {gates, units}, init, units, gates);
    return net(detail::Recurrence{units, reverse, weight}, sums);
  }

 private:
  template <class Net>
  constexpr Value of_tokens(Net& net, std::size_t gates, Value x) const {
    net.check(x.shape.size() == 1, {}, "Lstm with an embedding expects one token per row, got shape ", x.shape);
    const std::size_t width = embedding.width;
    const SharedTensor weight = net.tensor("input.weight", Kind::weight, {gates, width}, init, width, gates);
    const SharedTensor bias = net.tensor("input.bias", Kind::bias, {gates}, bias_init, width, gates);
    return net("input", LookUpDense{embedding, weight, bias, gates}, x);
  }
};

}  // namespace algoperf
