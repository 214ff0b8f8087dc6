// expect: algoperf: a metric with a State needs add(state, rows) const, for EvaluatedRows<S, Label> of the labels
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void evaluate(const InMemoryRegression<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 1), MeanSquaredError{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 2});
  loop.evaluate(data, AreaUnderRoc{});
}
