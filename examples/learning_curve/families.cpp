#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/cifar10.hpp>
#include <algoperf/workloads/digit_strings.hpp>
#include <algoperf/workloads/mnist.hpp>
#include <algoperf/workloads/multi30k.hpp>
#include <algoperf/workloads/shakespeare_lm.hpp>
#include <algorithm>
#include <cmath>

#include "family.hpp"

namespace ap = algoperf;

namespace {

// The training of a family: at most 40 epochs, of at least 400 and at most `most_steps` steps.
struct Training {
  std::uint64_t batch = 64;
  double peak = 2e-3, weight_decay = 0.01;
  std::uint64_t most_steps = 3000;
  ap::AxisLengths lengths = {};  // mean rows per example of ragged axes, for the laws of requirements
};

// network(width) returns a model, shard(n) the first n training examples.
template <class Network, class Loss, class Metric, class Shard, class Validation>
Family make_family(const Network& network, const Loss& loss, const Metric& metric, const Shard& shard,
                   std::size_t examples, const Validation& validation, const Training& training) {
  Family family;
  family.examples = examples;
  family.batch = training.batch;
  family.train = [=](std::size_t size, std::size_t width, std::uint64_t seed) {
    const auto model = network(width);
    const std::size_t batch = std::min<std::size_t>(training.batch, size);
    const std::uint64_t epoch = (size + batch - 1) / batch;
    const std::uint64_t steps = std::clamp<std::uint64_t>(40 * epoch, 400, training.most_steps);
    ap::TrainingLoop loop(model, loss, ap::adamw({.weight_decay = training.weight_decay}),
                          ap::WarmupCosine{.peak = training.peak, .warmup = steps / 10, .total = steps},
                          ap::ShuffledEpochs{.batch = batch, .seed = seed}, ap::Seed{seed});
    std::vector<ap::EvaluationReport> evaluations;
    loop.run(shard(size), ap::Evaluate(validation, metric, {.every = steps / 8}), ap::History{evaluations},
             ap::UntilStep{steps});
    const auto cost = ap::mean_step_cost(model, shard(size), ap::ShuffledEpochs{.batch = batch}, 20,
                                         ap::StepOptions<Loss>{.loss = loss});
    Trial trial{.error = HUGE_VAL, .flops = cost.flops.value * static_cast<double>(steps)};
    for (const auto& evaluation : evaluations) trial.error = std::min(trial.error, evaluation.metric);
    return trial;
  };
  family.parameters = [=](std::size_t width) { return static_cast<double>(ap::parameters_of(network(width))); };
  family.requirements = [=](const std::vector<std::size_t>& widths) {
    std::vector<decltype(network(1))> models;
    for (const std::size_t width : widths) models.push_back(network(width));
    return ap::requirements_of(
        models, {training.batch / 4, training.batch}, training.batch,
        ap::StepOptions<Loss>{.loss = loss, .update = ap::update_cost(ap::adamw()), .lengths = training.lengths});
  };
  family.step_cost = [=](std::size_t width) {
    return ap::mean_step_cost(network(width), shard(examples), ap::ShuffledEpochs{.batch = training.batch}, 200,
                              ap::StepOptions<Loss>{.loss = loss, .update = ap::update_cost(ap::adamw())});
  };
  return family;
}

// Returns the standard error of a rate on so many validation examples; 0 for a word error rate above 1.
auto standard_error(std::size_t validation) {
  return
      [n = static_cast<double>(validation)](double error) { return std::sqrt(std::max(0.0, error * (1 - error)) / n); };
}
// The tolerance of a loss, whose standard error does not follow from its value.
double one_percent(double error) { return 0.01 * error; }

Family digits(const ap::Slice<ap::InMemory<float>>& train, const ap::Slice<ap::InMemory<float>>& validation) {
  const auto network = [](std::size_t width) { return ap::mlp(ap::Shape{28, 28, 1}, {width, width}, 10); };
  const auto shard = [train](std::size_t n) { return train.subset(0, n); };
  Family family = make_family(network, ap::SoftmaxCrossEntropy{}, ap::ErrorRate{}, shard, train.size(), validation, {});
  family.tolerance = standard_error(validation.size());
  return family;
}

Family glyphs(const FamilyOptions& options) {
  constexpr std::size_t validation = 10000;  // as many as in MNIST
  const auto all =
      ap::Glyphs{.seed = options.seed, .count = options.largest + validation, .label_noise = options.label_noise}
          .render();
  Family family = digits(all.subset(0, options.largest), all.subset(options.largest, all.size()));
  family.largest = options.largest;
  return family;
}
Family mnist(const FamilyOptions&) {
  const ap::Mnist task;
  return digits(task.train(), task.validation());
}

// Transformers on Shakespeare's plays; an example is a sequence of 64 characters.
Family lm(const FamilyOptions&) {
  const ap::ShakespeareLm task;
  const auto network = [vocabulary = task.train().whole().text().classes()](std::size_t width) {
    return ap::RotaryTransformer{.vocabulary = vocabulary, .context = ap::ShakespeareLm::context, .width = width};
  };
  const auto shard = [train = task.train()](std::size_t n) { return train.subset(0, n); };
  Family family = make_family(network, task.loss(), ap::CrossEntropy{}, shard, task.train().size(),
                              task.validation().subset(0, 400), {.batch = 32, .peak = 1e-2, .weight_decay = 0.1});
  family.error = "validation loss, nats per character";
  family.smallest = 16, family.largest = 8192;
  family.widths = {8, 16, 32, 64};
  family.tolerance = one_percent;
  return family;
}

// Transformers that translate captions; an example is a pair of sentences.
Family translation(const FamilyOptions&) {
  const ap::Multi30k task;
  const auto network = [vocabulary = task.subwords().size()](std::size_t width) {
    return ap::EncoderDecoder<>{.vocabulary = vocabulary, .width = width, .hidden = width};
  };
  const auto shard = [train = task.train()](std::size_t n) { return train.subset(0, n); };
  Family family =
      make_family(network, ap::SoftmaxCrossEntropy{}, ap::CrossEntropy{}, shard, task.train().size(),
                  task.validation().subset(0, 500),
                  {.batch = 64, .peak = 1e-2, .weight_decay = 0.02, .lengths = {{"source", 17}, {"target", 16}}});
  family.error = "validation loss, nats per subword";
  family.smallest = 32, family.largest = 16384;
  family.widths = {8, 16, 32, 64};
  family.tolerance = one_percent;
  return family;
}

// Conformers on strings of spoken digits.
Family speech(const FamilyOptions& options) {
  const ap::DigitStringsConformer task{.strings = std::min<std::size_t>(options.largest, 8192)};
  const auto network = [](std::size_t width) { return ap::Conformer<>{.width = width}; };
  const auto shard = [train = task.train().untransformed()](std::size_t n) { return train.subset(0, n); };
  Family family = make_family(network, task.loss(), task.metric(), shard, task.strings, task.validation(),
                              {.batch = 32,
                               .peak = 1e-2,
                               .weight_decay = 0.02,
                               .most_steps = 2000,
                               .lengths = {{"frames", 33}, {"symbols", 3}}});
  family.error = "validation word error rate";
  family.smallest = 16, family.largest = 8192;
  family.widths = {8, 16, 32};
  family.tolerance = standard_error(1200);  // 400 strings of three digits on average
  return family;
}

// ResNet-8 on CIFAR-10, with crops and flips.
Family images(const FamilyOptions&) {
  const ap::Cifar10 task;
  const auto network = [](std::size_t width) { return ap::SmallResNet<>{.filters = width}; };
  const auto shard = [train = task.train().untransformed()](std::size_t n) {
    return ap::transformed(train.subset(0, n), ap::RandomCrop{.padding = 4}, ap::RandomFlip{});
  };
  Family family = make_family(network, task.loss(), task.metric(), shard, task.train().size(), task.validation(),
                              {.batch = 64, .peak = 1e-2, .weight_decay = 0.05, .most_steps = 2000});
  family.smallest = 32, family.largest = 16384;
  family.widths = {4, 8, 16};
  family.tolerance = standard_error(task.validation().size());
  return family;
}

struct Entry {
  const char* name;
  Family (*make)(const FamilyOptions&);
};
constexpr Entry entries[] = {{"glyphs", glyphs},           {"mnist", mnist},   {"lm", lm},
                             {"translation", translation}, {"speech", speech}, {"images", images}};

}  // namespace

const std::vector<std::string>& family_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Entry& entry : entries) all.push_back(entry.name);
    return all;
  }();
  return names;
}

Family family_of(const std::string& name, const FamilyOptions& options) {
  for (const Entry& entry : entries)
    if (name == entry.name) return entry.make(options);
  ap::fail("--workload is '", name, "', expected one of glyphs, mnist, lm, translation, speech, images");
}
