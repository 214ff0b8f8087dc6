// expect: algoperf: an observer's reads_loss must be `bool reads_loss(const StepReport&)`
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Mistyped {
  bool reads_loss(std::uint64_t step) { return step % 10 == 0; }
};

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  loop.run(data, Mistyped{}, UntilStep{3});
}
