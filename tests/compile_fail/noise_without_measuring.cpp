// expect: algoperf: this selector's batch follows the noise of gradients, which a combiner measures
#include <algoperf/algoperf.hpp>
using namespace algoperf;

void train() {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1},
                    scheduled_batch(ShuffledEpochs{}, NoiseScaleBatch{}));
}
