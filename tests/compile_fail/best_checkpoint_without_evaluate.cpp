// expect: algoperf: BestCheckpoint needs evaluations
#include <algoperf/algoperf.hpp>
namespace ap = algoperf;

void train(const ap::InMemory<float>& data) {
  ap::TrainingLoop loop(ap::linear_model(ap::Shape{4}, 2), ap::SoftmaxCrossEntropy{}, ap::sgd(), ap::Constant{0.1},
                        ap::ShuffledEpochs{.batch = 8});
  loop.run(data, ap::BestCheckpoint("best"), ap::UntilStep{10});
}
