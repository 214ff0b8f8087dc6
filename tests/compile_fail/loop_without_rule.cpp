// expect: algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the third must be a chain(...)
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void train() {
  TrainingLoop loop(mlp(Shape{4}, {4}, 2), SoftmaxCrossEntropy{}, Constant{0.1}, ShuffledEpochs{.batch = 2});
}
