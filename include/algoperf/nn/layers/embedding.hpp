#pragma once

#include "../concept.hpp"
#include "../init.hpp"

namespace algoperf {

// A table of vectors looked up by tokens: y[i] = weight[token_i].
// Shapes: in {context} of std::int32_t tokens, out {context, width}; `weight` {vocabulary, width}. There is no gradient
//   of the input, so an Embedding must be the first layer of a model.
// Precondition: every token lies in [0, vocabulary). The layer does not check this, because tokens are in the backend's
//   memory; TrainingLoop checks tokens before it copies them there.
// Hyperparameters: vocabulary and width at least 1.
// As torch's Embedding, including unit normal initial values. The gradient is dense and summed in a fixed order.
// Cost: 0 FLOPs forward, 1 per output element backward.
struct Embedding {
  std::size_t vocabulary = 1;
  std::size_t width = 1;
  Init init = Init::unit_normal;

  template <class S>
  using Input = std::int32_t;

  struct Handles {
    TensorHandle weight;
  };

  constexpr Shape output(Shape in) const { return {in.size(), width}; }
  constexpr std::size_t tokens() const { return vocabulary; }
  constexpr ModelPart part() const { return ModelPart::embedding; }
  constexpr std::uint64_t parameters(Shape) const { return vocabulary * width; }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t tokens = batch * in.size();
    tally.operation(operation_of(part(), "embedding", 0, tokens + tokens * width, tokens * width));
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool, Tally& tally) const {
    const std::uint64_t tokens = batch * in.size();
    tally.operation(
        operation_of(part(), "embedding gradient", tokens * width, tokens + tokens * width, vocabulary * width));
  }
  constexpr LayerMemory memory(Shape) const { return {}; }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    require(vocabulary > 0 && width > 0, name, ": Embedding has vocabulary ", vocabulary, " and width ", width,
            ", expected both at least 1");
    require(in.size() > 0, name, ": Embedding got an empty context, expected at least 1 token");
    return {layout.add({name + ".weight", Kind::embedding, {vocabulary, width}})};
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& h, Shape) const {
    set(h.weight, init, width, vocabulary);
  }

  template <class S>
  struct LookUp {
    std::size_t width;
    const std::int32_t* tokens;
    const S* table;
    S* y;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      team.copy(width, table + static_cast<std::size_t>(tokens[r]) * width, y + r * width);
    }
  };

  template <class B, class S>
  void forward(const LayerCall<B>& call, const Handles& h, Shape in, const std::int32_t* x, S* y) const {
    call.backend.for_each_row(call.batch * in.size(), width, LookUp<S>{width, x, call.weight(h.weight), y});
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, const Handles& h, Shape in, const std::int32_t* x, const S*, const S* dy,
                S*) const {
    call.backend.fill(vocabulary * width, call.gradient(h.weight), Arithmetic<S>(0));
    call.backend.add_rows(call.batch * in.size(), width, x, dy, call.gradient(h.weight));
  }
};

}  // namespace algoperf
