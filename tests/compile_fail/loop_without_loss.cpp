// expect: algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the second must be a loss
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void train() { TrainingLoop loop(mlp(Shape{4}, {4}, 2), sgd(), Constant{0.1}, ShuffledEpochs{.batch = 2}); }
