// AveragedValues: memory for the parameters to evaluate with, if a rule averages them.
#pragma once

#include <cstddef>
#include <type_traits>

#include "visit_arena.hpp"

namespace algoperf::detail {

template <class Context>
class AveragedValues {
  using Scalar = typename Context::Scalar;

 public:
  explicit AveragedValues(const Context& context)
      : values_(context.backend().template array<Scalar>(context.layout().size())) {}

  // Computes the averages of the trained tensors, and copies buffers and fixed tensors. The result is valid until the
  // next call.
  template <class RuleState>
  const Scalar* compute(Context& context, RuleState& state) {
    const std::size_t trained = context.layout().trained_size();
    context.rule().evaluation_values(context.values(), state, values_.data());
    context.backend().copy(context.layout().size() - trained, context.values() + trained, values_.data() + trained);
    context.backend().synchronize();
    return values_.data();
  }
  // Visits the averages, which load_evaluation_values() reads from checkpoints. A loop that reads one does not use
  // them.
  template <class Archive, class RuleState>
  void visit(Archive& archive, Context& context, RuleState& state) {
    if constexpr (!Archive::reading) compute(context, state);
    visit_arena(archive, context.backend(), context.layout(), values_.data());
  }

 private:
  typename Context::Array values_;
};

// The same for rules that do not average: the parameters themselves.
template <class Context>
struct NoAveragedValues {
  explicit NoAveragedValues(const Context&) {}
  template <class RuleState>
  const typename Context::Scalar* compute(Context& context, RuleState&) const {
    return context.values();
  }
};

template <class Context>
using AveragedValuesOf =
    std::conditional_t<Context::has_evaluation_values, AveragedValues<Context>, NoAveragedValues<Context>>;

}  // namespace algoperf::detail
