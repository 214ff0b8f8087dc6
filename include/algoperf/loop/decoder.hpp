// Decoder: computes a model's outputs for sequences that grow by one token per step. A step computes the rows of the
// new tokens only. Attention keeps the keys and values of earlier steps (a KV cache), and Lstm its states. Whatever
// does not depend on the sequences, such as an encoder, runs once per begin().
//
//   Predictor predictor(Gpt{.vocabulary = 65});
//   load_evaluation_values("best.checkpoint", predictor);
//   auto decoder = predictor.decoder({.examples = 1, .sequences = 2});
//   decoder.begin(1);
//   decoder.step({{.token = 5}});                        logits of what follows 5
//   decoder.step({{.token = 7}, {.token = 9}});          both extend token 0: logits of what follows 5 7, and 5 9
//   decoder.step({{.parent = 1, .token = 2}});           logits of what follows 5 9 2; the sequence 5 7 has ended
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "../nn/decoding.hpp"
#include "../nn/graph/sequence_history.hpp"
#include "../nn/log_sums.hpp"
#include "batch_executor.hpp"
#include "decoding_obstacle.hpp"
#include "read_scalars.hpp"

namespace algoperf {

// The decoded axis is the axis of the model's outputs. The outputs must depend on exactly one field on this axis, with
// one token per row. If the axis is not ragged, they must not depend on fields on other axes.
// Every op on the axis must decode (OpTraits::decodes): causal Attention, cross-attention to values on another axis,
// Lstm without `reverse`, positional encodings, RepeatRows, layers, and ops that compute each row by itself.
// All sequences begin in the first step and have the same length. An example that has no token in a step takes part in
// no later one. A prompt of n tokens takes n steps.
// A step returns the rows that Predictor::predict computes for the last tokens of the sequences, up to rounding.
// Cost: per step, one row of the model for each sequence, and causal attention to its earlier tokens. For each row and
//   step, the Decoder reserves 2 width activations and `heads` parameters per layer of causal attention, `units` of
//   both per Lstm, and three integers.
template <class BackendType>
class Decoder {
 public:
  using Backend = BackendType;
  using Scalar = typename Backend::Scalar;

  // `values` is an arena with the model's layout. Model and values must outlive the Decoder, and values must not change
  // between begin() and the last step. Throws Error if the model cannot decode, with the name of the op or field that
  // prevents it; if sizes.steps exceeds the model's limit; and if it is 0 and the model has no limit.
  Decoder(const Backend& backend, const RecordedModel<Backend>& model, const Scalar* values,
          const DecodingSizes& sizes = {});
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Returns the number of elements of a row of the outputs, such as the size of a vocabulary.
  std::size_t output_width() const { return model_.outputs().shape.size(); }

  // Begins new sequences for examples [first, first + n) of a data set. It has all fields that the outputs depend on.
  // Its tokens on the decoded axis are not used; an example may have none. If begin() or a pass of step() throws,
  // begin() must be called before the next step().
  template <class Data>
  void begin(const Data& data, std::size_t first, std::size_t n) {
    check_begin(n, true);
    detail::check_fits(model_.graph(), data, false);
    require(first <= data.size() && n <= data.size() - first, "Decoder: begin() was called for examples ", first,
            " to ", first + n - 1, " of a data set of ", data.size());
    work_.batch.load_range(backend_, data, first, n, false);
    begin_pass(n);
  }
  // The same for a model whose outputs depend on the tokens only.
  void begin(std::size_t n);
  // Extends sequences by tokens, which must be sorted by example. Row i of the result, in host memory, holds the
  // outputs for tokens[i]; the result is valid until the next step(). A sequence that no token extends ends. Throws
  // Error, and changes nothing, if a token is invalid.
  const std::vector<Scalar>& step(const std::vector<SequenceToken>& tokens);
  // Returns log(sum_k exp(z_k)) of each row z of the outputs of the last step, in host memory. Subtracted from z_k, it
  // gives the log-probability of token k.
  const std::vector<Scalar>& log_sums();

 private:
  const Axis& axis() const { return model_.graph().axes[decoded_axis_]; }
  // On a fixed axis, each sequence counts as an example.
  std::size_t most_examples() const { return axis().ragged ? sizes_.examples : sizes_.rows(); }
  static DecodingSizes checked(const ModelGraph& graph, DecodingSizes sizes);
  void check_begin(std::size_t n, bool with_data);
  void begin_pass(std::size_t n);
  void check_step(const std::vector<SequenceToken>& tokens) const;

  Backend backend_;
  const RecordedModel<Backend>& model_;
  DecodingSizes sizes_;
  GraphIndex field_, decoded_axis_;
  bool reads_data_;
  BatchExecutor<Backend> work_;
  SequenceHistory<Backend> history_;
  typename Backend::template Array<std::int32_t> tokens_;
  RaggedRows<Backend> rows_;
  GraphPass<Backend> pass_ = {};
  GraphExecutor<Backend>* executor_ = nullptr;  // null before begin() and after an exception
  std::vector<std::int32_t> next_;
  std::vector<std::uint32_t> parents_, counts_;  // of the step: of each row; of each example
  std::vector<SequenceToken> last_;              // of the step before
  std::vector<Scalar> outputs_, log_sums_;
  typename Backend::template Array<Scalar> exponentials_, sums_;
};

template <class Backend>
ALGOPERF_COLD Decoder<Backend>::Decoder(const Backend& backend, const RecordedModel<Backend>& model,
                                        const Scalar* values, const DecodingSizes& sizes)
    : backend_(backend),
      model_(model),
      sizes_(checked(model.graph(), sizes)),
      field_(detail::decoded_field(model.graph())),
      decoded_axis_(model.outputs().axis),
      reads_data_(detail::reads_beside(model.graph(), decoded_axis_)),
      work_(backend, model, most_examples(), most_examples(), {.training = false, .decoded_axis = decoded_axis_}),
      history_(backend, model.graph(), decoded_axis_, sizes_.rows(), sizes_.steps),
      tokens_(backend.template array<std::int32_t>(sizes_.rows())) {
  pass_.values = values;
  pass_.mode = Mode::evaluate;
}

template <class Backend>
ALGOPERF_COLD DecodingSizes Decoder<Backend>::checked(const ModelGraph& graph, DecodingSizes sizes) {
  sizes.check();
  const std::string obstacle = detail::decoding_obstacle(graph);
  require(obstacle.empty(), "Decoder: ", obstacle);
  const Axis& axis = graph.axes[graph.values[graph.outputs.back()].value.axis];
  const std::size_t most = axis.ragged ? axis.most : axis.rows;
  require(most > 0 || sizes.steps > 0, "Decoder: steps is 0, but the model does not limit the rows on the axis '",
          axis.name, "', expected at least 1");
  require(most == 0 || sizes.steps <= most, "Decoder: steps is ", sizes.steps, ", but the model processes at most ",
          most, " rows on the axis '", axis.name, "'", axis.most > 0 ? std::string(" (") + axis.limit + ")" : "");
  if (sizes.steps == 0) sizes.steps = most;
  return sizes;
}

template <class Backend>
void Decoder<Backend>::check_begin(std::size_t n, bool with_data) {
  executor_ = nullptr;
  require(n > 0 && n <= sizes_.examples, "Decoder: begin() was called for ", n, " examples, expected 1 to ",
          sizes_.examples);
  require(with_data == reads_data_, "Decoder: begin() was called ", with_data ? "with" : "without",
          " a data set, but the outputs depend on ", reads_data_ ? "further fields" : "the tokens only");
}

template <class Backend>
void Decoder<Backend>::begin(std::size_t n) {
  check_begin(n, false);
  begin_pass(n);
}

template <class Backend>
void Decoder<Backend>::begin_pass(std::size_t n) {
  GraphExecutor<Backend>& executor = work_.executor_of(backend_, 0, reads_data_ ? n : 0);
  executor.bind(model_.graph().values[field_].value, tokens_.data());
  history_.clear();
  last_.clear();
  counts_.assign(n, 0);
  pass_.examples = axis().ragged ? n : sizes_.rows();
  pass_.decoding = nullptr;
  executor.forward_before_decoding(pass_, sizes_.rows());
  executor_ = &executor;
}

template <class Backend>
const std::vector<typename Backend::Scalar>& Decoder<Backend>::step(const std::vector<SequenceToken>& tokens) {
  check_step(tokens);
  GraphExecutor<Backend>& executor = *executor_;
  executor_ = nullptr;
  const std::size_t n = tokens.size();
  next_.resize(n);
  parents_.resize(n);
  counts_.assign(counts_.size(), 0);
  for (std::size_t r = 0; r < n; ++r) {
    next_[r] = tokens[r].token;
    parents_[r] = static_cast<std::uint32_t>(tokens[r].parent);
    ++counts_[tokens[r].example];
  }
  detail::send(backend_, n, next_.data(), tokens_.data());
  history_.append(backend_, n, parents_.data());
  pass_.decoding = history_.step();
  if (axis().ragged) {
    rows_.stage(axis().name, counts_.size(), [this](std::size_t e) { return counts_[e]; });
    rows_.use_staged();
    executor.decode(pass_, rows_.part(backend_, 0, counts_.size()));
  } else {
    pass_.examples = n;
    executor.decode(pass_, {n, 1, 0, {1}});
  }
  outputs_.resize(n * output_width());
  detail::read_scalars(backend_, outputs_.size(), executor.result(model_.outputs(), Mode::evaluate), outputs_.data());
  last_ = tokens;
  executor_ = &executor;
  return outputs_;
}

template <class Backend>
const std::vector<typename Backend::Scalar>& Decoder<Backend>::log_sums() {
  const std::size_t n = last_.size(), width = output_width();
  require(executor_ != nullptr && n > 0, "Decoder: log_sums() was called before step()");
  if (sums_.size() == 0) {
    exponentials_ = backend_.template array<Scalar>(element_count(sizes_.rows(), width));
    sums_ = backend_.template array<Scalar>(sizes_.rows());
  }
  backend_.for_each_row(n, 8 * width,
                        detail::LogSums<Stored<Backend>>{width, executor_->result(model_.outputs(), Mode::evaluate),
                                                         exponentials_.data(), sums_.data()});
  log_sums_.resize(n);
  backend_.read(n, static_cast<const Scalar*>(sums_.data()), log_sums_.data());
  return log_sums_;
}

template <class Backend>
void Decoder<Backend>::check_step(const std::vector<SequenceToken>& tokens) const {
  const std::size_t vocabulary = model_.graph().values[field_].tokens;
  require(executor_ != nullptr, "Decoder: step() was called before begin(), or after an exception");
  require(history_.length() < sizes_.steps, "Decoder: the sequences have ", sizes_.steps,
          " tokens already, the most that DecodingSizes allows");
  require(!tokens.empty(), "Decoder: step() was called without tokens");
  for (std::size_t r = 0, of_example = 0; r < tokens.size(); ++r) {
    const SequenceToken& next = tokens[r];
    require(next.example < counts_.size() && (r == 0 || next.example >= tokens[r - 1].example), "Decoder: token ", r,
            " belongs to example ", next.example, ", expected an ascending index below ", counts_.size());
    of_example = r > 0 && next.example == tokens[r - 1].example ? of_example + 1 : 1;
    require(of_example <= sizes_.sequences, "Decoder: example ", next.example, " has more than ", sizes_.sequences,
            " sequences");
    require(history_.length() == 0 || (next.parent < last_.size() && last_[next.parent].example == next.example),
            "Decoder: token ", r, ", of example ", next.example, ", follows token ", next.parent,
            " of the step before, which is none of this example");
    require(next.token >= 0, "Decoder: token ", r, " is ", next.token, ", expected at least 0");
    require(vocabulary == 0 || static_cast<std::size_t>(next.token) < vocabulary, "Decoder: token ", r, " is ",
            next.token, ", expected [0, ", vocabulary, "), the model's vocabulary");
  }
}

}  // namespace algoperf
