// expect: algoperf: a workload has model(), loss(), metric(), train(), validation(), test(), target() and step_hint()
#include <algoperf/benchmark/time_to_target.hpp>
#include <algoperf/data/selectors/shuffled_epochs.hpp>
#include <algoperf/rules/recipes/adamw.hpp>
#include <algoperf/schedules/constant.hpp>

ALGOPERF_TIME_TO_TARGET(3, algoperf::adamw(), algoperf::Constant{1e-3}, algoperf::ShuffledEpochs{.batch = 128});
