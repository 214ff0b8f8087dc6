// After training: keep the parameters, load them into another loop, predict.
#include <algoperf/algoperf.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
namespace ap = algoperf;

// The network: in training with this rule, in use with any.
template <class Rule>
auto make_loop(const Rule& rule) {
  return ap::TrainingLoop(ap::mlp(ap::Shape{28, 28, 1}, {64}, 10), ap::SoftmaxCrossEntropy{}, rule, ap::Constant{2e-3},
                          ap::ShuffledEpochs{.batch = 64, .seed = 1});
}

int main() {
  const ap::InMemory<float> digits = ap::Glyphs{.seed = 1, .count = 6000}.render();
  const auto train = digits.subset(0, 5000), test = digits.subset(5000, 6000);
  const std::string file = (std::filesystem::temp_directory_path() / "algoperf_predict_example.checkpoint").string();

  // [readme
  auto training = make_loop(ap::adamw());
  training.run(train, ap::Evaluate(test, ap::ErrorRate{}, {.every = 100, .batch = 1000}), ap::UntilStep{400});
  ap::save_checkpoint(file, training);

  auto user = make_loop(ap::sgd());
  ap::load_values(file, user);                           // the parameters alone: the rule may be another
  const std::vector<float> logits = user.predict(test);  // a row of ten for each example
  const std::span<float> bias = user.values("2.bias");   // one tensor, in the backend's memory
  // readme]

  std::size_t right = 0;
  for (std::uint32_t i = 0; i < test.size(); ++i) {
    const auto row = logits.begin() + 10 * static_cast<std::ptrdiff_t>(i);
    right += std::max_element(row, row + 10) - row == digits.labels()[5000 + i];
  }
  std::printf("%zu of %zu digits read rightly; the first bias is %g\n", right, test.size(),
              static_cast<double>(bias[0]));
  std::filesystem::remove(file);
  return right > 700 ? 0 : 1;
}
