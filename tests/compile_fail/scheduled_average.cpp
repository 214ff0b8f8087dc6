// expect: algoperf: a stage that gives evaluation values, such as WeightAverage, cannot be scheduled
#include <algoperf/rules/all.hpp>
#include <algoperf/schedules/all.hpp>

auto stage = algoperf::scheduled(algoperf::WeightAverage{}, &algoperf::WeightAverage::decay, algoperf::Constant{0.9});
