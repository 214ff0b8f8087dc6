// Saves the best parameters during training, loads them into a Predictor, which needs only the model, and predicts.
#include <algoperf/algoperf.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
namespace ap = algoperf;

// Used for both training and prediction.
constexpr ap::Model network = ap::mlp(ap::Shape{28, 28, 1}, {64}, 10);

int main() {
  const ap::InMemory<float> digits = ap::Glyphs{.seed = 1, .count = 6000}.render();
  const auto train = digits.subset(0, 5000), test = digits.subset(5000, 6000);
  const std::string file = (std::filesystem::temp_directory_path() / "algoperf_predict_example.checkpoint").string();

  ap::TrainingLoop loop(network, ap::SoftmaxCrossEntropy{}, ap::adamw(), ap::Constant{2e-3},
                        ap::ShuffledEpochs{.batch = 64, .seed = 1});
  loop.run(train, ap::Evaluate(test, ap::ErrorRate{}, {.every = 100, .batch = 1000}), ap::BestCheckpoint{file},
           ap::UntilStep{400});

  ap::Predictor predictor(network);                           // needs no loss, rule, gradient or schedule
  ap::load_evaluation_values(file, predictor);                // averaged, if the rule averages parameters
  const std::vector<float> logits = predictor.predict(test);  // one row of ten per example
  const std::span<float> bias = predictor.values("2.bias");   // one tensor, in the backend's memory

  std::size_t right = 0;
  for (std::uint32_t i = 0; i < test.size(); ++i) {
    const auto row = logits.begin() + 10 * static_cast<std::ptrdiff_t>(i);
    right += std::max_element(row, row + 10) - row == digits.labels()[5000 + i];
  }
  std::printf("%zu of %zu digits classified correctly; the first bias is %g\n", right, test.size(),
              static_cast<double>(bias[0]));
  std::filesystem::remove(file);
  return right > 700 ? 0 : 1;
}
