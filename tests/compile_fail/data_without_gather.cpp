// expect: algoperf: a data set needs gather(const std::uint32_t* indices, std::size_t n, T* inputs, L* labels) const
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Mine {
  using Input = float;
  std::size_t size() const { return 5; }
  Shape shape() const { return {4}; }
  std::size_t classes() const { return 2; }
};

void train() {
  TrainingLoop loop(mlp(Shape{4}, {4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 2});
  loop.step(Mine{});
}
