// expect: algoperf: prefetched data needs a selector whose selections do not depend on losses or gradients
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1},
                    LossProportional{.batch = 2});
  loop.run(prefetched(data), UntilStep{3});
}
