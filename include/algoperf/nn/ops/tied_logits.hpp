#pragma once

#include <array>
#include <cstddef>

#include "../graph/op.hpp"

namespace algoperf {

// Logits whose weight is the table of an embedding: z = h W^T + b for rows h of `width` elements; b is optional.
// Source: Press & Wolf 2017, arXiv:1608.05859.
// Cost: 2 vocabulary width + vocabulary FLOPs per row forward, 4 vocabulary width + vocabulary backward; without b,
// vocabulary fewer.
struct TiedLogits {
  SharedTensor table = {};  // W, {vocabulary, width}
  SharedTensor bias = {};   // b, {vocabulary}; no_index: none
  std::size_t vocabulary = 1, width = 1;
  static constexpr const char* name = "tied_logits";

  constexpr bool has_bias() const { return bias.index != no_index; }
  constexpr List<SharedTensor> tensors() const {
    List<SharedTensor> tensors(1, table);
    if (has_bias()) tensors.push_back(bias);
    return tensors;
  }
  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    net.check(x[0].type == ElementType::activation && x[0].shape.size() == width, own, "the input has shape ",
              x[0].shape, ", expected the ", width, " elements of a row of the table");
    return {no_index, x[0].axis, Shape{vocabulary}, ElementType::activation};
  }
  constexpr OpTraits traits(const std::array<Value, 1>&) const {
    OpTraits traits;
    traits.decodes = true;
    traits.adds = true;
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[0]), words = vocabulary;
    tally.operation(matrix_product("tied", n, words, width, ModelPart::output));
    if (has_bias()) tally.operation(operation_of(ModelPart::output, "bias", n * words, n * words + words, n * words));
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[0]), words = vocabulary;
    if (has_bias()) tally.operation(operation_of(ModelPart::output, "bias gradient", n * words, n * words, words));
    tally.operation(matrix_product("tied, weight gradient", words, width, n, ModelPart::output));
    if (net.needs_gradient(x[0]))
      tally.operation(matrix_product("tied, input gradient", n, width, words, ModelPart::output));
  }

  template <class Call>
  void forward(const Call& call) const {
    const auto* const added = has_bias() ? call.value(bias) : nullptr;
    call.pass.backend.gemm_nt_bias(call.rows(0), vocabulary, width, call.in(0), call.weight(table), added, call.out());
  }
  template <class Call>
  void backward(const Call& call) const {
    const std::size_t rows = call.rows(0);
    if (has_bias() && call.gradient(bias) != nullptr)
      call.pass.backend.column_sums(rows, vocabulary, call.d_out(), call.gradient(bias), call.adds_to_tensor(1));
    if (call.gradient(table) != nullptr)
      call.pass.backend.gemm_tn(vocabulary, width, rows, call.d_out(), call.in(0), call.gradient(table),
                                call.adds_to_tensor(0));
    if (call.d_in(0) != nullptr)
      call.pass.backend.gemm_nn(rows, width, vocabulary, call.d_out(), call.weight(table), call.d_in(0),
                                call.adds_to(0));
  }
};

}  // namespace algoperf
