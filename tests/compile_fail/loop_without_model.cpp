// expect: algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the first must be a model
#include <algoperf/algoperf.hpp>

using namespace algoperf;

TrainingLoop loop(SoftmaxCrossEntropy{}, linear_model(Shape{4}, 2), sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
