// WorkerRules: the rule states of a combiner: one per worker if it combines updates, otherwise a single one. A combiner
// may have a type of its own for what each worker keeps, with a member visit().
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../core/map_kernels.hpp"
#include "../state/archive.hpp"
#include "../state/checkpoint_writer.hpp"
#include "of.hpp"
#include "over_ranks.hpp"

namespace algoperf::detail {

template <class Context, class T = typename Context::RuleState>
class WorkerRules {
 public:
  WorkerRules(const Context& context, Of of) : WorkerRules(context, of, [&] { return context.make_rule_state(); }) {}
  // make() returns a fresh T.
  template <class Make>
  WorkerRules(const Context& context, Of of, const Make& make) {
    const bool each = of == Of::updates;
    for (std::size_t w = 0; w < (each ? context.workers() : 1); ++w) states_.push_back(make());
    const std::size_t ranks = each ? context.ranks().size() : 1;
    first_ = ranks > 1 ? context.ranks().rank() * states_.size() : 0;
    all_ = ranks * states_.size();
  }

  // Returns the state of this rank's worker w.
  auto& operator[](std::size_t w) { return states_[w]; }

  // A checkpoint has the states of all ranks; a rank reads its own.
  template <class Archive>
  void visit(Archive& archive) {
    for (std::size_t i = 0; i < all_; ++i) {
      const std::string scope = "worker_" + std::to_string(i);
      if (i >= first_ && i < first_ + states_.size())
        visit_scoped(archive, scope, states_[i - first_]);
      else if constexpr (requires { archive.skip_scope(scope); })
        archive.skip_scope(scope);
    }
    if constexpr (requires { archive.append(others_); }) archive.append(std::exchange(others_, {}));
  }
  // The combiner's part_of_state() and take_parts(): returns this rank's entries in a scope; stores those of the other
  // ranks, which the next visit() writes.
  std::string part(const std::string& scope) {
    CheckpointWriter mine;
    const ArchiveScope in(mine, scope);
    visit(mine);
    return mine.entries();
  }
  void take_parts(std::string others) { others_ = std::move(others); }

 private:
  std::vector<T> states_;
  std::size_t first_ = 0, all_ = 0;  // the number of the first of this rank's states among those of all ranks
  std::string others_;               // the states of the other ranks' rules, to be written to a checkpoint
};

// Lets each worker of this rank step from the parameters, which are copied to `start`, and calls take(w, update) with
// the change that it makes, in the array vector_of(w). A worker without examples (in a small last batch) does not step:
// its update is 0 and its state is unchanged. Returns the mean loss of this rank's examples.
template <class Context, class VectorOf, class Take>
double step_each(Context& context, WorkerRules<Context>& rules, typename Context::Scalar* start,
                 const VectorOf& vector_of, const Take& take) {
  using S = typename Context::Scalar;
  const std::size_t n = context.layout().size();
  double loss = 0;
  context.backend().copy(n, context.values(), start);
  for (std::size_t w = 0; w < context.workers(); ++w) {
    S* const mine = vector_of(w);
    if (context.share(w) > 0) {
      const auto gradient = [&] { return context.gradient(w, mine, context.gradients()); };
      context.backend().copy(n, static_cast<const S*>(start), mine);
      loss = plus_share(loss, context.share(w), gradient());
      context.step(context.gradients(), mine, rules[w], gradient);
      context.backend().map(Subtract{}, n, mine, static_cast<const S*>(start));
    } else {
      context.backend().fill(n, mine, S(0));
    }
    take(w, static_cast<const S*>(mine));
  }
  return loss;
}

// One worker alone has nothing to combine: the bits are those of SingleWorker.
template <class Context>
double step_alone(Context& context, WorkerRules<Context>& rules) {
  const auto gradient = [&] { return context.gradient(0, context.values(), context.gradients()); };
  const double loss = gradient();
  context.step(context.gradients(), context.values(), rules[0], gradient);
  return loss;
}

// Whether there is one worker in all.
template <class Context>
bool one_worker(const Context& context) {
  return context.workers() == 1 && context.ranks().alone();
}

}  // namespace algoperf::detail
