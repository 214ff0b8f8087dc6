// SharedEvaluation: the mean loss and the metric of a whole data set, which the ranks of a group evaluate together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../core/error.hpp"
#include "../core/finite.hpp"
#include "../nn/concept.hpp"
#include "check_fields.hpp"
#include "decoder.hpp"
#include "evaluation_sums.hpp"
#include "field_array.hpp"
#include "loop_ranks.hpp"
#include "rows_of_ranks.hpp"

namespace algoperf::detail {

struct LossAndMetric {
  double loss = 0, metric = 0;
};

// Evaluates the model of a GradientContext at `values`, `batch` examples at a time. Each rank evaluates a part of the
// examples.
template <class Context>
class SharedEvaluation {
  using Scalar = typename Context::Scalar;
  using Sequences = std::vector<std::vector<std::int32_t>>;

 public:
  SharedEvaluation(Context& context, const Scalar* values, std::size_t batch)
      : context_(context), values_(values), batch_(batch) {}

  // Returns the loss and the metric after `step` steps. Throws Error if the weights of the rows sum to 0, and
  // RankFailure, with the step, if the ranks' parameters differ. The metric of a model whose loss is not finite is NaN
  // if it generates.
  template <class Data, class Metric>
  LossAndMetric evaluate(const Data& data, const Metric& metric, std::uint64_t step) {
    check_fits(context_.graph(), data);
    if constexpr (AccumulatingMetric<Metric>)
      if (!ranks().alone()) {
        RowsOfRanks<Metric, Scalar, LabelInMemory<Data, Scalar>> sums(metric);
        add_in_rounds(data, metric, sums);
        add_over_ranks(ranks(), values_of(context_), step, sums.weight, sums.loss, nullptr);
        return result(data, metric, sums);
      }
    EvaluationSums<Metric> sums;
    add_own(data, metric, sums);
    if (!ranks().alone()) {
      double* scores = nullptr;
      if constexpr (!AccumulatingMetric<Metric> && !GeneratingMetric<Metric>) scores = &sums.state;
      add_over_ranks(ranks(), values_of(context_), step, sums.weight, sums.loss, scores);
    }
    return result(data, metric, sums);
  }

  // What a metric that generates runs the model with. Ranks share each call.
  struct Predict {
    SharedEvaluation& evaluation;

    // Returns the outputs of all examples of `inputs`.
    template <class Inputs>
    std::vector<Scalar> operator()(const Inputs& inputs) const {
      return evaluation.outputs_of(inputs);
    }
    // Returns a translation of each source. Options stands for BeamSearchOptions, whose header not every program needs.
    template <class Options>
    Sequences beam_search(const Sequences& sources, const Options& options) const {
      return evaluation.translations_of(sources, options);
    }
  };

 private:
  // The model of this rank.
  struct Own {
    SharedEvaluation& evaluation;

    Decoder<typename Context::Backend> decoder(const DecodingSizes& sizes) const {
      return {evaluation.context_.backend(), evaluation.context_.evaluator().model(), evaluation.values_, sizes};
    }
  };
  const Ranks& ranks() const { return context_.ranks(); }
  // Returns where the part of a rank begins.
  std::size_t begin_of(std::size_t rank, std::size_t size) const { return size * rank / ranks().size(); }

  // Adds the examples of this rank.
  template <class Data, class Metric, class Sums>
  void add_own(const Data& data, const Metric& metric, Sums& sums) {
    const std::size_t end = begin_of(ranks().rank() + 1, data.size());
    for (std::size_t begin = begin_of(ranks().rank(), data.size()); begin < end; begin += batch_)
      context_.evaluator().evaluate(data, metric, values_, begin, end - begin < batch_ ? end - begin : batch_, sums);
  }
  // Adds all examples. In each round, each rank evaluates a batch, and gives its rows to all.
  template <class Data, class Metric, class Sums>
  void add_in_rounds(const Data& data, const Metric& metric, Sums& sums) {
    const std::size_t size = data.size();
    for (std::size_t round = 0; round < size; round += ranks().size() * batch_) {
      const std::size_t begin = round + ranks().rank() * batch_;
      if (begin < size)
        context_.evaluator().evaluate(data, metric, values_, begin, size - begin < batch_ ? size - begin : batch_,
                                      sums);
      (void)context_.meet(Meeting::evaluation, 0, 0);
      sums.exchange(ranks(), metric);
    }
  }
  template <class Data, class Metric>
  LossAndMetric result(const Data& data, const Metric& metric, const EvaluationSums<Metric>& sums) {
    require(sums.weight > 0, "TrainingLoop: the examples of an evaluation have no rows, or their weights are 0");
    LossAndMetric found{.loss = sums.loss / sums.weight};
    if constexpr (!GeneratingMetric<Metric>)
      found.metric = sums.metric(metric);
    else if (!finite_bits(sums.loss))
      found.metric = std::numeric_limits<double>::quiet_NaN();
    else
      found.metric = metric.score(Predict{*this}, data);
    return found;
  }
  // Returns the outputs of all examples of `inputs`, of which each rank computes a part.
  template <class Inputs>
  std::vector<Scalar> outputs_of(const Inputs& inputs) {
    check_fits(context_.graph(), inputs, false);
    if (ranks().alone()) return context_.evaluator().predict(inputs, values_, batch_);
    std::vector<std::size_t> begins, counts;
    for (std::size_t r = 0; r <= ranks().size(); ++r) begins.push_back(begin_of(r, inputs.size()));
    for (std::size_t r = 0; r < ranks().size(); ++r)
      counts.push_back(context_.evaluator().output_size(inputs, begins[r], begins[r + 1] - begins[r]));
    const std::size_t me = ranks().rank(), all = context_.evaluator().output_size(inputs, 0, inputs.size());
    const auto own = context_.evaluator().predict(inputs, values_, batch_, begins[me], begins[me + 1]);
    check_alike(inputs.size(), all);
    return ranks().all_gather(own, counts);
  }

  // Returns the translation of each source, of which each rank finds a part.
  template <class Options>
  Sequences translations_of(const Sequences& sources, const Options& options) {
    if (ranks().alone()) return beam_search(Own{*this}, sources, options);
    const auto place = [&](std::size_t rank) {
      return sources.begin() + static_cast<std::ptrdiff_t>(begin_of(rank, sources.size()));
    };
    const Sequences mine(place(ranks().rank()), place(ranks().rank() + 1));
    std::vector<std::int32_t> tokens;
    std::vector<std::size_t> lengths;
    for (const std::vector<std::int32_t>& translation : beam_search(Own{*this}, mine, options)) {
      lengths.push_back(translation.size());
      tokens.insert(tokens.end(), translation.begin(), translation.end());
    }
    check_alike(sources.size(), translations);
    lengths = ranks().all_gather(lengths, ranks().all_gather(lengths.size()));
    tokens = ranks().all_gather(tokens, ranks().all_gather(tokens.size()));
    Sequences all;
    auto from = tokens.begin();
    for (const std::size_t length : lengths) {
      all.emplace_back(from, from + static_cast<std::ptrdiff_t>(length));
      from += static_cast<std::ptrdiff_t>(length);
    }
    return all;
  }

  // Throws RankFailure unless all ranks ask for as many outputs, or translations, of as many examples.
  static constexpr std::size_t translations = ~std::size_t{0};
  void check_alike(std::size_t examples, std::size_t outputs) const {
    // Notes have no fields for these numbers: they are sent as the weight and the loss.
    const double count = outputs == translations ? -1 : static_cast<double>(outputs);
    const auto notes = context_.meet(Meeting::evaluation, static_cast<double>(examples), count);
    const auto request = [](const auto& note) {
      return note.loss < 0 ? message_of({"translations of ", note.weight, " sources"})
                           : message_of({note.loss, " outputs of ", note.weight, " examples"});
    };
    for (std::size_t r = 1; r < notes.size(); ++r)
      if (notes[r].weight != notes[0].weight || notes[r].loss != notes[0].loss)
        fail_as<RankFailure>("rank ", r, " of ", ranks().size(), " asks for ", request(notes[r]), ", and rank 0 for ",
                             request(notes[0]),
                             ": the score() of a metric must call `predict` and its members alike on all ranks");
  }

  Context& context_;
  const Scalar* values_;
  std::size_t batch_;
};

}  // namespace algoperf::detail
