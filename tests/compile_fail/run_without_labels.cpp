// expect: algoperf: inputs without labels can be used for prediction only
#include <algoperf/algoperf.hpp>
namespace ap = algoperf;

void train(const ap::Unlabelled<float>& data) {
  ap::TrainingLoop loop(ap::linear_model(ap::Shape{4}, 2), ap::SoftmaxCrossEntropy{}, ap::sgd(), ap::Constant{0.1},
                        ap::ShuffledEpochs{.batch = 8});
  loop.run(data, ap::UntilStep{10});
}
