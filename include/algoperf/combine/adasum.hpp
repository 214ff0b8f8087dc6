// Adasum of Maleki et al. 2020, "Scaling Distributed Training with Adaptive Summation" (arXiv:2006.02924):
//   adasum(a, b) = (1 - a.b / (2 |a|^2)) a + (1 - a.b / (2 |b|^2)) b
// per tensor. Workers are combined in a binary tree: adasum of [0, n) is adasum of the two halves. Orthogonal vectors
// are added, parallel vectors are averaged. A squared norm below sqrt(DBL_MIN) counts as zero: its coefficient is 1, as
// in Horovod.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../core/layout.hpp"
#include "../core/map_kernels.hpp"
#include "../state/archive.hpp"
#include "concept.hpp"

namespace algoperf {

// The vectors that are combined: the workers' gradients, before a single step (SGD, momentum), or their updates of the
// parameters, after each of the W workers has stepped with its own rule state (the paper's method for Adam and LAMB).
enum class Of { gradients, updates };

namespace detail {

constexpr double adasum_coefficient(double dot, double square) {
  constexpr double negligible = 1.4916681462400413e-154;  // sqrt(DBL_MIN)
  return square >= negligible ? 1 - 0.5 * dot / square : 1;
}

}  // namespace detail

// a = adasum(a, b), tensor by tensor. Tensors that are not trained are averaged instead.
template <class Backend, class S>
void adasum_pair(const Backend& backend, const Layout& layout, S* a, const S* b) {
  for (const TensorHandle handle : layout.tensors()) {
    const TensorPlace place = layout.place_of(handle);
    S* const x = a + place.offset;
    const S* const y = b + place.offset;
    if (!layout.spec(handle).trained()) {
      backend.map(LinearCombination<S>{S(0.5), S(0.5)}, place.size, x, y);
      continue;
    }
    const double dot = backend.dot(place.size, x, y);
    const double xx = backend.dot(place.size, x, x), yy = backend.dot(place.size, y, y);
    backend.map(LinearCombination<S>{static_cast<S>(detail::adasum_coefficient(dot, xx)),
                                     static_cast<S>(detail::adasum_coefficient(dot, yy))},
                place.size, x, y);
  }
}

// vectors[begin] = adasum of vectors [begin, end). The other vectors in this range may be overwritten.
template <class Backend, class S>
void adasum_tree(const Backend& backend, const Layout& layout, const std::vector<S*>& vectors, std::size_t begin,
                 std::size_t end) {
  if (end - begin < 2) return;
  const std::size_t middle = begin + (end - begin) / 2;
  adasum_tree(backend, layout, vectors, begin, middle);
  adasum_tree(backend, layout, vectors, middle, end);
  adasum_pair(backend, layout, vectors[begin], static_cast<const S*>(vectors[middle]));
}

template <Of of = Of::updates>
struct Adasum {
  static constexpr bool is_combiner = true;

  template <class Context>
  struct State {
    std::vector<typename Context::RuleState> rules;   // one for gradients, one per worker for updates
    std::vector<typename Context::Array> vectors;     // the workers' gradients or updates
    typename Context::Array start;                    // the parameters before the step (updates only)
    std::vector<typename Context::Scalar*> pointers;  // to the vectors, reset at each step
    template <class Archive>
    void visit(Archive& archive) {
      for (std::size_t w = 0; w < rules.size(); ++w) visit_scoped(archive, "worker_" + std::to_string(w), rules[w]);
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
    State<Context> state;
    for (std::size_t w = 0; w < (of == Of::updates ? workers : 1); ++w)
      state.rules.push_back(context.make_rule_state());
    for (std::size_t w = 0; w < workers; ++w) state.vectors.push_back(context.backend().template array<S>(n));
    if (of == Of::updates) state.start = context.backend().template array<S>(n);
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
    return state.rules.front();
  }

 private:
  template <class Context>
  double of_gradients(Context& context, State<Context>& state) const {
    const auto gradient = [&] {
      double loss = 0;
      for (std::size_t w = 0; w < context.workers(); ++w)
        loss += context.share(w) * context.gradient(w, context.values(), state.vectors[w].data());
      combine(context, state);
      context.backend().copy(context.layout().size(), state.vectors[0].data(), context.gradients());
      return loss;
    };
    const double loss = gradient();
    context.step(context.gradients(), context.values(), state.rules[0], gradient);
    return loss;
  }

  // Each worker steps from the same parameters, and its vector is the change it makes. A worker without examples (in a
  // small last batch) does not step: its vector is 0 and its state is unchanged.
  template <class Context>
  double of_updates(Context& context, State<Context>& state) const {
    using S = typename Context::Scalar;
    const std::size_t n = context.layout().size();
    if (context.workers() == 1) {  // nothing to combine: same bits as SingleWorker
      const auto gradient = [&] { return context.gradient(0, context.values(), context.gradients()); };
      const double loss = gradient();
      context.step(context.gradients(), context.values(), state.rules[0], gradient);
      return loss;
    }
    const S* const start = state.start.data();
    double loss = 0;
    context.backend().copy(n, context.values(), state.start.data());
    for (std::size_t w = 0; w < context.workers(); ++w) {
      S* const mine = state.vectors[w].data();
      if (!(context.share(w) > 0)) {
        context.backend().fill(n, mine, S(0));
        continue;
      }
      const auto gradient = [&] { return context.gradient(w, mine, context.gradients()); };
      context.backend().copy(n, start, mine);
      loss += context.share(w) * gradient();
      context.step(context.gradients(), mine, state.rules[w], gradient);
      context.backend().map(Subtract{}, n, mine, start);
    }
    combine(context, state);
    context.backend().map(Add{}, n, context.values(), static_cast<const S*>(state.vectors[0].data()));
    return loss;
  }

  template <class Context>
  static void combine(Context& context, State<Context>& state) {
    state.pointers.clear();
    for (auto& vector : state.vectors) state.pointers.push_back(vector.data());
    adasum_tree(context.backend(), context.layout(), state.pointers, 0, state.pointers.size());
  }
};

}  // namespace algoperf
