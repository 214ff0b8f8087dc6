// The workloads on synthetic data: splits, targets at known optima, and a step of training.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/all.hpp>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/data_path.hpp"
#include "../support/near.hpp"
#include "../support/values_of.hpp"

namespace algoperf::testing::of_synthetic_workloads {

static_assert(Workload<MarkovLm> && Workload<SyntheticClicks> && Workload<MotifGraphSearch> &&
              Workload<TouchToneStrings> && Workload<TouchToneStringsConformer> && Workload<ReversedTranslation>);
static_assert(Workload<GlyphDigitsResNet> && Workload<GlyphDigitsVit> && Workload<ShakespeareBert> &&
              Workload<ShakespeareSibert>);
static_assert(parameters_of(DigitResNet8::model()) == 77754);
static_assert(parameters_of(DigitVit::model()) == 105994);

// Trains for a few steps, after which the metric of some validation examples is a number.
template <class Task, class Validation>
void check_trains(const Task& task, const Validation& validation, std::size_t batch) {
  CAPTURE(task.name);
  TrainingLoop loop(task.model(), task.loss(), adamw(), Constant{1e-3}, ShuffledEpochs{.batch = batch});
  loop.run(task.train(), UntilStep{3});
  CHECK(std::isfinite(loop.evaluate(validation, task.metric()).metric));
}

TEST_CASE("markov_lm: the target is a perplexity above the least expected one") {
  const MarkovLm task;
  CHECK(task.target().value == near(1.03 * std::exp(MarkovText().best_loss(32)), 1e-12));
  CHECK(task.target().lower_is_better);
  CHECK(task.train().size() == 12000);
  CHECK(task.validation().size() == 1000);
  CHECK(task.test().size() == 1000);
  CHECK(task.train().whole().text().classes() == 16);
  check_trains(task, task.validation().subset(0, 50), 8);
}

TEST_CASE("synthetic_clicks: the target is above the entropy of the validation labels") {
  const SyntheticClicks task;
  CHECK(task.target().value - task.excess > 0.3);
  CHECK(task.target().value - task.excess == near(Clicks{.first = 200000, .count = 10000}.best_loss(), 1e-12));
  CHECK(task.train().size() == 200000);
  CHECK(task.test().size() == 10000);
  check_trains(task, task.validation().subset(0, 200), 32);
}

TEST_CASE("glyphs: the labels of ResNet-8 and of the Vision Transformer are smoothed") {
  CHECK(GlyphDigitsResNet{}.loss().label_smoothing == 0.1);
  CHECK(GlyphDigitsVit{}.loss().label_smoothing == 0.1);
  CHECK(GlyphDigits{}.loss().label_smoothing == 0);
}

// Where a graph of several tasks is written. Only the weights are looked at.
struct GraphRow {
  std::vector<float>& weights;
  std::vector<float>& numbers;
  std::vector<std::int32_t>& tokens;
  template <FieldName name>
  auto* at() const {
    constexpr std::string_view field = name;
    if constexpr (field == "weight")
      return weights.data();
    else if constexpr (field == "nodes" || field == "edges")
      return numbers.data();
    else
      return tokens.data();
  }
};

TEST_CASE("motif graphs, touch tones and reversed translation: splits, targets and variants") {
  const MotifGraphSearch graphs;
  CHECK(graphs.train().size() == 4000);
  CHECK(graphs.test().size() == 500);
  CHECK(!graphs.target().lower_is_better);
  check_trains(graphs, graphs.validation(), 16);

  std::vector<float> weights(motif_tasks), numbers(1000);
  std::vector<std::int32_t> tokens(1000);
  std::size_t missing = 0;
  for (std::uint32_t i = 0; i < 4000; ++i) {
    graphs.train().gather(&i, 1, GraphRow{weights, numbers, tokens});
    for (const float weight : weights) missing += weight == 0;
  }
  CHECK((missing > 3800 && missing < 4200));  // a quarter of 16,000 labels

  // The classes of missing labels change no bit of the loss and of the parameters after a step.
  const Graphs drawn = MotifGraphs{.count = 40}.draw();
  std::vector<std::int32_t> labels = motif_labels(drawn);
  std::vector<float> known(labels.size());
  for (std::size_t i = 0; i < known.size(); ++i) known[i] = i % 3 == 1 ? 0 : 1;
  const auto outcome = [&] {
    TrainingLoop loop(graphs.model(), graphs.loss(), sgd(), Constant{0.1}, ShuffledEpochs{.batch = 40});
    const auto loss = loop.step(graph_task_fields(drawn, labels, known)).loss;
    return std::pair(*loss, values_of(loop));
  };
  const auto before = outcome();
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (known[i] == 0) labels[i] = 1 - labels[i];
  CHECK(outcome() == before);
  labels[0] = 1 - labels[0];
  CHECK(outcome() != before);

  const ReversedTranslation pairs;
  CHECK(pairs.train().size() == 20000);
  CHECK(pairs.test().size() == 300);
  CHECK(!pairs.target().lower_is_better);
  check_trains(pairs, pairs.validation(), 16);

  std::set<std::string> names;
  TouchToneStrings{}.each_variant([&](const auto& variant) { names.insert(variant.name); });
  pairs.each_variant([&](const auto& variant) { names.insert(variant.name); });
  CHECK(names == std::set<std::string>{"reversed_translation_transformer_attention_temp",
                                       "reversed_translation_transformer_glu_tanh",
                                       "reversed_translation_transformer_post_ln", "touch_tones_deep_speech_no_resnet",
                                       "touch_tones_deep_speech_norm_and_spec_aug", "touch_tones_deep_speech_tanh"});
}

TEST_CASE("touch tones: recognisers train") {
  const TouchToneStrings task;
  CHECK(task.train().size() == 3000);
  CHECK(task.validation().size() == 400);
  CHECK(task.target().lower_is_better);
  check_trains(task, task.test(), 8);
}

TEST_CASE("masked language models of Shakespeare: splits of the real text") {
  const std::string folder = data_path("shakespeare/input.txt");
  if (folder.empty()) return;
  const ShakespeareBert task{.data = folder.substr(0, folder.size() - std::string("/shakespeare/input.txt").size())};
  const std::size_t all = task.train().size() + task.validation().size() + task.test().size();
  CHECK(all == 1115394 / 32);
  CHECK(task.train().classes() == 66);
  CHECK(task.model().vocabulary == 66);
  CHECK(task.target().lower_is_better);
  check_trains(task, task.validation().subset(0, 50), 8);
  check_trains(ShakespeareSibert{.data = task.data}, task.validation().subset(0, 50), 8);
}

}  // namespace algoperf::testing::of_synthetic_workloads
