// LocalSteps: the combiner of workers that train on their own for several steps between two averages: local SGD and
// DiLoCo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../core/map_kernels.hpp"
#include "../core/require.hpp"
#include "../state/archive.hpp"
#include "../state/visit_option.hpp"
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
// Memory in addition: W copies of the parameters, two more vectors, and W rule states. Backend Host, one rank.
struct LocalSteps {
  static constexpr bool is_combiner = true;
  std::uint64_t every = 8;
  double outer_rate = 1;
  double outer_momentum = 0;

  template <class Context>
  struct State {
    detail::WorkerRules<Context> rules;
    typename Context::Backend backend;
    std::size_t size;                          // of the parameters
    std::vector<typename Context::Array> own;  // the parameters of each worker
    typename Context::Array momentum = {}, difference = {};
    std::uint64_t steps = 0;
    double every = 0;  // the combiner's option
    template <class Archive>
    void visit(Archive& archive) {
      rules.visit(archive);
      const ArchiveScope scope(archive, "local_steps");
      visit_option(archive, "LocalSteps", "every", every);
      archive.number("steps", steps);
      archive.array("momentum", backend, momentum.data(), size);
      for (std::size_t w = 0; w < own.size(); ++w)
        archive.array(("worker_" + std::to_string(w)).c_str(), backend, own[w].data(), size);
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
    State<Context> state{{context, Of::updates}, context.backend(), context.layout().size(), {}};
    for (std::size_t w = 0; w < context.workers(); ++w)
      state.own.push_back(context.backend().template array<S>(state.size));
    state.momentum = context.backend().template array<S>(state.size);
    state.difference = context.backend().template array<S>(state.size);
    context.backend().fill(state.size, state.momentum.data(), S(0));
    state.every = static_cast<double>(every);
    return state;
  }

  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    if (state.steps == 0) send(context, state);
    double loss = 0;
    for (std::size_t w = 0; w < context.workers(); ++w) {
      if (!(context.share(w) > 0)) continue;
      auto* const own = state.own[w].data();
      const auto gradient = [&] { return context.gradient(w, own, context.gradients()); };
      loss = detail::plus_share(loss, context.share(w), gradient());
      context.step(context.gradients(), own, state.rules[w], gradient);
    }
    if (++state.steps % every == 0) {
      outer_step(context, state);
      send(context, state);
    }
    return loss;
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rules[0];
  }

 private:
  // Sends the loop's parameters to all workers.
  template <class Context>
  static void send(Context& context, State<Context>& state) {
    for (auto& own : state.own)
      context.backend().copy(state.size, static_cast<const typename Context::Scalar*>(context.values()), own.data());
  }

  template <class Context>
  void outer_step(Context& context, State<Context>& state) const {
    using S = typename Context::Scalar;
    const auto& backend = context.backend();
    S *const x = context.values(), *const d = state.difference.data(), *const m = state.momentum.data();
    const S share = S(1) / static_cast<S>(state.own.size());
    backend.fill(state.size, d, S(0));
    for (const auto& own : state.own) backend.map(LinearCombination<S>{1, share}, state.size, d, own.data());
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
