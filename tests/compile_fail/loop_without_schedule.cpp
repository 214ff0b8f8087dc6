// expect: algoperf: a schedule is any callable
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void train() { TrainingLoop loop(mlp(Shape{4}, {4}, 2), SoftmaxCrossEntropy{}, sgd(), ShuffledEpochs{.batch = 2}); }
