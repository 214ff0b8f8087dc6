// expect: algoperf: scheduled_batch(...) receives no evaluations, so a schedule that reacts to them, such as Plateau
#include <algoperf/algoperf.hpp>
using namespace algoperf;

const auto selector = scheduled_batch(ShuffledEpochs{}, Plateau{.peak = 64});
