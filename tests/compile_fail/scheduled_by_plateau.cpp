// expect: algoperf: scheduled(...) receives no evaluation reports, so a schedule that reacts to them, such as Plateau,
#include <algoperf/rules/all.hpp>
#include <algoperf/schedules/all.hpp>
using namespace algoperf;

const auto rule = chain(Adam{}, scheduled(DecayedWeights{}, &DecayedWeights::rate, Plateau{}), Descend{});
