#pragma once

#include "../core/describe_shape.hpp"
#include "../core/map_kernels.hpp"
#include "layers/embedding.hpp"
#include "ops/look_up.hpp"
#include "ops/tied_logits.hpp"
#include "sequential.hpp"

namespace algoperf {

// Weight tying: an embedding whose table W is also the weight matrix of the logits. The layers in between map the
// embedded context to h, a row of `width` elements:  z = h W^T + b.
//   Tied(Embedding{.vocabulary = 65, .width = 24, .init = Init::lecun_normal}, Flatten{}, Dense{.units = 24}, Relu{})
// Shapes: in {context} of std::int32_t tokens, out {vocabulary}; `embedding.weight` {vocabulary, width}, whose gradient
//   is the sum of both uses, `bias` {vocabulary}. declare throws Error if the layers' output does not have `width`
//   elements.
// Source: Press & Wolf 2017, arXiv:1608.05859; Inan et al. 2017. The table is initialised by the embedding's `init`:
//   unit_normal gives large logits, lecun_normal logits of about 1.
// Cost: the layers', plus 2 vocabulary width + vocabulary FLOPs forward and 4 vocabulary width + vocabulary backward.
template <class... Layers>
class Tied {
  using Inner = Sequential<Layers...>;

 public:
  static constexpr bool has_buffers = Inner::has_buffers;
  static constexpr bool counts_memory = true;
  template <class S>
  using Input = std::int32_t;
  struct Handles {
    Embedding::Handles embedding;
    typename Inner::Handles inner;
    TensorHandle bias;
  };

  constexpr explicit Tied(const Embedding& embedding, const Layers&... layers)
      : embedding_(embedding), inner_(layers...) {}

  constexpr std::size_t tokens() const { return embedding_.vocabulary; }
  constexpr Shape output(Shape) const { return {embedding_.vocabulary}; }
  constexpr std::uint64_t parameters(Shape in) const {
    return embedding_.parameters(in) + inner_.parameters(embedded(in)) + embedding_.vocabulary;
  }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t words = embedding_.vocabulary;
    tally.hold(held(in) * batch);
    embedding_.count_forward(in, batch, tally);
    inner_.count_forward(embedded(in), batch, tally);
    tally.operation(matrix_product("tied", batch, words, embedding_.width, ModelPart::output));
    tally.operation(operation_of(ModelPart::output, "bias", batch * words, batch * words + words, batch * words));
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool, Tally& tally) const {
    const std::uint64_t words = embedding_.vocabulary, width = embedding_.width;
    tally.gradient(words * width, ModelPart::embedding);
    tally.gradient(words, ModelPart::output);
    tally.hold(held(in) * batch);  // the gradients of the held activations
    tally.operation(operation_of(ModelPart::output, "bias gradient", batch * words, batch * words, words));
    tally.operation(matrix_product("tied, weight gradient", words, width, batch, ModelPart::output));
    tally.operation(matrix_product("tied, input gradient", batch, width, words, ModelPart::output));
    inner_.count_backward(embedded(in), batch, true, tally);
    embedding_.count_backward(in, batch, false, tally);
    tally.release(2 * held(in) * batch);
  }
  constexpr LayerMemory memory(Shape in) const {
    LayerMemory memory = inner_.memory(embedded(in));
    memory.kept += 2 * embedded(in).size() + 2 * embedding_.width;
    return memory;
  }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    const Shape out = inner_.output(embedded(in));
    require(out.size() == embedding_.width, name, ": Tied has layers with output shape ", describe(out),
            ", expected the ", embedding_.width, " elements of a row of the table");
    const std::string prefix = name.empty() ? "" : name + ".";
    const auto table = embedding_.declare(layout, prefix + "embedding", in);
    return {table, inner_.declare(layout, name, embedded(in)),
            layout.add({prefix + "bias", Kind::bias, {embedding_.vocabulary}, true})};
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& h, Shape in) const {
    embedding_.initialize(set, h.embedding, in);
    inner_.initialize(set, h.inner, embedded(in));
    set(h.bias, Init::zeros);
  }

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    const std::size_t words = embedding_.vocabulary, width = embedding_.width;
    const SharedTensor table =
        net.tensor("embedding.weight", Kind::embedding, {words, width}, embedding_.init, width, words);
    const Value hidden = inner_(net, net(LookUp{.table = table, .vocabulary = words, .width = width}, x));
    const SharedTensor bias = net.tensor("bias", Kind::bias, {words}, Init::zeros, 1, 1, true);
    return net(TiedLogits{.table = table, .bias = bias, .vocabulary = words, .width = width}, hidden);
  }

  template <class B, class S>
  void forward(const LayerCall<B>& call, const Handles& h, Shape in, const std::int32_t* x, S* y) const {
    const Kept<B> kept(call, embedded(in).size(), embedding_.width);
    const std::size_t words = embedding_.vocabulary;
    embedding_.forward(call, h.embedding, in, x, kept.embedded);
    inner_.forward(kept.inner, h.inner, embedded(in), static_cast<const S*>(kept.embedded), kept.hidden);
    call.backend.gemm_nt(call.batch, words, embedding_.width, kept.hidden, call.weight(h.embedding.weight), y);
    call.backend.map_rows(Add{}, call.batch, words, y, call.value(h.bias));
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, const Handles& h, Shape in, const std::int32_t* x, const S*, const S* dy,
                S*) const {
    const Kept<B> kept(call, embedded(in).size(), embedding_.width);
    const std::size_t words = embedding_.vocabulary, width = embedding_.width;
    auto* const d_table = call.gradient(h.embedding.weight);
    call.backend.column_sums(call.batch, words, dy, call.gradient(h.bias));
    call.backend.gemm_tn(words, width, call.batch, dy, kept.hidden, d_table);
    call.backend.gemm_nn(call.batch, width, words, dy, call.weight(h.embedding.weight), kept.d_hidden);
    inner_.backward(kept.inner, h.inner, embedded(in), static_cast<const S*>(kept.embedded),
                    static_cast<const S*>(kept.hidden), static_cast<const S*>(kept.d_hidden), kept.d_embedded);
    call.backend.add_rows(call.batch * in.size(), width, x, kept.d_embedded, d_table);
  }

 private:
  template <class B>
  struct Kept {
    Stored<B>*embedded, *d_embedded, *hidden, *d_hidden;
    LayerCall<B> inner;
    Kept(const LayerCall<B>& call, std::size_t context, std::size_t width)
        : embedded(call.kept),
          d_embedded(embedded + context * call.capacity),
          hidden(d_embedded + context * call.capacity),
          d_hidden(hidden + width * call.capacity),
          inner(call) {
      inner.kept = d_hidden + width * call.capacity;
    }
  };
  constexpr Shape embedded(Shape in) const { return embedding_.output(in); }
  // Returns the number of elements of the embedded tokens and of the layers' output h, per example.
  constexpr std::uint64_t held(Shape in) const { return embedded(in).size() + embedding_.width; }

  Embedding embedding_;
  Inner inner_;
};

}  // namespace algoperf
