// expect: algoperf: a masked stage cannot be scheduled: write masked(scheduled(stage, ...), where)
#include <algoperf/rules/all.hpp>
#include <algoperf/schedules/all.hpp>

auto masked = algoperf::masked(algoperf::DecayedWeights{}, algoperf::decayable);
auto stage = algoperf::scheduled(masked, &algoperf::DecayedWeights::rate, algoperf::Constant{0.1});
