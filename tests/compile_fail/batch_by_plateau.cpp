// expect: algoperf: scheduled_batch(...) hears of no evaluation, so a schedule that reacts, such as Plateau, would stay
#include <algoperf/algoperf.hpp>
using namespace algoperf;

const auto selector = scheduled_batch(ShuffledEpochs{}, Plateau{.peak = 64});
