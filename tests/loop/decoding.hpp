// Checks that a Decoder, which computes one row per sequence and step, finds the outputs of a Predictor for whole
// sequences.
#pragma once

#include <doctest/doctest.h>

#include <algoperf/core/random.hpp>
#include <algoperf/data/in_memory_fields.hpp>
#include <algoperf/loop/predictor.hpp>
#include <algoperf/nn/layers/dense.hpp>
#include <algoperf/nn/layers/layer_norm.hpp>
#include <algoperf/nn/layers/relu.hpp>
#include <algoperf/nn/models/lstm_language_model.hpp>
#include <algoperf/nn/ops/attention.hpp>
#include <algoperf/nn/ops/concat.hpp>
#include <algoperf/nn/ops/learned_positions.hpp>
#include <algoperf/nn/ops/look_up.hpp>
#include <algoperf/nn/ops/lstm.hpp>
#include <algoperf/nn/ops/per_dim_scale.hpp>
#include <algoperf/nn/ops/pool_rows.hpp>
#include <algoperf/nn/ops/product.hpp>
#include <algoperf/nn/ops/repeat_rows.hpp>
#include <algoperf/nn/ops/rotary_positions.hpp>
#include <algoperf/nn/ops/sine_positions.hpp>
#include <algoperf/nn/ops/split.hpp>
#include <algoperf/nn/ops/sum.hpp>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../support/near.hpp"

namespace algoperf::testing {

using SourceAndInput = InMemoryFields<Field<"source", std::int32_t>, Field<"input", std::int32_t>>;
using Tokens = std::vector<std::int32_t>;

// Three examples with 4, 0 and 2 tokens of "source", and the given rows of "input" each.
inline SourceAndInput source_and_input(const std::vector<std::vector<Tokens>>& input = {{}, {}, {}}) {
  const std::vector<Tokens> source{{1, 4, 2, 2}, {}, {5, 0}};
  RaggedAxis sources{"source", {}}, targets{"target", {}};
  Tokens of_source, of_input;
  for (std::size_t e = 0; e < input.size(); ++e)
    for (const Tokens& tokens : input[e]) {
      sources.rows.push_back(static_cast<std::uint32_t>(source[e].size()));
      targets.rows.push_back(static_cast<std::uint32_t>(tokens.size()));
      of_source.insert(of_source.end(), source[e].begin(), source[e].end());
      of_input.insert(of_input.end(), tokens.begin(), tokens.end());
    }
  return SourceAndInput({sources, targets}, {of_source, {1}, "source"}, {of_input, {1}, "target"});
}

// Lets random sequences of three examples grow, of which several may continue the same one, and some end. Compares each
// step's outputs with the last rows of outputs_of(sequences): the outputs for whole sequences[e], those of example e.
template <class Decoder, class OutputsOf>
void check_growing(Decoder& decoder, const DecodingSizes& sizes, std::size_t vocabulary, const OutputsOf& outputs_of,
                   double tolerance) {
  RandomStream random(RandomKey{7});
  const auto below = [&random](std::size_t n) { return random.below(static_cast<std::uint32_t>(n)); };
  std::vector<std::pair<std::size_t, Tokens>> before;  // the example and the tokens of each row
  for (std::size_t step = 0; step < sizes.steps; ++step) {
    std::vector<SequenceToken> next;
    std::vector<std::pair<std::size_t, Tokens>> rows;
    for (std::size_t e = 0; e < sizes.examples; ++e) {
      std::vector<std::size_t> parents;
      for (std::size_t r = 0; r < before.size(); ++r)
        if (before[r].first == e) parents.push_back(r);
      if (step > 0 && parents.empty()) continue;
      // Example 1 has no sequence any more after step 3.
      const std::size_t n = step == 0 ? 1 : e == 1 && step > 3 ? 0 : 1 + below(sizes.sequences);
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t parent = step == 0 ? 9 : parents[below(parents.size())];
        next.push_back({e, parent, static_cast<std::int32_t>(below(vocabulary))});
        rows.push_back({e, step == 0 ? Tokens() : before[parent].second});
        rows.back().second.push_back(next.back().token);
      }
    }
    const auto& found = decoder.step(next);
    std::vector<std::vector<Tokens>> sequences(sizes.examples);
    for (const auto& [example, tokens] : rows) sequences[example].push_back(tokens);
    const auto expected = outputs_of(sequences);
    const std::size_t width = decoder.output_width();
    REQUIRE(found.size() == rows.size() * width);
    REQUIRE(expected.size() == rows.size() * (step + 1) * width);
    double apart = 0;
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t c = 0; c < width; ++c)
        apart = larger_or_nan(apart, std::abs(static_cast<double>(found[r * width + c]) -
                                              static_cast<double>(expected[((r + 1) * (step + 1) - 1) * width + c])));
    double sums_apart = 0;
    const auto& log_sums = decoder.log_sums();
    REQUIRE(log_sums.size() == rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < width; ++c) sum += std::exp(static_cast<double>(found[r * width + c]));
      sums_apart = larger_or_nan(sums_apart, std::abs(static_cast<double>(log_sums[r]) - std::log(sum)));
    }
    INFO("step ", step);
    CHECK(apart <= tolerance);
    CHECK(sums_apart <= tolerance);
    before = rows;
  }
}

template <class Model, class Backend>
auto random_predictor(const Model& model, const Backend& backend) {
  auto predictor = std::make_unique<Predictor<Model, Backend>>(model, backend, 32);
  using S = typename Backend::Scalar;
  std::vector<S> values(predictor->layout().size());
  RandomStream random(RandomKey{3});
  for (S& value : values) value = static_cast<S>(0.4 * random.normal());
  backend.write(values.size(), static_cast<const S*>(values.data()), predictor->values());
  return predictor;
}

// Checks a model of the fields "source" and "input", or of "input" alone if it is ragged.
template <class Model, class Backend>
void check_decoding(const Model& model, std::size_t vocabulary, const Backend& backend, double tolerance) {
  auto predictor = random_predictor(model, backend);
  const DecodingSizes sizes{.examples = 3, .sequences = 3, .steps = 8};
  auto decoder = predictor->decoder(sizes);
  for (int again = 0; again < 2; ++again) {
    // The rows of "input" are ignored. The first time, the sources are shorter.
    if (again == 0) decoder.begin(source_and_input({{{}}, {{1, 2}}, {{}}}), 1, 2);
    decoder.begin(source_and_input({{{}}, {{}}, {{5, 1}}}), 0, 3);
    check_growing(
        decoder, sizes, vocabulary,
        [&](const std::vector<std::vector<Tokens>>& sequences) {
          return predictor->predict(source_and_input(sequences));
        },
        tolerance);
  }
}

// Checks a model that reads a fixed number of tokens.
template <class Model, class Backend>
void check_decoding_of_context(const Model& model, const Backend& backend, double tolerance) {
  auto predictor = random_predictor(model, backend);
  const DecodingSizes sizes{.examples = 3, .sequences = 2, .steps = model.context};
  auto decoder = predictor->decoder(sizes);
  decoder.begin(3);
  check_growing(
      decoder, sizes, model.vocabulary,
      [&](const std::vector<std::vector<Tokens>>& sequences) {
        Tokens inputs;
        std::size_t length = 0;
        for (const auto& of_example : sequences)
          for (const Tokens& tokens : of_example) {
            length = tokens.size();
            inputs.insert(inputs.end(), tokens.begin(), tokens.end());
            inputs.resize((inputs.size() + model.context - 1) / model.context * model.context, 0);
          }
        const auto all = predictor->predict(inputs);
        std::vector<typename Backend::Scalar> outputs;
        for (std::size_t i = 0; i < all.size(); i += model.context * model.vocabulary)
          outputs.insert(outputs.end(), all.begin() + static_cast<std::ptrdiff_t>(i),
                         all.begin() + static_cast<std::ptrdiff_t>(i + length * model.vocabulary));
        return outputs;
      },
      tolerance);
}

// Has nearly all ops that decode.
struct MixedDecoder {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const GraphIndex source = net.ragged_axis("source"), target = net.ragged_axis("target");
    const SharedTensor table = net.tensor("table", Kind::embedding, {6, 8}, Init::unit_normal, 8, 6);
    const LookUp embedding{.table = table, .vocabulary = 6, .width = 8};
    // An op on "source" that runs in place is recorded after one on "target" that reads its input.
    const Value spoken = net("source", embedding, net.tokens("source", {1}, source));
    const Value words = net("words", Dense{.units = 16}, spoken);
    Value x = net("input", embedding, net.tokens("input", {1}, target));
    x = net("learned", LearnedPositions{.init = Init::unit_normal, .positions = 8}, net("sine", SinePositions{}, x));
    x = net("with_sum", Sum{}, x, net("repeated", RepeatRows{target}, net("sum", PoolRows{Pooling::sum}, spoken)));
    x = net("cross", Attention{.heads = 2}, x, words);
    const Value loud = net("loud", Relu{}, words);
    const Value y = net("rotary", RotaryPositions{.size = 4, .columns = 16}, net("qkv", Dense{.units = 24}, x));
    const Value mixed = net("self", Attention{.heads = 2, .causal = true}, y);
    const Value z = net("qkv_of_relu", Dense{.units = 24}, net("norm", LayerNorm{}, mixed));
    const Value relu = net("relu", Attention{.heads = 2, .causal = true, .weights = AttentionWeights::relu}, z);
    const std::array<Value, 2> halves = net("halves", Split{.first = 4}, relu);
    const Value joined = net("joined", Concat{}, halves[1], net("gate", Product{}, halves[0], halves[1]));
    const Value scaled = net("scaled", PerDimScale{.heads = 2}, joined);
    const Value again = net("again", Attention{.heads = 4}, scaled, loud);
    return net("logits", Dense{.units = 6}, net("lstm", Lstm{.units = 5}, again));
  }
};

// Checks a model of two ragged axes, and one of a fixed axis, which looks up products with its embedding.
template <class Backend>
void check_decoders(const Backend& backend, double tolerance) {
  check_decoding(MixedDecoder{}, 6, backend, tolerance);
  check_decoding_of_context(LstmLanguageModel{.vocabulary = 7, .context = 6, .width = 4, .units = 5, .layers = 2},
                            backend, tolerance);
}

}  // namespace algoperf::testing
