// LocalSteps: the combiner of workers that train on their own for several steps between two averages: local SGD and
// DiLoCo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../core/map_kernels.hpp"
#include "../core/require.hpp"
#include "../state/archive.hpp"
#include "../state/visit_option.hpp"
#include "group/array_blocks.hpp"
#include "over_ranks.hpp"
#include "worker_rules.hpp"

namespace algoperf {

// Each step of the loop is one (inner) step of every worker, on its part of the batch, from its own parameters x_w and
// with its own rule state. After every `every` steps, the loop's parameters x move by an outer step of SGD with
// Nesterov momentum, and all workers continue from them:
//   d = x - mean of the x_w;  m' = outer_momentum m + d;  x' = x - outer_rate (d + outer_momentum m');  x_w = x'
// The defaults average: local SGD (Stich 2019, arXiv:1805.09767). diloco() has the outer step of Douillard et al. 2023
// (arXiv:2311.08105), whose inner rule is AdamW. Rule states are neither averaged nor reset. Evaluations see x, which
// changes every `every` steps only: before the first outer step it has its initial values, so a run should end with an
// outer step. Tensors that are not trained, such as the running averages of batch norm, are averaged. Workers without
// examples (in a small last batch) do not step. The loss of a step is the mean over the batch, at the workers'
// parameters.
// Ranks exchange parameters at outer steps, and in other steps only the notes of a meeting. The results have the
// same bits as with the same number of workers in one process.
// Memory in addition: W copies of the parameters, two more vectors, and W rule states. Backend Host.
struct LocalSteps {
  static constexpr bool is_combiner = true, over_ranks = true;
  std::uint64_t every = 8;
  double outer_rate = 1;
  double outer_momentum = 0;

  template <class Context>
  struct Worker {
    typename Context::RuleState rule;
    typename Context::Backend backend;
    std::size_t size;  // of the parameters
    typename Context::Array own;
    template <class Archive>
    void visit(Archive& archive) {
      rule.visit(archive);
      archive.array("local_values", backend, own.data(), size);
    }
  };
  template <class Context>
  struct State {
    detail::WorkerRules<Context, Worker<Context>> workers;
    typename Context::Backend backend;
    std::size_t size;
    typename Context::Array momentum, difference;
    ArrayBlocks<typename Context::Backend> blocks;
    std::uint64_t steps = 0;
    double every = 0, outer_rate = 0, outer_momentum = 0;  // the combiner's options
    template <class Archive>
    void visit(Archive& archive) {
      workers.visit(archive);
      const ArchiveScope scope(archive, "local_steps");
      visit_option(archive, "LocalSteps", "every", every);
      visit_option(archive, "LocalSteps", "outer_rate", outer_rate);
      visit_option(archive, "LocalSteps", "outer_momentum", outer_momentum);
      archive.number("steps", steps);
      archive.array("momentum", backend, momentum.data(), size);
    }
  };

  void check() const {
    require(every >= 1, "LocalSteps: every is 0, expected at least 1");
    require_more_than(0, "LocalSteps", "outer_rate", outer_rate);
    require(outer_momentum >= 0 && outer_momentum < 1, "LocalSteps: outer_momentum is ", outer_momentum,
            ", expected [0, 1)");
  }

  template <class Context>
  State<Context> state(const Context& context) const {
    static_assert(Context::Backend::on_host, "algoperf: LocalSteps needs the backend Host");
    static_assert(!Context::has_evaluation_values,
                  "algoperf: LocalSteps runs one rule per worker, and none of them sees the averaged parameters: use a "
                  "rule that does not average weights");
    using S = typename Context::Scalar;
    check();
    const std::size_t n = context.layout().size();
    const auto array = [&] { return context.backend().template array<S>(n); };
    State<Context> state{{context, Of::updates,
                          [&] {
                            return Worker<Context>{context.make_rule_state(), context.backend(), n, array()};
                          }},
                         context.backend(),
                         n,
                         array(),
                         array(),
                         {context.backend(), context.ranks(), context.layout(), context.workers()}};
    context.backend().fill(n, state.momentum.data(), S(0));
    state.every = static_cast<double>(every);
    state.outer_rate = outer_rate;
    state.outer_momentum = outer_momentum;
    return state;
  }

  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    if (state.steps == 0) send(context, state);
    double loss = 0;
    for (std::size_t w = 0; w < context.workers(); ++w) {
      if (!(context.share(w) > 0)) continue;
      auto* const own = state.workers[w].own.data();
      const auto gradient = [&] { return context.gradient(w, own, context.gradients()); };
      loss = detail::plus_share(loss, context.share(w), gradient());
      context.step(context.gradients(), own, state.workers[w].rule, gradient);
    }
    if (!context.ranks().alone()) {
      const std::vector<Ranks::Note> notes = context.meet(Meeting::gradient, context.weight(), loss);
      loss = detail::mean_loss(notes, detail::sum_of_weights(notes));
    }
    if (++state.steps % every == 0) {
      outer_step(context, state);
      send(context, state);
    }
    return loss;
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.workers[0].rule;
  }
  template <class Context>
  std::string part_of_state(State<Context>& state, const std::string& scope) const {
    return state.workers.part(scope);
  }
  template <class Context>
  void take_parts(State<Context>& state, std::string others) const {
    state.workers.take_parts(std::move(others));
  }

 private:
  // Sends the loop's parameters to all workers.
  template <class Context>
  static void send(Context& context, State<Context>& state) {
    for (std::size_t w = 0; w < context.workers(); ++w)
      context.backend().copy(state.size, static_cast<const typename Context::Scalar*>(context.values()),
                             state.workers[w].own.data());
  }

  // Writes the mean of all workers' parameters to state.difference, added in the order of workers.
  template <class Context>
  static void average(Context& context, State<Context>& state) {
    using S = typename Context::Scalar;
    const auto& backend = context.backend();
    const Ranks& ranks = context.ranks();
    const S share = S(1) / static_cast<S>(context.workers() * ranks.size());
    const auto add = [&](std::size_t n, S* mean, const S* own) {
      backend.map(LinearCombination<S>{1, share}, n, mean, own);
    };
    S* const mean = state.difference.data();
    backend.fill(state.size, mean, S(0));
    if (ranks.alone()) {
      for (std::size_t w = 0; w < context.workers(); ++w)
        add(state.size, mean, static_cast<const S*>(state.workers[w].own.data()));
      return;
    }
    for (std::size_t w = 0; w < context.workers(); ++w)
      state.blocks.all_to_all(backend, ranks, static_cast<const S*>(state.workers[w].own.data()), w);
    const std::size_t n = state.blocks.own_block().size;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      for (std::size_t w = 0; w < context.workers(); ++w)
        add(n, mean, static_cast<const S*>(state.blocks.received(r, w)));
    backend.copy(n, static_cast<const S*>(mean), state.blocks.received(0));
    state.blocks.all_gather(backend, ranks, mean);
  }

  template <class Context>
  void outer_step(Context& context, State<Context>& state) const {
    using S = typename Context::Scalar;
    const auto& backend = context.backend();
    S *const x = context.values(), *const d = state.difference.data(), *const m = state.momentum.data();
    average(context, state);
    const std::size_t trained = context.layout().trained_size();
    backend.copy(state.size - trained, static_cast<const S*>(d + trained), x + trained);
    backend.map(LinearCombination<S>{-1, 1}, trained, d, static_cast<const S*>(x));
    const S mu = static_cast<S>(outer_momentum), rate = static_cast<S>(outer_rate);
    backend.map(LinearCombination<S>{mu, 1}, trained, m, static_cast<const S*>(d));
    backend.map(LinearCombination<S>{1, -rate}, trained, x, static_cast<const S*>(d));
    backend.map(LinearCombination<S>{1, -rate * mu}, trained, x, static_cast<const S*>(m));
  }
};

// DiLoCo's outer step: Nesterov momentum 0.9 and rate 0.7; the paper has 500 inner steps, of adamw().
constexpr LocalSteps diloco(std::uint64_t every) { return {.every = every, .outer_rate = 0.7, .outer_momentum = 0.9}; }

}  // namespace algoperf
