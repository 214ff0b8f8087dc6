// expect: algoperf: a TrainingLoop accepts at most one worker group, but several were passed
#include <algoperf/algoperf.hpp>

using namespace algoperf;

TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8},
                  Mean{}, InProcess{2}, InProcess{3});
