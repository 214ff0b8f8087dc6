// expect: algoperf: a schedule is any callable `double (std::uint64_t step) const`, e.g. WarmupCosine{...} or a lambda
// for a fixed number write Constant{.value = ...}
#include <algoperf/rules/all.hpp>

auto stage = algoperf::scheduled(algoperf::DecayedWeights{}, &algoperf::DecayedWeights::rate, 0.1);
