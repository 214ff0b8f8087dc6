// expect: algoperf: this selector chooses its batch by the spread of gradients
#include <algoperf/algoperf.hpp>
using namespace algoperf;

void train() {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1},
                    scheduled_batch(ShuffledEpochs{}, InnerProductBatch{}), MeasuredMean{}, InProcess{.workers = 2});
}
