// Compares the distributions of initial weights (Init) as a model's default, with the same or another distribution for
// the output layer: trains five networks with three rules, three learning rates and two seeds each, and prints the
// validation error at the best rate. ALGOPERF_DATA names the data folder; networks whose data is missing are left out.
// An hour on two cores.
//   bench_initial_values [steps, default 300] [a part of the networks' names, default all]
#include <algoperf/algoperf.hpp>
#include <algoperf/backend/products/linear_algebra.hpp>
#include <algoperf/data/readers/gz_file.hpp>
#include <algoperf/nn/layers/batch_norm.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <algoperf/workloads/mnist.hpp>
#include <algoperf/workloads/shakespeare.hpp>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace ap = algoperf;

namespace {

constexpr std::size_t batch = 128;
std::uint64_t steps = 300;
std::string wanted;

constexpr struct {
  ap::Init hidden, output;
  const char* name;
} inits[] = {{ap::Init::he_normal, ap::Init::he_normal, "he_normal"},
             {ap::Init::he_normal, ap::Init::lecun_normal, "he, output lecun"},
             {ap::Init::he_normal, ap::Init::torch_uniform, "he, output torch"},
             {ap::Init::lecun_normal, ap::Init::lecun_normal, "lecun_normal"},
             {ap::Init::glorot_uniform, ap::Init::glorot_uniform, "glorot_uniform"},
             {ap::Init::torch_uniform, ap::Init::torch_uniform, "torch_uniform"}};

// Returns the mean validation metric of two seeds, or infinity if one of them diverges.
template <class Model, class Task, class Rule>
double trained(const Model& model, const Task& task, const Rule& rule, double rate) {
  double sum = 0;
  for (const std::uint64_t seed : {1u, 2u}) {
    ap::TrainingLoop loop(model, task.loss(), rule,
                          ap::WarmupCosine{.peak = rate, .warmup = steps / 20, .total = steps},
                          ap::ShuffledEpochs{.batch = batch, .seed = seed}, ap::Seed{seed}, ap::Host<>{.threads = 2});
    try {
      loop.run(task.train(), ap::UntilStep{steps});
    } catch (const ap::Diverged&) {
      return std::numeric_limits<double>::infinity();
    }
    sum += loop.evaluate(task.validation(), task.metric(), 1000).metric / 2;
  }
  return sum;
}

template <class MakeModel, class Task, class Rule>
void compare_with(const char* name, const char* rule_name, const MakeModel& model, const Task& task, const Rule& rule,
                  const double (&rates)[3]) {
  std::printf("%-16s %-9s", name, rule_name);
  for (const auto& each : inits) {
    double least = std::numeric_limits<double>::infinity(), best = 0;
    for (const double rate : rates)
      if (const double found = trained(model(each.output).with_init(each.hidden), task, rule, rate); found < least)
        least = found, best = rate;
    std::printf("  %8.4f (%g)", least, best);
    std::fflush(stdout);
  }
  std::puts("");
}

// `model` is a function of the output layer's Init.
template <class MakeModel, class Task>
void compare(const char* name, const MakeModel& model, const Task& task) {
  if (std::string(name).find(wanted) == std::string::npos) return;
  try {
    (void)task.train();
  } catch (const ap::Error& error) {
    return (void)std::printf("%-16s %s\n", name, error.what());
  }
  compare_with(name, "momentum", model, task, ap::momentum(), {0.01, 0.03, 0.1});
  compare_with(name, "adamw", model, task, ap::adamw(), {3e-4, 1e-3, 3e-3});
  const auto muon =
      ap::partition(ap::matrices, ap::muon({.scale = ap::OrthogonalScale::match_rms}), ap::otherwise, ap::adamw());
  compare_with(name, "muon", model, task, muon, {1e-3, 3e-3, 1e-2});
}

// CIFAR-10 in its binary form: 3073 bytes per image, the label and 32 x 32 pixels of each of three channels.
struct Cifar {
  ap::SoftmaxCrossEntropy loss() const { return {}; }
  ap::ErrorRate metric() const { return {}; }
  auto train() const { return images().subset(0, 17000); }
  auto validation() const { return images().subset(17000, 20000); }

  static const ap::InMemory<float>& images() {
    static const ap::InMemory<float> read = read_images();
    return read;
  }
  static ap::InMemory<float> read_images() {
    std::vector<float> inputs;
    std::vector<std::int32_t> labels;
    for (const char* const part : {"1", "2"}) {
      ap::GzFile file(ap::data_root() + "/cifar10/data_batch_" + part + ".bin.gz");
      unsigned char image[3073];
      while (file.read(image, sizeof image) == sizeof image) {
        labels.push_back(image[0]);
        for (std::size_t pixel = 0; pixel < 1024; ++pixel)
          for (std::size_t channel = 0; channel < 3; ++channel)
            inputs.push_back(static_cast<float>(image[1 + 1024 * channel + pixel]) / 128 - 1);
      }
    }
    return {std::move(inputs), std::move(labels), ap::Shape{32, 32, 3}, 10};
  }
};

}  // namespace

int main(int count, char** words) {
  if (count > 1) steps = std::strtoull(words[1], nullptr, 10);
  if (count > 2) wanted = words[2];
  std::printf("%llu steps of %zu examples; validation metric at the best of three rates (the rate)\n%-26s",
              static_cast<unsigned long long>(steps), batch, "");
  for (const auto& each : inits) std::printf("  %-16s", each.name);
  std::puts("");
  const ap::Dense hidden{.units = 128};
  const auto logits = [](ap::Init init, std::size_t units = 10) {
    return ap::Dense{.units = units, .init = init, .output_layer = true};
  };
  const ap::Shape digit{28, 28, 1};
  const auto mlp = [&](ap::Init output) {
    return ap::Model(digit, hidden, ap::Relu{}, hidden, ap::Relu{}, hidden, ap::Relu{}, logits(output));
  };
  compare("glyphs, MLP", mlp, ap::GlyphDigits{});
  compare("mnist, MLP", mlp, ap::Mnist{});
  const ap::Conv2d first{.filters = 8, .size = 5, .padding = 2}, second{.filters = 16, .size = 5, .padding = 2};
  const auto cnn = [&](ap::Init output) {
    return ap::Model(digit, first, ap::Relu{}, ap::MaxPool{}, second, ap::Relu{}, ap::MaxPool{}, ap::Flatten{}, hidden,
                     ap::Relu{}, logits(output));
  };
  compare("mnist, CNN", cnn, ap::Mnist{});
  const ap::Shakespeare plays;
  try {
    const std::size_t characters = plays.train().classes();
    const ap::Dense wide{.units = 128};
    const auto predictor = [&](ap::Init output) {
      return ap::Model(ap::Shape{16}, ap::Embedding{.vocabulary = characters, .width = 16}, ap::Flatten{}, wide,
                       ap::Relu{}, ap::Residual(ap::LayerNorm{}, wide, ap::Relu{}), logits(output, characters));
    };
    compare("shakespeare", predictor, plays);
  } catch (const ap::Error& error) {
    std::printf("shakespeare: %s\n", error.what());
  }
  const ap::Conv2d small{.filters = 16, .padding = 1}, middle{.filters = 32, .padding = 1};
  const auto normalised_cnn = [&](ap::Init output) {
    return ap::Model(ap::Shape{32, 32, 3}, small, ap::BatchNorm{}, ap::Relu{}, ap::MaxPool{}, middle, ap::BatchNorm{},
                     ap::Relu{}, ap::MaxPool{}, middle, ap::BatchNorm{}, ap::Relu{}, ap::MaxPool{}, ap::Flatten{},
                     hidden, ap::Relu{}, logits(output));
  };
  compare("cifar10, CNN", normalised_cnn, Cifar{});
}
