// expect: algoperf: a schedule is any callable
#include <algoperf/algoperf.hpp>

using namespace algoperf;

TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), 0.1, ShuffledEpochs{.batch = 8});
