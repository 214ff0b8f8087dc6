// Metrics that accumulate or generate, in evaluations that ranks share: every rank finds what one process finds.
#include <doctest/doctest.h>

#include <algoperf/combine/group/threads.hpp>
#include <algoperf/data/token_sequences.hpp>
#include <algoperf/nn/beam_search.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../support/near.hpp"
#include "decoding.hpp"
#include "ragged.hpp"
#include "tagger.hpp"
#include "tiny.hpp"

namespace algoperf::testing::of_metrics_on_ranks {

// Depends on everything that it receives, and on its order.
struct Fingerprint {
  static constexpr const char* name = "fingerprint";
  static constexpr bool lower_is_better = true;
  static constexpr bool decodes = true;
  struct State {
    double sum = 0, of_fields = 0;
    std::size_t count = 0, fields = 0, examples = 0;
  };
  const char* field = nullptr;

  std::vector<const char*> fields() const {
    return field == nullptr ? std::vector<const char*>{} : std::vector<const char*>{field};
  }
  template <class S, class Label>
  void add(State& state, const EvaluatedRows<S, Label>& batch) const {
    const auto take = [&](double x) { state.sum += x * static_cast<double>(++state.count % 101); };
    const std::size_t labels_per_row = std::is_same_v<Label, std::int32_t> ? 1 : batch.width;
    for (std::size_t e = 0; e < batch.examples; ++e) {
      take(static_cast<double>(batch.output_rows.count(e)) + 3 * static_cast<double>(++state.examples));
      for (std::size_t r = batch.output_rows.begin(e); r < batch.output_rows.end(e); ++r) {
        for (std::size_t c = 0; c < batch.width; ++c) take(static_cast<double>(batch.outputs[r * batch.width + c]));
        take(batch.weight(r));
      }
      for (std::size_t r = batch.label_rows.begin(e); r < batch.label_rows.end(e); ++r)
        for (std::size_t c = 0; c < labels_per_row; ++c)
          take(static_cast<double>(batch.labels[r * labels_per_row + c]));
    }
    for (const auto& values : batch.fields)
      for (const S x : values) state.of_fields += static_cast<double>(x) * static_cast<double>(++state.fields % 101);
  }
  double value(const State& state) const { return state.sum + state.of_fields; }
};

// Runs the model on all examples of the data and on the first three.
struct Generated {
  static constexpr const char* name = "generated";
  static constexpr bool lower_is_better = true;
  static constexpr bool generates = true;
  template <class Predict, class Data>
  double score(const Predict& predict, const Data& data) const {
    double sum = 0;
    std::size_t count = 0;
    for (const auto& outputs : {predict(data), predict(data.subset(0, 3))})
      for (const auto x : outputs) sum += static_cast<double>(x) * static_cast<double>(++count % 101);
    return sum + static_cast<double>(count);
  }
};

// Checks that the ranks of groups find the metric and the loss that one process finds. make(group) returns a loop.
template <class Make, class Data, class Metric>
void check(const Make& make, const Data& data, const Metric& metric) {
  auto alone = make(InProcess{});
  const EvaluationReport expected = alone.evaluate(data, metric, 4);
  CHECK(expected.metric != 0);
  for (const std::size_t ranks : {2u, 3u, 7u, 50u}) {  // also more than examples
    CAPTURE(ranks);
    run_ranks(ranks, [&](Threads group) {
      auto loop = make(group);
      const EvaluationReport found = loop.evaluate(data, metric, 4);
      if (GeneratingMetric<Metric>)
        CHECK_UNARY(found.metric == near(expected.metric, 1e-6));
      else
        CHECK_UNARY(found.metric == expected.metric);  // batches are those of one process
      CHECK_UNARY(found.loss == near(expected.loss, 1e-9));
    });
  }
}

template <class Model, class Loss>
auto loop_of(const Model& model, const Loss& loss) {
  return [=](const auto& group) {
    return TrainingLoop(model, loss, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 64}, Mean{}, group);
  };
}

TEST_CASE("metrics on ranks: an accumulator sees the rows of all ranks, in the order of examples") {
  const auto ragged_loop = loop_of(ragged::Tagger{}, Weighted{SoftmaxCrossEntropy{}, "importance"});
  check(ragged_loop, ragged::weighted_sentences(), Fingerprint{});
  check(ragged_loop, ragged::weighted_sentences(), Fingerprint{"importance"});
  check(loop_of(ragged::Tagger{}, SoftmaxCrossEntropy{}), ragged::sentences(), Fingerprint{});
  check(loop_of(tagging::Tagger{}, SoftmaxCrossEntropy{}), tagging::sentences(), Fingerprint{});
  const std::vector<float> inputs = tagging::numbers(40 * 3, 1), labels = tagging::numbers(40 * 2, 2);
  check(loop_of(Model(Shape{3}, Dense{.units = 2}), MeanSquaredError{}),
        InMemoryRegression<float>(inputs, labels, Shape{3}, Shape{2}), Fingerprint{});
}

TEST_CASE("metrics on ranks: one that generates has the outputs of all ranks") {
  check(loop_of(Tiny::model(), Tiny::loss()), Tiny::digits().subset(0, 40), Generated{});
}

// Translates the sources of the data by beam search.
struct Translated {
  static constexpr const char* name = "translated";
  static constexpr bool lower_is_better = true;
  static constexpr bool generates = true;
  std::size_t leave_out = 0;
  template <class Predict, class Data>
  double score(const Predict& predict, const Data& data) const {
    auto sources = token_sequences(data, "source");
    sources.resize(sources.size() - leave_out);
    double sum = 0;
    std::size_t count = 0;
    for (const auto& tokens :
         predict.beam_search(sources, BeamSearchOptions{.beams = 2, .longest = 5, .at_once = 3, .end = 0}))
      for (const std::int32_t token : tokens) sum += token * static_cast<double>(++count % 101) + 1;
    return sum;
  }
};

TEST_CASE("metrics on ranks: each translates a part of the sentences") {
  RaggedAxis sources{"source", {}}, targets{"target", {}};
  std::vector<std::int32_t> source, target;
  RandomStream random(RandomKey{1});
  for (std::size_t i = 0; i < 11; ++i) {
    sources.rows.push_back(static_cast<std::uint32_t>(random.below(4)));
    targets.rows.push_back(static_cast<std::uint32_t>(1 + random.below(4)));
    for (std::size_t n = sources.rows.back(); n > 0; --n) source.push_back(static_cast<std::int32_t>(random.below(6)));
    for (std::size_t n = targets.rows.back(); n > 0; --n) target.push_back(static_cast<std::int32_t>(random.below(6)));
  }
  using Sentences =
      InMemoryFields<Field<"source", std::int32_t>, Field<"input", std::int32_t>, Field<"label", std::int32_t>>;
  const Sentences data({sources, targets}, {source, {1}, "source"}, {target, {1}, "target"}, {target, {1}, "target"});
  const auto make = loop_of(MixedDecoder{}, SoftmaxCrossEntropy{});
  check(make, data, Translated{});
  std::vector<std::string> found(3);
  run_ranks(3, [&](Threads group) {
    auto loop = make(group);
    found[group.rank()] = sentence([&] { (void)loop.evaluate(data, Translated{group.rank() == 2 ? 1u : 0u}); });
  });
  for (const std::string& each : found)
    CHECK(contains(each,
                   "rank 2 of 3 asks for translations of 10 sources, and rank 0 for translations of 11 sources: the"));
}

// Runs the model on more examples on rank 1 than on the others.
struct Unequal : Generated {
  std::size_t rank;
  template <class Predict, class Data>
  double score(const Predict& predict, const Data& data) const {
    return static_cast<double>(predict(data.subset(0, rank == 1 ? 5 : 4)).size());
  }
};

TEST_CASE("metrics on ranks: one that generates differently on the ranks is refused") {
  const auto make = loop_of(Tiny::model(), Tiny::loss());
  std::vector<std::string> found(3);
  run_ranks(3, [&](Threads group) {
    auto loop = make(group);
    found[group.rank()] = sentence([&] { (void)loop.evaluate(Tiny::digits(), Unequal{{}, group.rank()}); });
  });
  for (const std::string& each : found)
    CHECK(contains(each,
                   "rank 1 of 3 asks for 50 outputs of 5 examples, and rank 0 for 40 outputs of 4 examples: the sc"));
}

// Counts the examples that are read.
struct CountedDigits : InMemory<float> {
  std::atomic<std::size_t>* read;
  explicit CountedDigits(std::atomic<std::size_t>& count) : InMemory<float>(Tiny::digits()), read(&count) {}
  void gather(const std::uint32_t* indices, std::size_t n, float* inputs, std::int32_t* labels) const {
    *read += n;
    InMemory<float>::gather(indices, n, inputs, labels);
  }
};

TEST_CASE("metrics on ranks: together, the ranks compute each example's outputs once") {
  std::atomic<std::size_t> read = 0;
  const CountedDigits data(read);
  const auto make = loop_of(Tiny::model(), Tiny::loss());
  run_ranks(3, [&](Threads group) {
    auto loop = make(group);
    (void)loop.evaluate(data, Fingerprint{}, 16);
  });
  CHECK(read == data.size());
}

TEST_CASE("metrics on ranks: an accumulator that throws, and a rank that cannot read its examples") {
  const auto make = loop_of(Tiny::model(), Tiny::loss());
  const auto told = [&](const auto& metric, const auto& evaluated) {
    std::vector<std::string> found(3);
    run_ranks(3, [&](Threads group) {
      auto loop = make(group);
      found[group.rank()] = sentence(
          [&] { loop.run(Tiny{}.train(), Evaluate(evaluated(group.rank()), metric, {.every = 2}), UntilStep{4}); });
    });
    CHECK(found[0] == found[1]);
    CHECK(found[0] == found[2]);
    return found[0];
  };
  struct Refuses : Fingerprint {
    void add(State&, const EvaluatedRows<float, std::int32_t>&) const { fail("no rows wanted"); }
  };
  CHECK(contains(told(Refuses{}, [](std::size_t) { return Tiny::digits(); }), "no rows wanted"));
  struct Torn : InMemory<float> {
    std::size_t rank;
    explicit Torn(std::size_t r) : InMemory<float>(Tiny::digits()), rank(r) {}
    void gather(const std::uint32_t* indices, std::size_t n, float* inputs, std::int32_t* labels) const {
      require(rank != 1, "the disk is gone");
      InMemory<float>::gather(indices, n, inputs, labels);
    }
  };
  CHECK(told(Fingerprint{}, [](std::size_t rank) { return Torn(rank); }) == "rank 1 of 3: the disk is gone");
}

}  // namespace algoperf::testing::of_metrics_on_ranks
