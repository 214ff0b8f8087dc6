// expect: algoperf: a data set of fields needs gather(const std::uint32_t* indices, std::size_t n, const To& to) const
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Words {
  using Fields = FieldList<Field<"input", float>, Field<"label", std::int32_t>>;
  std::size_t size() const { return 4; }
  Shape shape(std::string_view) const { return {4}; }
};

void train(const Words& data) {
  TrainingLoop loop(mlp(Shape{4}, {4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 2});
  loop.run(data, UntilStep{3});
}
