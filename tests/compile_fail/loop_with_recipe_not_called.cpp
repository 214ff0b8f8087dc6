// expect: algoperf: a recipe must be called: write adamw(), not adamw
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void train() {
  TrainingLoop loop(mlp(Shape{4}, {4}, 2), SoftmaxCrossEntropy{}, adamw, Constant{0.1}, ShuffledEpochs{.batch = 2});
}
