// expect: algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the second must be a loss
#include <algoperf/algoperf.hpp>

using namespace algoperf;

TrainingLoop loop(linear_model(Shape{4}, 2), sgd(), SoftmaxCrossEntropy{}, Constant{0.1}, ShuffledEpochs{.batch = 8});
