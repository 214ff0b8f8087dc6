// expect: algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the fifth must be a data selector
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void train() { TrainingLoop loop(mlp(Shape{4}, {4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}); }
