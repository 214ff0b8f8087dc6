// WorkerSum: the combiner that adds the workers' gradients or updates.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "../core/map_kernels.hpp"
#include "over_ranks.hpp"
#include "worker_rules.hpp"

namespace algoperf {

// Adds the workers' gradients before one step (Of::gradients), or their updates after each worker's step
// (Of::updates). With W workers that have as many examples each, the sum of gradients is W times Mean's, so that SGD
// with WorkerSum takes the steps of Mean with a learning rate W times as large: the linear scaling of Goyal et al. 2017
// (arXiv:1706.02677). Adasum equals it if the vectors are orthogonal. Tensors that are not trained, such as the
// running averages of batch norm, are averaged. The loss of a step is the mean over the batch.
// Memory in addition: one gradient, or two updates and a copy of the parameters.
template <Of of>
struct WorkerSum {
  static constexpr bool is_combiner = true, over_ranks = true;

  template <class Context>
  struct State {
    detail::WorkerRules<Context> rules;
    typename Context::Array vector, start, sum;  // one worker's vector, the parameters before the step, the updates
    ArrayBlocks<typename Context::Backend> blocks;
    template <class Archive>
    void visit(Archive& archive) {
      rules.visit(archive);
    }
  };

  template <class Context>
  State<Context> state(const Context& context) const {
    static_assert(of == Of::gradients || !Context::has_evaluation_values,
                  "algoperf: WorkerSum of updates runs one rule per worker, and none of them sees the combined "
                  "parameters: a rule that averages weights needs WorkerSum<Of::gradients> or Mean");
    using S = typename Context::Scalar;
    const std::size_t n = detail::one_worker(context) ? 0 : context.layout().size();
    return {{context, of},
            context.backend().template array<S>(n),
            context.backend().template array<S>(of == Of::updates ? n : 0),
            context.backend().template array<S>(of == Of::updates ? n : 0),
            {context.backend(), context.ranks(), context.layout(), 1}};
  }

  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    if (detail::one_worker(context)) return detail::step_alone(context, state.rules);
    if constexpr (of == Of::gradients) {
      const auto gradient = [&] { return sum_of_gradients(context, state); };
      const double loss = gradient();
      context.step(context.gradients(), context.values(), state.rules[0], gradient);
      return loss;
    } else {
      return sum_of_updates(context, state);
    }
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rules[0];
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
  static double sum_of_gradients(Context& context, State<Context>& state) {
    context.backend().fill(context.layout().size(), context.gradients(), typename Context::Scalar(0));
    double loss = 0;
    for (std::size_t w = 0; w < context.workers(); ++w) {
      loss = detail::plus_share(loss, context.share(w), context.gradient(w, context.values(), state.vector.data()));
      add(context, w, context.gradients(), state.vector.data());
    }
    return add_ranks(context, state, context.gradients(), loss);
  }

  // The parameters change last, so that they are those before the step if a loss is not finite.
  template <class Context>
  static double sum_of_updates(Context& context, State<Context>& state) {
    using S = typename Context::Scalar;
    const std::size_t n = context.layout().size();
    S* const sum = state.sum.data();
    context.backend().fill(n, sum, S(0));
    double loss = detail::step_each(
        context, state.rules, state.start.data(), [&](std::size_t) { return state.vector.data(); },
        [&](std::size_t w, const S* update) { add(context, w, sum, update); });
    loss = add_ranks(context, state, sum, loss);
    context.add_to_values(sum);
    return loss;
  }

  // Adds a worker's vector; of the tensors that are not trained, its share.
  template <class Context, class S>
  static void add(Context& context, std::size_t worker, S* sum, const S* vector) {
    const std::size_t trained = context.layout().trained_size(), rest = context.layout().size() - trained;
    context.backend().map(Add{}, trained, sum, vector);
    if (rest > 0)
      context.backend().map(LinearCombination<S>{1, static_cast<S>(context.share(worker))}, rest, sum + trained,
                            vector + trained);
  }

  // Adds the sums of all ranks. Returns the mean loss of all ranks.
  template <class Context, class S>
  static double add_ranks(Context& context, State<Context>& state, S* sum, double loss) {
    if (context.ranks().alone()) return loss;
    const auto notes = context.meet(Meeting::gradient, context.weight(), loss);
    const double weight = detail::sum_of_weights(notes);
    const std::size_t trained = context.layout().trained_size(), rest = context.layout().size() - trained;
    const double share = weight > 0 ? context.weight() / weight : 0;
    if (rest > 0) context.backend().map(Multiply<S>{static_cast<S>(share)}, rest, sum + trained);
    detail::sum_over_ranks(context, state.blocks, sum, [](std::size_t) { return S(1); });
    return detail::mean_loss(notes, weight);
  }
};

}  // namespace algoperf
