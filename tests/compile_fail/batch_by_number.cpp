// expect: algoperf: scheduled_batch(selector, schedule) takes a schedule, a callable of the step, for its batch
#include <algoperf/algoperf.hpp>
using namespace algoperf;

const auto selector = scheduled_batch(ShuffledEpochs{}, 128);
