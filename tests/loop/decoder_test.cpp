// Decoder: see decoding.hpp. The tests of the devices check it, too.
#include <algoperf/loop/decoder.hpp>

#include <algoperf/algoperf.hpp>
#include <algoperf/backend/host.hpp>
#include <algoperf/data/token_sequences.hpp>
#include <algoperf/nn/beam_search.hpp>
#include <algoperf/nn/layers/embedding.hpp>
#include <algoperf/nn/models/bert.hpp>
#include <algoperf/nn/models/encoder_decoder.hpp>
#include <algoperf/nn/models/gpt.hpp>
#include <algoperf/nn/models/next_character.hpp>
#include <algoperf/nn/models/rotary_transformer.hpp>
#include <algoperf/nn/ops/loss_of.hpp>
#include <algoperf/nn/ops/pool_rows.hpp>
#include <algoperf/nn/ops/repeat_rows.hpp>
#include <algoperf/nn/ops/repeat_tensor.hpp>
#include <algoperf/nn/ops/sum.hpp>
#include <string>
#include <vector>

#include "../support/sentence.hpp"
#include "decoding.hpp"

namespace algoperf::testing::of_decoder {

TEST_CASE("decoding: each step finds the outputs of whole sequences") {
  const Host<double> host;
  check_decoders(host, 1e-13);
  check_decoding_of_context(
      RotaryTransformer{.vocabulary = 7, .context = 9, .width = 8, .layers = 2, .heads = 2, .hidden = 8}, host, 1e-13);
  check_decoding_of_context(Gpt{.vocabulary = 7, .context = 5, .width = 8, .layers = 1, .heads = 2}, host, 1e-13);
  EncoderDecoder<> model{.vocabulary = 6, .width = 8, .blocks = 2, .heads = 4, .hidden = 4};
  check_decoding(model, 6, Host<float>{}, 1e-5);
  check_decoding(model, 6, host, 1e-13);
  model.post_norm = model.glu = true;
  model.attention_temperature = 2;
  check_decoding(model, 6, host, 1e-13);
}

// Reads tokens and features of "target", pools the rows and adds the pool to each.
struct Undecodable {
  bool pools = true, reads_features = false;

  template <class Net>
  constexpr Value operator()(Net& net) const {
    const GraphIndex target = net.ragged_axis("target");
    Value x = net("input", Embedding{.vocabulary = 6, .width = 4}, net.tokens("input", {1}, target));
    if (reads_features) x = net(Sum{}, x, net.field("features", {1, 4}, target));
    if (pools) x = net("sums", Sum{}, x, net("repeated", RepeatRows{target}, net("pool", PoolRows{}, x)));
    return net("logits", Dense{.units = 6}, x);
  }
};

// Applies a part that reads later rows to the rows of "target".
template <class Part, std::size_t inputs>
struct WithPart {
  Part part;

  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Value tokens = net.tokens("input", {1}, net.ragged_axis("target"));
    const Value x = net("input", Embedding{.vocabulary = 6, .width = 4}, tokens);
    const Value y = net.reshape(net("wide", Dense{.units = 8}, x), {8});
    if constexpr (inputs == 1)
      return net("part", part, net("wider", Dense{.units = 12}, y));
    else
      return net("part", part, net("query", Dense{.units = 4}, y), y);
  }
};

template <class Model>
std::string refusal(const Model& model, const DecodingSizes& sizes = {.steps = 1}) {
  const auto predictor = random_predictor(model, Host<float>{});
  return sentence([&] { predictor->decoder(sizes); });
}

TEST_CASE("decoding: models that cannot decode are refused") {
  CHECK(refusal(Undecodable{}) ==
        "Decoder: pool does not support decoding on the axis 'target': its rows depend on later rows, or it does not "
        "declare `decodes`");
  CHECK(
      refusal(Undecodable{.pools = false, .reads_features = true}) ==
      "Decoder: the model reads the field 'features' on the axis 'target', expected one field there, of one token per "
      "row");
  CHECK(refusal(Undecodable{.pools = false}).empty());
  const std::string later =
      " does not support decoding on the axis 'target': its rows depend on later rows, or it does not declare "
      "`decodes`";
  CHECK(refusal(WithPart<Attention, 1>{{.heads = 2}}) == "Decoder: part" + later);
  CHECK(refusal(WithPart<Attention, 1>{{.heads = 2, .causal = true}}).empty());
  CHECK(refusal(WithPart<Attention, 2>{{.heads = 2}}) == "Decoder: part" + later);
  CHECK(refusal(WithPart<Lstm, 1>{{.units = 2, .reverse = true}}) == "Decoder: part.recurrence" + later);
  CHECK(refusal(WithPart<Lstm, 1>{{.units = 2}}).empty());
  CHECK(!random_predictor(Undecodable{}, Host<float>{})->decodes());
  CHECK(random_predictor(Undecodable{.pools = false}, Host<float>{})->decodes());
  CHECK(refusal(Bert{.vocabulary = 6, .context = 8, .chosen = 2, .width = 8, .layers = 1, .heads = 2}) ==
        "Decoder: the model reads the field 'input' beside tokens on the axis 'chosen', which must then be ragged");
  CHECK(refusal(next_character(4, 5)) ==
        "Decoder: the model has one row of outputs per example, expected one per token");
  CHECK(refusal(Gpt{.vocabulary = 7, .context = 5, .width = 8, .layers = 1, .heads = 2}, {.steps = 6}) ==
        "Decoder: steps is 6, but the model processes at most 5 rows on the axis 'time'");
  CHECK(refusal(MixedDecoder{}, {.steps = 9}) ==
        "Decoder: steps is 9, but the model processes at most 8 rows on the axis 'target' "
        "(LearnedPositions's positions)");
  CHECK(refusal(MixedDecoder{}, {.examples = 0}) ==
        "DecodingSizes: examples is 0 and sequences 1, expected at least 1 each");
  CHECK(refusal(MixedDecoder{}, {.examples = 16, .sequences = std::size_t{1} << 60}) ==
        "DecodingSizes: examples is 16 and sequences 1152921504606846976, expected less than 2^32 sequences in all");
  CHECK(refusal(EncoderDecoder<>{.vocabulary = 6, .width = 8}, {}) ==
        "Decoder: steps is 0, but the model does not limit the rows on the axis 'target', expected at least 1");
}

struct LongGpt {
  static constexpr std::size_t vocabulary = 500;
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Gpt model{.vocabulary = vocabulary, .context = 4000, .width = 8, .layers = 1, .heads = 2};
    const Value logits = model(net);
    net.keep(logits);
    return logits;
  }
};

TEST_CASE("decoding: wrong calls are refused") {
  const RecordedModel<Host<float>> model(LongGpt{});
  GraphExecutor<Host<float>> plain(Host<float>{}, model, 1, {.training = false});
  CHECK(sentence([&] { plain.forward_before_decoding({.mode = Mode::evaluate}, 1); }) ==
        "GraphExecutor: it was made without a decoded axis");
  const auto predictor = random_predictor(MixedDecoder{}, Host<float>{});
  auto decoder = predictor->decoder({.examples = 2, .sequences = 2, .steps = 3});
  const auto refused = [&](const std::vector<SequenceToken>& tokens) {
    return sentence([&] { decoder.step(tokens); });
  };
  CHECK(refused({{0, 0, 2}}) == "Decoder: step() was called before begin(), or after an exception");
  CHECK(sentence([&] { decoder.begin(2); }) ==
        "Decoder: begin() was called without a data set, but the outputs depend on further fields");
  const SourceAndInput data = source_and_input({{{}}, {{}}, {{}}});
  CHECK(sentence([&] { decoder.begin(data, 0, 3); }) == "Decoder: begin() was called for 3 examples, expected 1 to 2");
  decoder.begin(data, 1, 2);
  CHECK(refused({}) == "Decoder: step() was called without tokens");
  CHECK(refused({{2, 0, 2}}) == "Decoder: token 0 belongs to example 2, expected an ascending index below 2");
  CHECK(refused({{1, 0, 2}, {0, 0, 2}}) ==
        "Decoder: token 1 belongs to example 0, expected an ascending index below 2");
  CHECK(refused({{0, 0, 2}, {0, 0, 2}, {0, 0, 2}}) == "Decoder: example 0 has more than 2 sequences");
  CHECK(refused({{0, 0, 2}, {1, 0, 6}}) == "Decoder: token 1 is 6, expected [0, 6), the model's vocabulary");
  CHECK(refused({{0, 0, -1}}) == "Decoder: token 0 is -1, expected at least 0");
  CHECK(refused({{0, 0, 2}, {0, 0, 3}, {1, 0, 2}}).empty());
  CHECK(refused({{0, 0, 2}, {1, 1, 2}}) ==
        "Decoder: token 1, of example 1, follows token 1 of the step before, which is none of this example");
  CHECK(refused({{0, 3, 2}}) ==
        "Decoder: token 0, of example 0, follows token 3 of the step before, which is none of this example");
  CHECK(refused({{0, 1, 2}, {1, 2, 2}}).empty());
  CHECK(refused({{1, 1, 2}}).empty());
  CHECK(refused({{1, 0, 2}}) == "Decoder: the sequences have 3 tokens already, the most that DecodingSizes allows");
  decoder.begin(data, 0, 1);
  CHECK(refused({{0, 0, 2}}).empty());
  CHECK(sentence([&] { decoder.begin(data, 3, 1); }) ==
        "Decoder: begin() was called for examples 3 to 3 of a data set of 3");
  CHECK(refused({{0, 0, 2}}) == "Decoder: step() was called before begin(), or after an exception");
  CHECK(sentence([&] { decoder.log_sums(); }) == "Decoder: log_sums() was called before step()");

  const auto gpt =
      random_predictor(Gpt{.vocabulary = 7, .context = 5, .width = 8, .layers = 1, .heads = 2}, Host<float>{});
  auto of_gpt = gpt->decoder({.examples = 1, .steps = 2});
  CHECK(sentence([&] { of_gpt.begin(data, 0, 1); }) ==
        "Decoder: begin() was called with a data set, but the outputs depend on the tokens only");
  Predictor empty(Gpt{.vocabulary = 7, .context = 5, .width = 8, .layers = 1, .heads = 2});
  CHECK(sentence([&] { empty.decoder(); }).starts_with("Predictor: the parameters have no values yet"));
}

// A model of a fixed number of tokens that attends to trained rows.
struct WithMemory {
  std::size_t vocabulary = 5, context = 4;

  template <class Net>
  constexpr Value operator()(Net& net) const {
    const SharedTensor rows = net.tensor("memory", Kind::weight, {3, 8}, Init::unit_normal);
    const Value memory = net("rows", RepeatTensor{rows, net.axis("memory", 3), 8});
    const Value tokens = net.tokens("input", {1}, net.axis("time", context));
    const Value x = net.reshape(net("input", Embedding{.vocabulary = vocabulary, .width = 4}, tokens), {4});
    return net("logits", Dense{.units = vocabulary}, net("cross", Attention{.heads = 2}, x, memory));
  }
};
TEST_CASE("decoding: sequences on a fixed axis share what does not depend on them") {
  check_decoding_of_context(WithMemory{}, Host<double>{}, 1e-13);
}

// Sums the rows of "target" for a loss of its own, after the outputs.
struct LossOfSums {
  template <class Net>
  constexpr Value operator()(Net& net, Value outputs) const {
    const Value sums = net("sums", PoolRows{Pooling::sum}, outputs);
    return net(LossOf{SoftmaxCrossEntropy{}}, sums, net.tokens("label"));
  }
};
using Sentences =
    InMemoryFields<Field<"source", std::int32_t>, Field<"input", std::int32_t>, Field<"label", std::int32_t>>;
struct LengthOfTranslation {
  static constexpr const char* name = "length";
  static constexpr bool lower_is_better = true;
  static constexpr bool generates = true;
  template <class Predict>
  double score(const Predict& predict, const Sentences& data) const {
    const auto found = predict.beam_search(token_sequences(data, "source"), BeamSearchOptions{.longest = 4, .end = 9});
    return static_cast<double>(found[0].size());
  }
};
TEST_CASE("decoding: what follows the outputs does not matter") {
  const Sentences data({{"source", {2, 1}}, {"target", {1, 3}}}, {{1, 2, 3}, {1}, "source"},
                       {{1, 2, 3, 4}, {1}, "target"}, {{1, 5}, {1}});
  TrainingLoop loop(MixedDecoder{}, LossOfSums{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 2});
  CHECK(loop.evaluate(data, LengthOfTranslation{}).metric == 4);
}

// Reads labels for an auxiliary loss before the outputs.
struct WithAuxiliaryLoss {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    const GraphIndex target = net.ragged_axis("target");
    const Value tokens = net.tokens("input", {1}, target),
                source = net.tokens("source", {1}, net.ragged_axis("source"));
    Value x = net.reshape(net("input", Embedding{.vocabulary = 6, .width = 4}, tokens), {4});
    const Value words = net.reshape(net("source", Embedding{.vocabulary = 6, .width = 8}, source), {8});
    net(LossOf{SoftmaxCrossEntropy{}}, net("early", Dense{.units = 6}, x), net.tokens("label", {1}, target));
    net(LossOf{SoftmaxCrossEntropy{}}, net("tagged", Dense{.units = 3}, words), net.tokens("tag", {1}, words.axis));
    x = net("cross", Attention{.heads = 2}, x, words);
    return net("logits", Dense{.units = 6}, x);
  }
};
TEST_CASE("decoding: losses before the outputs do not matter, nor do they for predictions") {
  check_decoding(WithAuxiliaryLoss{}, 6, Host<double>{}, 1e-13);
  Recorder<> net;
  net.keep(WithAuxiliaryLoss{}(net));
  for (const GraphIndex decoded : {no_index, net.graph().find_axis("target")}) {
    const MemoryPlan plan = Planner(net.graph(), {.training = false, .decoded_axis = decoded}).plan();
    std::size_t losses = 0;
    for (std::size_t i = 0; i < plan.output_steps; ++i) losses += net.graph().ops[plan.steps[i].op].loss;
    CHECK(losses == 0);
    CHECK(plan.steps.size() == plan.output_steps + 2);
  }
}

TEST_CASE("decoding: the memory of a pass is that of the rows of a step") {
  const RecordedModel<Host<float>> recorded(LongGpt{});
  const std::vector<float> values(recorded.layout().size());
  GraphExecutor<Host<float>> executor(Host<float>{}, recorded, 20,
                                      {.training = false, .decoded_axis = recorded.outputs().axis});
  GraphPass<Host<float>> pass;
  pass.values = values.data();
  pass.examples = 20;
  pass.mode = Mode::evaluate;
  executor.forward_before_decoding(pass, 20);
  const std::size_t logits = 20 * LongGpt::vocabulary * sizeof(float), bytes = executor.plan(Mode::evaluate).bytes;
  CHECK(bytes >= logits);
  CHECK(bytes < 2 * logits);
}

}  // namespace algoperf::testing::of_decoder
