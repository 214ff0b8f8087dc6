// expect: algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the third must be a chain(...)
#include <algoperf/algoperf.hpp>

using namespace algoperf;

TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, Constant{0.1}, sgd(), ShuffledEpochs{.batch = 8});
