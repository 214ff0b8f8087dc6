// expect: algoperf: a data set needs classes(), the number of its classes
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Mine {
  using Input = float;
  std::size_t size() const { return 5; }
  Shape shape() const { return {4}; }
  template <class T>
  void gather(const std::uint32_t*, std::size_t, T*, std::int32_t*) const {}
};

void train() {
  TrainingLoop loop(mlp(Shape{4}, {4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 2});
  loop.evaluate(Mine{}, ErrorRate{});
}
