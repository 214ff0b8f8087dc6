// expect: algoperf: after its five roles, a TrainingLoop accepts a combiner, a worker group, a backend or a Seed
#include <algoperf/algoperf.hpp>

using namespace algoperf;

TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8},
                  UntilStep{3});
