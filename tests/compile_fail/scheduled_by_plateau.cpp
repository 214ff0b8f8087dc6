// expect: algoperf: scheduled(...) hears of no evaluation, so a schedule that reacts, such as Plateau, would stay
#include <algoperf/rules/all.hpp>
#include <algoperf/schedules/all.hpp>
using namespace algoperf;

const auto rule = chain(Adam{}, scheduled(DecayedWeights{}, &DecayedWeights::rate, Plateau{}), Descend{});
