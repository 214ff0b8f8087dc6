// The library's side of the peer benchmarks: its training step and its AdamW step. All peers use these `sizes` and
// `batches`.
#pragma once

#include <algoperf/data/graph_fields.hpp>
#include <algoperf/data/readers/hashed_columns.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../cnn_tasks.hpp"
#include "../mlp_task.hpp"
#include "../rule_bench.hpp"

namespace bench {

constexpr std::size_t sizes[] = {1 << 14, 1 << 18, 10'000'000};
constexpr std::size_t batches[] = {32, 128, 512};
constexpr std::size_t examples = 8192;
constexpr double rate = 1e-4;

class LibraryTraining {
 public:
  explicit LibraryTraining(std::size_t batch) : data_(random_examples(examples)), loop_(training_loop(batch)) {
    loop_.start(data_);
  }
  void operator()() { loop_.step(data_); }

 private:
  algoperf::InMemory<float> data_;
  decltype(training_loop(1)) loop_;
};

// A training step of one of the models in cnn_tasks.hpp.
template <class ModelType>
class LibraryCnn {
 public:
  LibraryCnn(const ModelType& model, std::size_t batch, unsigned threads)
      : data_(random_images(images, image_shape(model))), loop_(cnn_loop(model, batch, threads)) {
    loop_.start(data_);
  }
  void operator()() { loop_.step(data_); }

 private:
  static constexpr std::size_t images = 1024;
  algoperf::InMemory<float> data_;
  decltype(cnn_loop(std::declval<ModelType>(), 1)) loop_;
};

// A training step of a language model on random text.
template <class ModelType>
class LibraryTransformer {
 public:
  LibraryTransformer(const ModelType& model, std::size_t batch, unsigned threads)
      : data_(sequences(model)),
        loop_(model, algoperf::SoftmaxCrossEntropy{}, algoperf::adamw(), algoperf::Constant{1e-3},
              algoperf::ShuffledEpochs{.batch = batch}, algoperf::Host<float>{.threads = threads}) {
    loop_.start(data_);
  }
  void operator()() { loop_.step(data_); }

 private:
  static algoperf::TextSequences sequences(const ModelType& model) {
    algoperf::RandomStream random(algoperf::RandomKey{7});
    const auto vocabulary = static_cast<std::uint32_t>(model.vocabulary);
    std::string text(1024 * model.context + 1, ' ');
    for (std::size_t i = 0; i < text.size(); ++i)  // the first characters make the vocabulary whole
      text[i] = static_cast<char>(i < vocabulary ? i : random.below(vocabulary));
    return algoperf::TextSequences(algoperf::Text::from_string(text), {.length = model.context});
  }

  algoperf::TextSequences data_;
  algoperf::TrainingLoop<ModelType, algoperf::SoftmaxCrossEntropy, decltype(algoperf::adamw()), algoperf::Constant,
                         algoperf::ShuffledEpochs>
      loop_;
};

// Four blocks of width 128, on 64 tokens per example; and the model of ShakespeareLm.
constexpr algoperf::Gpt transformer{.vocabulary = 256, .context = 64, .width = 128, .layers = 4, .heads = 4};
constexpr algoperf::RotaryTransformer language_model{.vocabulary = 65};

// A training step of the model of Adult on random rows.
class LibraryDlrm {
 public:
  LibraryDlrm(std::size_t batch, unsigned threads)
      : data_(rows()),
        loop_(algoperf::Dlrm{}, algoperf::SigmoidCrossEntropy{}, algoperf::adamw(), algoperf::Constant{1e-3},
              algoperf::ShuffledEpochs{.batch = batch}, algoperf::Host<float>{.threads = threads}) {
    loop_.start(data_);
  }
  void operator()() { loop_.step(data_); }

 private:
  static algoperf::NumbersAndCategories rows() {
    constexpr algoperf::Dlrm model;
    algoperf::RandomStream random(algoperf::RandomKey{7});
    std::vector<float> numbers(examples * model.numbers);
    std::vector<std::int32_t> categories(examples * model.categories), labels(examples);
    for (float& x : numbers) x = random.uniform();
    for (std::int32_t& c : categories)
      c = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(model.vocabulary)));
    for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random.below(2));
    return algoperf::NumbersAndCategories({std::move(numbers), {model.numbers}},
                                          {std::move(categories), {model.categories}}, {std::move(labels), {1}});
  }

  algoperf::NumbersAndCategories data_;
  algoperf::TrainingLoop<algoperf::Dlrm, algoperf::SigmoidCrossEntropy, decltype(algoperf::adamw()), algoperf::Constant,
                         algoperf::ShuffledEpochs>
      loop_;
};

// A training step of the model of Nci1, on random graphs of 20 to 40 nodes with 2 to 3 neighbours each.
class LibraryGraphNetwork {
 public:
  LibraryGraphNetwork(std::size_t batch, unsigned threads)
      : data_(algoperf::graph_fields(random_graphs())),
        loop_(model, algoperf::SigmoidCrossEntropy{}, algoperf::adamw(), algoperf::Constant{1e-3},
              algoperf::ShuffledEpochs{.batch = batch}, algoperf::Host<float>{.threads = threads}) {
    loop_.start(data_);
  }
  void operator()() { loop_.step(data_); }

 private:
  static constexpr algoperf::GraphNetwork<> model{.node_features = 38};
  static algoperf::Graphs random_graphs() {
    algoperf::RandomStream random(algoperf::RandomKey{7});
    algoperf::Graphs graphs;
    graphs.first_node.push_back(0);
    graphs.first_neighbour.push_back(0);
    graphs.tag_values.resize(model.node_features - 1);
    for (int g = 0; g < 4096; ++g) {
      const std::uint32_t nodes = 20 + random.below(21);
      for (std::uint32_t v = 0; v < nodes; ++v) {
        graphs.tags.push_back(
            static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(model.node_features - 1))));
        for (std::uint32_t i = 0; i < 2 + v % 6 / 5; ++i) graphs.neighbours.push_back(random.below(nodes));
        graphs.first_neighbour.push_back(graphs.neighbours.size());
      }
      graphs.first_node.push_back(graphs.tags.size());
      graphs.labels.push_back(static_cast<std::int32_t>(random.below(2)));
    }
    return graphs;
  }

  algoperf::GraphFields data_;
  algoperf::TrainingLoop<algoperf::GraphNetwork<>, algoperf::SigmoidCrossEntropy, decltype(algoperf::adamw()),
                         algoperf::Constant, algoperf::ShuffledEpochs>
      loop_;
};

class LibraryAdamW {
 public:
  explicit LibraryAdamW(std::size_t n) : at_(algoperf::adamw(), 1, {n / 16, 16}) {}
  void operator()() { at_.step(rate); }

 private:
  RuleBench<decltype(algoperf::adamw())> at_;
};

}  // namespace bench
