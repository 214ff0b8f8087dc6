// Adasum: the combiner of Maleki et al. 2020; the formula is in adasum_tree.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../core/map_kernels.hpp"
#include "adasum_tree.hpp"
#include "of.hpp"
#include "over_ranks.hpp"
#include "worker_rules.hpp"

namespace algoperf {

// Of::gradients suits SGD and momentum. Of::updates, the default, is the paper's method for Adam and LAMB.
template <Of of = Of::updates>
struct Adasum {
  static constexpr bool is_combiner = true, over_ranks = true;
  // Hierarchical Adasum: workers are grouped into nodes of per_node consecutive ones. The vectors of a node are
  // averaged, equally also if workers have different numbers of examples, and Adasum combines the averages. The number
  // of workers must be a multiple of per_node.
  std::size_t per_node = 1;
  VectorFormat format = VectorFormat::full;  // of the vectors and of their combination; Host only

  template <class Context>
  struct State {
    detail::WorkerRules<Context> rules;
    std::vector<typename Context::Array> vectors = {};     // the workers' gradients or updates
    typename Context::Array start = {};                    // the parameters before the step (updates only)
    std::vector<typename Context::Scalar*> pointers = {};  // to the vectors, reset at each step
    ArrayBlocks<typename Context::Backend> blocks = {};
    std::uint64_t measure_every = 0;         // steps; 0: never
    std::vector<double> orthogonality = {};  // per tensor, of the last step that was measured
    template <class Archive>
    void visit(Archive& archive) {
      rules.visit(archive);
    }
  };

  template <class Context>
  State<Context> state(const Context& context) const {
    static_assert(
        of == Of::gradients || !Context::has_evaluation_values,
        "algoperf: Adasum of updates runs one rule per worker, and none of them sees the combined parameters: "
        "a rule that averages weights needs Adasum<Of::gradients> or Mean");
    using S = typename Context::Scalar;
    const std::size_t n = context.layout().size(), workers = context.workers();
    const std::size_t all = workers * context.ranks().size();
    require(per_node >= 1 && all % per_node == 0, "Adasum: per_node is ", per_node, ", which does not divide ", all,
            " workers");
    require(Context::Backend::on_host || format == VectorFormat::full,
            "Adasum: a 16-bit format needs the backend Host");
    State<Context> state{{context, of}};
    for (std::size_t w = 0; w < workers; ++w) state.vectors.push_back(context.backend().template array<S>(n));
    if (of == Of::updates) state.start = context.backend().template array<S>(n);
    state.blocks = {context.backend(), context.ranks(), context.layout(), workers};
    return state;
  }

  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    if constexpr (of == Of::gradients)
      return of_gradients(context, state);
    else
      return of_updates(context, state);
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rules[0];
  }
  // Measures, at every step whose number `every` divides, how orthogonal the workers' vectors v_1, ..., v_W are, for
  // each tensor of the layout:
  //   |adasum(v_1, ..., v_W)|^2 / (|v_1|^2 + ... + |v_W|^2)
  // It is 1 if they are orthogonal, 1 / W if they are equal, and NaN if all are 0 (Maleki et al. 2020, figure of the
  // orthogonality over time). 0 stops measuring. All ranks must call it. Cost of a measured step: reads W + 1 vectors.
  template <class Context>
  void measure_orthogonality(State<Context>& state, std::uint64_t every) const {
    require(per_node == 1 || every == 0, "Adasum: orthogonality is measured without nodes, and per_node is ", per_node);
    state.measure_every = every;
    state.orthogonality.clear();
  }
  template <class Context>
  const std::vector<double>& orthogonality(const State<Context>& state) const {
    return state.orthogonality;
  }
  template <class Context>
  std::string part_of_state(State<Context>& state, const std::string& scope) const requires(of == Of::updates) {
    return state.rules.part(scope);
  }
  template <class Context>
  void take_parts(State<Context>& state, std::string others) const {
    state.rules.take_parts(std::move(others));
  }

 private:
  template <class Context>
  double of_gradients(Context& context, State<Context>& state) const {
    const auto gradient = [&] {
      double loss = 0;
      for (std::size_t w = 0; w < context.workers(); ++w)
        loss =
            detail::plus_share(loss, context.share(w), context.gradient(w, context.values(), state.vectors[w].data()));
      loss = combine(context, state, loss);
      context.backend().copy(context.layout().size(), state.vectors[0].data(), context.gradients());
      return loss;
    };
    const double loss = gradient();
    context.step(context.gradients(), context.values(), state.rules[0], gradient);
    return loss;
  }

  template <class Context>
  double of_updates(Context& context, State<Context>& state) const {
    using S = typename Context::Scalar;
    if (detail::one_worker(context)) return detail::step_alone(context, state.rules);
    const double loss =
        combine(context, state,
                detail::step_each(
                    context, state.rules, state.start.data(), [&](std::size_t w) { return state.vectors[w].data(); },
                    [](std::size_t, const S*) {}));
    context.add_to_values(state.vectors[0].data());
    return loss;
  }

  // Combines the vectors of all workers of all ranks in the first one. Returns the mean loss of all ranks.
  template <class Context>
  double combine(Context& context, State<Context>& state, double loss) const {
    state.pointers.clear();
    for (auto& vector : state.vectors) state.pointers.push_back(vector.data());
    const bool measures = state.measure_every > 0 && context.t() % state.measure_every == 0;
    std::vector<double> squares;
    if (measures) squares = squares_of(context, state.pointers);
    if (context.ranks().alone()) {
      adasum_of_nodes(context.backend(), context.layout(), state.pointers, per_node, format);
    } else {
      const std::vector<Ranks::Note> notes = context.meet(Meeting::gradient, context.weight(), loss);
      loss = detail::mean_loss(notes, detail::sum_of_weights(notes));
      adasum_tree(context.backend(), context.layout(), state.pointers, context.ranks(), state.blocks, per_node, format);
    }
    if (measures) {
      state.orthogonality = squares_of(context, {state.pointers.front()});
      const std::size_t tensors = squares.size(), ranks = context.ranks().size();
      const std::vector<double> all = context.ranks().all_gather(squares, std::vector<std::size_t>(ranks, tensors));
      for (std::size_t i = 0; i < tensors; ++i) {
        double sum = 0;
        for (std::size_t r = 0; r < ranks; ++r) sum += all[r * tensors + i];
        state.orthogonality[i] /= sum;
      }
    }
    return loss;
  }
  // Returns the sum of the vectors' squared norms, for each tensor.
  template <class Context>
  static std::vector<double> squares_of(const Context& context, const std::vector<typename Context::Scalar*>& vectors) {
    std::vector<double> squares;
    for (const TensorHandle handle : context.layout().tensors()) {
      const TensorPlace place = context.layout().place_of(handle);
      double sum = 0;
      for (const auto* const vector : vectors)
        sum += context.backend().dot(place.size, vector + place.offset, vector + place.offset);
      squares.push_back(sum);
    }
    return squares;
  }
};

}  // namespace algoperf
