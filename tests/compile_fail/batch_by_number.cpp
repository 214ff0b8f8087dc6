// expect: algoperf: scheduled_batch(selector, schedule) needs a schedule, a callable of the step, as second argument
#include <algoperf/algoperf.hpp>
using namespace algoperf;

const auto selector = scheduled_batch(ShuffledEpochs{}, 128);
