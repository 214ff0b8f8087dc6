// expect: algoperf: an observer's visit must be `template <class Archive> void visit(Archive&)`
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Mistyped {
  void visit() {}
};

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  loop.run(data, Mistyped{}, UntilStep{3});
}
