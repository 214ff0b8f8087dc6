// The tasks of the benchmarks of whole models: a model, its loss, its batch size and random data.
#pragma once

#include <algoperf/algoperf.hpp>
#include <algoperf/data/graph_fields.hpp>
#include <algoperf/data/masked_tokens.hpp>
#include <algoperf/data/readers/hashed_columns.hpp>
#include <algoperf/data/speech_fields.hpp>
#include <algoperf/workloads/cifar10_networks.hpp>
#include <algoperf/workloads/speech_networks.hpp>
#include <algoperf/workloads/translation_networks.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cnn_tasks.hpp"

namespace bench {

// Language models of 64 tokens per example: four blocks of width 128, the model of ShakespeareLm, and 128 LSTM units.
constexpr algoperf::Gpt transformer{.vocabulary = 256, .context = 64, .width = 128, .layers = 4, .heads = 4};
constexpr algoperf::RotaryTransformer language_model{.vocabulary = 65};
constexpr algoperf::LstmLanguageModel recurrent_model{.vocabulary = 65};
// The models of ShakespeareBert and ShakespeareSibert.
constexpr algoperf::Bert masked_model{.vocabulary = 66, .context = 32, .chosen = 5};
constexpr algoperf::ScaleInvariantTransformer scale_invariant_model{.vocabulary = 66, .context = 32, .chosen = 5};
// The model of Nci1.
constexpr algoperf::GraphNetwork<> graph_network{.node_features = 38};

template <class ModelType>
algoperf::TextSequences random_text(const ModelType& model) {
  algoperf::RandomStream random(algoperf::RandomKey{7});
  const auto vocabulary = static_cast<std::uint32_t>(model.vocabulary);
  std::string text(1024 * model.context + 1, ' ');
  for (std::size_t i = 0; i < text.size(); ++i)  // the first characters make the vocabulary whole
    text[i] = static_cast<char>(i < vocabulary ? i : random.below(vocabulary));
  return algoperf::TextSequences(algoperf::Text::from_string(text), {.length = model.context});
}

inline algoperf::MaskedTokens random_masked_text() {
  algoperf::RandomStream random(algoperf::RandomKey{7});
  std::vector<std::int32_t> tokens(1024 * masked_model.context);
  for (std::int32_t& token : tokens)
    token = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(masked_model.vocabulary - 1)));
  return {tokens, {.vocabulary = 65, .length = masked_model.context, .chosen = masked_model.chosen}};
}

inline algoperf::NumbersAndCategories random_clicks(const algoperf::Dlrm& model) {
  constexpr std::size_t rows = 8192;
  algoperf::RandomStream random(algoperf::RandomKey{7});
  std::vector<float> numbers(rows * model.numbers);
  std::vector<std::int32_t> categories(rows * model.categories), labels(rows);
  for (float& x : numbers) x = random.uniform();
  for (std::int32_t& c : categories)
    c = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(model.vocabulary)));
  for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random.below(2));
  return algoperf::NumbersAndCategories({std::move(numbers), {model.numbers}},
                                        {std::move(categories), {model.categories}}, {std::move(labels), {1}});
}

// Graphs of 20 to 40 nodes with 2 to 3 neighbours each.
inline algoperf::GraphFields random_graphs(std::size_t node_features) {
  algoperf::RandomStream random(algoperf::RandomKey{7});
  algoperf::Graphs graphs;
  graphs.first_node.push_back(0);
  graphs.first_neighbour.push_back(0);
  graphs.tag_values.resize(node_features - 1);
  graphs.label_values = {0, 1};
  for (int g = 0; g < 4096; ++g) {
    const std::uint32_t nodes = 20 + random.below(21);
    for (std::uint32_t v = 0; v < nodes; ++v) {
      graphs.tags.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(node_features - 1))));
      for (std::uint32_t i = 0; i < 2 + v % 6 / 5; ++i) graphs.neighbours.push_back(random.below(nodes));
      graphs.first_neighbour.push_back(graphs.neighbours.size());
    }
    graphs.first_node.push_back(graphs.tags.size());
    graphs.labels.push_back(static_cast<std::int32_t>(random.below(2)));
  }
  return algoperf::graph_fields(graphs);
}

// Images and images to restore, for a U-Net.
inline algoperf::InMemoryRegression<float> random_restorations(const algoperf::UNet<>& model) {
  algoperf::RandomStream random(algoperf::RandomKey{7});
  std::vector<float> pixels(1024 * model.in.size()), labels(pixels.size());
  for (float& x : pixels) x = random.uniform();
  for (float& x : labels) x = random.uniform();
  return {std::move(pixels), std::move(labels), model.in, model.in};
}

// Recordings of 33 windows, with three symbols each.
template <class Recogniser>
algoperf::SpeechFields random_speech(const Recogniser& model) {
  constexpr std::size_t count = 256, windows = 33, symbols = 3;
  algoperf::RandomStream random(algoperf::RandomKey{7});
  std::vector<float> spectrograms(count * windows * 7 * model.bands);
  std::vector<std::int32_t> labels(count * symbols);
  for (float& x : spectrograms) x = random.uniform();
  for (std::int32_t& label : labels)
    label = 1 + static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(model.symbols - 1)));
  const auto each = [](std::uint32_t rows) { return std::vector<std::uint32_t>(count, rows); };
  return algoperf::SpeechFields({{"frames", each(windows)}, {"symbols", each(symbols)}},
                                {std::move(spectrograms), {7, model.bands, 1}, "frames"},
                                {std::move(labels), {1}, "symbols"}, {std::vector<float>(count, symbols), {1}});
}

// Pairs of a sentence of 15 tokens and its translation into 14.
inline auto random_pairs(const algoperf::EncoderDecoder<>& model) {
  using namespace algoperf;
  constexpr std::size_t count = 1024, source = 15, target = 14;
  RandomStream random(RandomKey{8});
  const auto tokens = [&](std::size_t rows) {
    std::vector<std::int32_t> values(count * rows);
    for (std::int32_t& token : values)
      token = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(model.vocabulary)));
    return values;
  };
  const auto each = [](std::uint32_t rows) { return std::vector<std::uint32_t>(count, rows); };
  return InMemoryFields<Field<"source", std::int32_t>, Field<"input", std::int32_t>, Field<"label", std::int32_t>>(
      {{"source", each(source)}, {"target", each(target)}}, {tokens(source), {1}, "source"},
      {tokens(target), {1}, "target"}, {tokens(target), {1}, "target"});
}

// Calls f(name, batch, model, loss, data) for each task. data() makes the data. Models have the dropout, the smoothed
// labels and the batch norms over 64 examples of their workloads, if these have them. Augmentation and sequences of
// different lengths are left out.
template <class F>
void for_each_model_task(const F& f) {
  using namespace algoperf;
  const auto of_images = [&](const char* name, const auto& model, const SoftmaxCrossEntropy& loss) {
    f(name, 128, model, loss, [&] { return random_images(1024, image_shape(model)); });
  };
  constexpr SoftmaxCrossEntropy smoothed{.label_smoothing = 0.1};
  of_images("simple_cnn", simple_cnn_model(), SoftmaxCrossEntropy{});
  of_images("residual_cnn", residual_cnn_model(), SoftmaxCrossEntropy{});
  of_images("resnet8", ResNet8::model(), smoothed);
  of_images("vgg11", TinyVgg::model(), smoothed);
  of_images("vgg11_batch_norm", TinyVggBatchNorm::model(), smoothed);
  of_images("vit", TinyVit::model(), smoothed);
  f("unet", 32, UNet<>{}, MeanAbsoluteError{}, [] { return random_restorations(UNet<>{}); });
  f("deep_speech", 32, DigitDeepSpeech::model(), CtcLoss{.max_labels = 5},
    [] { return random_speech(DigitDeepSpeech::model()); });
  f("conformer", 32, DigitConformer::model(), CtcLoss{.max_labels = 5},
    [] { return random_speech(DigitConformer::model()); });
  f("translation", 64, Translator::model(2000), smoothed, [] { return random_pairs(Translator::model(2000)); });
  f("dlrm", 128, Dlrm{}, SigmoidCrossEntropy{}, [] { return random_clicks(Dlrm{}); });
  f("gnn", 128, graph_network, SigmoidCrossEntropy{}, [] { return random_graphs(graph_network.node_features); });
  f("transformer", 16, transformer, SoftmaxCrossEntropy{}, [] { return random_text(transformer); });
  f("lm", 32, language_model, SoftmaxCrossEntropy{}, [] { return random_text(language_model); });
  f("bert", 64, masked_model, SoftmaxCrossEntropy{}, random_masked_text);
  f("sibert", 64, scale_invariant_model, SoftmaxCrossEntropy{}, random_masked_text);
  f("lstm", 32, recurrent_model, SoftmaxCrossEntropy{}, [] { return random_text(recurrent_model); });
}

}  // namespace bench
