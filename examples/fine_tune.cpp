// Fine-tunes a network whose convolutions PyTorch trained on MNIST (fine_tune/make_body.py). Loads them from a
// safetensors file, adds a new head, and trains on 200 rendered digits (Glyphs). Compares the test error of fine-tuning
// with that of training from scratch and that of training only the head.
//   fine_tune fine_tune/body.safetensors
#include <algoperf/algoperf.hpp>
#include <algoperf/formats/from_torch.hpp>
#include <algoperf/formats/safetensors.hpp>
#include <cstdio>
namespace ap = algoperf;

// The layers have the same indices as in PyTorch's nn.Sequential, so the names of the tensors agree.
constexpr ap::Model network(ap::Shape{28, 28, 1}, ap::Conv2d{.filters = 8, .size = 5, .padding = 2}, ap::Relu{},
                            ap::MaxPool{}, ap::Conv2d{.filters = 16, .size = 5, .padding = 2}, ap::Relu{},
                            ap::MaxPool{}, ap::Flatten{}, ap::Dense{.units = 10, .output_layer = true});

constexpr auto is_body = [](const ap::TensorSpec& tensor) { return !tensor.output; };

// Trains for 300 steps and returns the test error. `body` holds the initial convolutions; null: train from scratch.
template <class ModelType, class Rule>
double error_of(const ModelType& model, const Rule& rule, const ap::StateDict* body) {
  static const ap::InMemory<float> train = ap::Glyphs{.seed = 1, .count = 200}.render(),
                                   test = ap::Glyphs{.seed = 2, .count = 2000}.render();
  ap::TrainingLoop loop(model, ap::SoftmaxCrossEntropy{}, rule, ap::Constant{3e-3}, ap::ShuffledEpochs{.batch = 50});
  if (body != nullptr) ap::load_values(*body, loop, is_body);
  loop.run(train, ap::UntilStep{300});
  return loop.evaluate(test, ap::ErrorRate{}).metric;
}

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: fine_tune body.safetensors\n");
    return 2;
  }
  try {
    const ap::StateDict body = ap::from_torch(ap::load_safetensors(words[1]));
    // The body learns at a tenth of the head's rate.
    const auto slow_body =
        ap::chain(ap::Adam{}, ap::DecayedWeights{.rate = 0.01}, ap::masked(ap::ScaleBy{0.1}, is_body), ap::Descend{});
    const double scratch = error_of(network, ap::adamw(), nullptr), tuned = error_of(network, slow_body, &body),
                 head = error_of(ap::stop_gradient<6>(network), ap::adamw(), &body);
    std::printf(
        "test error after 300 steps with 200 images\n  from scratch       %.3f\n  head alone         %.3f\n"
        "  head and body      %.3f\n",
        scratch, head, tuned);
    if (tuned < scratch) return 0;
    std::fprintf(stderr, "fine_tune: training from scratch gave fewer errors\n");
    return 1;
  } catch (const ap::Error& error) {
    std::fprintf(stderr, "fine_tune: %s\n", error.what());
    return 1;
  }
}
