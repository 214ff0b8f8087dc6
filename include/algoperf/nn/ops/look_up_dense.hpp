#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../core/map_kernels.hpp"
#include "../layers/embedding.hpp"
#include "look_up.hpp"

namespace algoperf {

// A LookUp and the Dense layer after it, as one op: y = W t + b for the row t of a table at each token of the input.
// Forward computes W t + b once for each row of the table, not for each token, and backward adds the gradients of equal
// tokens before it multiplies them. This costs less if a batch has more tokens than the table has rows.
// Shapes: in {context} tokens, out {context, units}, or {units} if the input's shape is {1}.
// Departs from LookUp and Dense: the sums of the gradients have another order.
// Cost: (2 width + 1) vocabulary units FLOPs forward; (4 width + 1) vocabulary units and 1 per output element backward.
struct LookUpDense {
  LookUp embedding = {};
  SharedTensor weight = {};  // W, {units, embedding.width}
  SharedTensor bias = {};    // b, {units}
  std::size_t units = 1;
  static constexpr const char* name = "look_up_dense";

  constexpr std::array<SharedTensor, 3> tensors() const { return {embedding.table, weight, bias}; }
  constexpr std::size_t tokens(const std::array<Value, 1>&, std::size_t) const { return embedding.vocabulary; }
  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    return LookUp{embedding.table, embedding.vocabulary, units}.output(net, own, x);
  }
  constexpr OpTraits traits(const std::array<Value, 1>&) const {
    OpTraits traits;
    traits.decodes = true;
    // Forward, the products; backward, sums of the parameters' type, and the same rounded to 16 bits.
    traits.memory.scratch = 3 * embedding.vocabulary * units;
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t words = embedding.vocabulary, n = net.rows(x[0]) * x[0].shape.size();
    tally.operation(matrix_product("table", words, units, embedding.width));
    tally.operation({"bias", words * units, words * units + units, words * units});
    tally.operation({"look up", 0, n + n * units, n * units});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t words = embedding.vocabulary, n = net.rows(x[0]) * x[0].shape.size();
    tally.operation({"look up, gradient", n * units, n + n * units, words * units});
    tally.operation(matrix_product("table, weight gradient", units, embedding.width, words));
    tally.operation({"bias gradient", words * units, words * units, units});
    tally.operation(matrix_product("table, gradient", words, embedding.width, units));
  }

  template <class Call>
  void forward(const Call& call) const {
    using S = typename Call::S;
    const auto& backend = call.pass.backend;
    S* const products = call.pass.scratch;
    const std::size_t tokens = count(call), width = embedding.width;
    // A step of decoding often has fewer tokens than the table has rows. Their rows then fit into the scratch memory.
    if (call.decoding != nullptr && tokens < embedding.vocabulary && width <= 3 * units) {
      const Embedding::LookUp<S> look_up{width, call.tokens(0), call.weight(embedding.table), products};
      backend.for_each_row(tokens, width, look_up);
      return backend.gemm_nt_bias(tokens, units, width, products, call.weight(weight), call.value(bias), call.out());
    }
    backend.gemm_nt_bias(embedding.vocabulary, units, width, call.weight(embedding.table), call.weight(weight),
                         call.value(bias), products);
    backend.for_each_row(tokens, units, Embedding::LookUp<S>{units, call.tokens(0), products, call.out()});
  }
  template <class Call>
  void backward(const Call& call) const {
    using S = typename Call::S;
    using T = typename Call::Scalar;
    const auto& backend = call.pass.backend;
    const std::size_t words = embedding.vocabulary;
    T* const sums = reinterpret_cast<T*>(call.pass.scratch);
    backend.fill(words * units, sums, T(0));
    backend.add_rows(count(call), units, call.tokens(0), call.d_out(), sums);
    const S* d_products;
    if constexpr (std::is_same_v<S, T>) {
      d_products = sums;
    } else {
      S* const rounded = reinterpret_cast<S*>(sums + words * units);
      backend.map(Assign{}, words * units, rounded, sums);
      d_products = rounded;
    }
    if (T* const gradient = call.gradient(weight))
      backend.gemm_tn(units, embedding.width, words, d_products, call.weight(embedding.table), gradient,
                      call.adds_to_tensor(1));
    if (T* const gradient = call.gradient(bias))
      backend.column_sums(words, units, d_products, gradient, call.adds_to_tensor(2));
    if (T* const gradient = call.gradient(embedding.table))
      backend.gemm_nn(words, embedding.width, units, d_products, call.weight(weight), gradient, call.adds_to_tensor(0));
  }

 private:
  template <class Call>
  static std::size_t count(const Call& call) {
    return call.rows(0) * call.in_shape(0).size();
  }
};

}  // namespace algoperf
