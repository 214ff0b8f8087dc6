// SequentialWorkers: one worker steps after the other, which is what combining their gradients approximates. Measures
// how close the mean, the sum and Adasum of the gradients come to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/map_kernels.hpp"
#include "../core/math.hpp"
#include "adasum_tree.hpp"
#include "over_ranks.hpp"

namespace algoperf {

// |x_c - x_seq| / |x_seq - x_0| after a step from x_0, where x_seq are the parameters after the workers have stepped
// one after the other, and x_c those after a single step with their combined gradients at x_0.
struct SequentialErrors {
  std::uint64_t step = 0;
  double mean = 0, sum = 0, adasum = 0;
};

// Each worker steps from the parameters that the one before it has reached: W workers make W steps of SGD with their
// own examples. At every step whose number `every` divides, the errors of combined gradients are appended to `errors`,
// which must outlive the loop. The errors are right for a rule without state, such as sgd(). If a loss is not finite,
// the steps of the workers before it remain.
// Source: Maleki et al. 2020 (arXiv:2006.02924), section 3, which approximates the sequential steps by gradients and
// Hessians; here they are made.
// Memory in addition: W gradients and three copies of the parameters. One rank, on the host.
struct SequentialWorkers {
  static constexpr bool is_combiner = true;
  std::vector<SequentialErrors>* errors = nullptr;
  std::uint64_t every = 1;

  template <class Context>
  struct State {
    typename Context::RuleState rule, scratch;  // scratch: for steps that are only measured
    typename Context::Array start, candidate, difference;
    std::vector<typename Context::Array> vectors = {};  // the workers' gradients at the start
    template <class Archive>
    void visit(Archive& archive) {
      rule.visit(archive);
    }
  };

  template <class Context>
  State<Context> state(const Context& context) const {
    static_assert(Context::Backend::on_host, "algoperf: SequentialWorkers needs the backend Host");
    static_assert(!Context::has_evaluation_values,
                  "algoperf: SequentialWorkers needs a rule that does not average weights");
    using S = typename Context::Scalar;
    const std::size_t n = errors == nullptr ? 0 : context.layout().size();
    const auto array = [&] { return context.backend().template array<S>(n); };
    State<Context> state{context.make_rule_state(), context.make_rule_state(), array(), array(), array()};
    for (std::size_t w = 0; w < context.workers(); ++w) state.vectors.push_back(array());
    return state;
  }

  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    using S = typename Context::Scalar;
    const bool measures = errors != nullptr && every > 0 && context.t() % every == 0;
    if (measures) {
      context.backend().copy(context.layout().size(), static_cast<const S*>(context.values()), state.start.data());
      for (std::size_t w = 0; w < context.workers(); ++w)
        (void)context.gradient(w, context.values(), state.vectors[w].data());
    }
    double loss = 0;
    for (std::size_t w = 0; w < context.workers(); ++w) {
      if (!(context.share(w) > 0)) continue;
      const auto gradient = [&] { return context.gradient(w, context.values(), context.gradients()); };
      loss = detail::plus_share(loss, context.share(w), gradient());
      context.step(context.gradients(), context.values(), state.rule, gradient);
    }
    if (measures) errors->push_back(errors_of(context, state));
    return loss;
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rule;
  }

 private:
  template <class Context>
  static SequentialErrors errors_of(Context& context, State<Context>& state) {
    using S = typename Context::Scalar;
    const auto& backend = context.backend();
    const std::size_t n = context.layout().size();
    S* const gradient = context.gradients();
    const auto distance_from = [&](const S* from) {
      const std::size_t trained = context.layout().trained_size();
      S* const difference = state.difference.data();
      backend.copy(trained, static_cast<const S*>(context.values()), difference);
      backend.map(Subtract{}, trained, difference, from);
      return math::sqrt(backend.dot(trained, difference, difference));
    };
    const double moved = distance_from(state.start.data());
    // Returns the error of a step from the start with `gradient`.
    const auto error = [&] {
      S* const candidate = state.candidate.data();
      backend.copy(n, static_cast<const S*>(state.start.data()), candidate);
      context.step(gradient, candidate, state.scratch, [] { return 0.0; });
      return distance_from(candidate) / moved;
    };
    const auto error_of_sum = [&](const auto& factor) {
      backend.fill(n, gradient, S(0));
      for (std::size_t w = 0; w < context.workers(); ++w)
        backend.map(LinearCombination<S>{1, static_cast<S>(factor(w))}, n, gradient,
                    static_cast<const S*>(state.vectors[w].data()));
      return error();
    };
    SequentialErrors found{context.t()};
    found.mean = error_of_sum([&](std::size_t w) { return context.share(w); });
    found.sum = error_of_sum([](std::size_t) { return 1; });
    std::vector<S*> vectors;
    for (auto& vector : state.vectors) vectors.push_back(vector.data());
    adasum_tree(backend, context.layout(), vectors, 0, vectors.size());
    backend.copy(n, static_cast<const S*>(vectors[0]), gradient);
    found.adasum = error();
    return found;
  }
};

}  // namespace algoperf
