// expect: algoperf: scheduled(stage, field, schedule) needs the address of one of the stage's hyperparameters of type
// double, e.g. &DecayedWeights::rate
#include <algoperf/rules/all.hpp>
#include <algoperf/schedules/all.hpp>

auto stage = algoperf::scheduled(algoperf::Orthogonalize{}, &algoperf::Orthogonalize::steps, algoperf::Constant{5});
