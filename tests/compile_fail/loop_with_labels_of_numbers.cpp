// expect: algoperf: the loss does not fit the labels of the data
#include <algoperf/algoperf.hpp>
namespace ap = algoperf;

void train(const ap::InMemoryRegression<float>& data) {
  ap::TrainingLoop loop(ap::linear_model(ap::Shape{4}, 2), ap::SoftmaxCrossEntropy{}, ap::sgd(), ap::Constant{0.1},
                        ap::ShuffledEpochs{.batch = 8});
  loop.run(data, ap::UntilStep{10});
}
