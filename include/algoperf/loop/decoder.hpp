// Decoder: runs a model on sequences that grow by a token per step. Each step computes the new rows only: attention
// keeps the keys and values of earlier steps, and whatever does not depend on the sequences, such as an encoder, runs
// once.
//
//   auto decoder = predictor.decoder({.examples = 8, .sequences = 4, .steps = 64});
//   decoder.begin(sources, 0, 8);                            the sentences to translate
//   const auto& logits = decoder.step(tokens);               the logits of the tokens that follow
//
// beam_search (nn/beam_search.hpp) and generate (generate.hpp) use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "../nn/decoding.hpp"
#include "../nn/graph/decoding_order.hpp"
#include "../nn/graph/sequence_history.hpp"
#include "../nn/log_sums.hpp"
#include "batch_executor.hpp"
#include "check_fields.hpp"
#include "read_scalars.hpp"

namespace algoperf {

// Sequences lie on the axis of the model's outputs, the decoded axis, from which the model must read one field, a token
// per row. Each op on this axis must compute a row from this and earlier rows only: causal Attention, Lstm, positions,
// and ops and layers on single rows. If the decoded axis is not ragged, the model must read no other field, and each
// sequence counts as an example.
// Outputs are those of Predictor::predict for the whole sequences, except for rounding.
// Cost: per step, one row of the model for each sequence. A layer of attention keeps 2 width elements per sequence and
// step.
template <class BackendType>
class Decoder {
 public:
  using Backend = BackendType;
  using Scalar = typename Backend::Scalar;

  // The model and its parameters, an arena with its layout, must outlive the Decoder. Throws Error if the model cannot
  // decode, naming the op, and if it limits sequences to fewer steps.
  Decoder(const Backend& backend, const RecordedModel<Backend>& model, const Scalar* values,
          const DecodingSizes& sizes = {});
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Returns the number of elements of a row of the outputs, such as the size of a vocabulary.
  std::size_t output_width() const { return model_.outputs().shape.size(); }

  // Begins new sequences for examples [first, first + n) of a data set: one with all fields that the outputs depend on,
  // in which examples have no rows on the decoded axis.
  template <class Data>
  void begin(const Data& data, std::size_t first, std::size_t n) {
    check_begin(n);
    detail::check_fits(model_.graph(), data, false);
    work_.batch.load_range(backend_, data, first, n, false);
    begin_pass(n);
  }
  // The same for a model that reads no other field.
  void begin(std::size_t n);
  // Appends tokens to sequences, whose examples must be in ascending order, and returns the outputs, a row per token.
  // Sequences that no token continues end.
  const std::vector<Scalar>& step(const std::vector<SequenceToken>& tokens);
  // Returns log(sum_k exp(z_k)) of each row z of the outputs of the last step: z_k minus it is a log-probability.
  const std::vector<Scalar>& log_sums();

 private:
  const Axis& axis() const { return model_.graph().axes[decoded_axis_]; }
  std::size_t rows() const { return sizes_.examples * sizes_.sequences; }
  std::size_t most_examples() const { return axis().ragged ? sizes_.examples : rows(); }
  static GraphIndex token_field(const RecordedModel<Backend>& model);
  void check_begin(std::size_t n) const;
  void begin_pass(std::size_t n);
  void check_step(const std::vector<SequenceToken>& tokens) const;

  Backend backend_;
  const RecordedModel<Backend>& model_;
  const Scalar* values_;
  DecodingSizes sizes_;
  GraphIndex field_, decoded_axis_;
  BatchExecutor<Backend> work_;
  SequenceHistory<Backend> history_;
  typename Backend::template Array<std::int32_t> tokens_;
  RaggedRows<Backend> ragged_;
  GraphExecutor<Backend>* executor_ = nullptr;
  GraphPass<Backend> pass_ = {};
  std::vector<std::int32_t> next_;
  std::vector<std::uint32_t> parents_, counts_;  // of the step: of each row; of each example
  std::vector<SequenceToken> last_;              // of the step before
  std::vector<Scalar> outputs_, log_sums_;
  typename Backend::template Array<Scalar> exponentials_, sums_;
};

namespace detail {

inline DecodingSizes checked(const DecodingSizes& sizes) {
  sizes.check();
  return sizes;
}

}  // namespace detail

template <class Backend>
ALGOPERF_COLD Decoder<Backend>::Decoder(const Backend& backend, const RecordedModel<Backend>& model,
                                        const Scalar* values, const DecodingSizes& sizes)
    : backend_(backend),
      model_(model),
      values_(values),
      sizes_(detail::checked(sizes)),
      field_(token_field(model)),
      decoded_axis_(model.outputs().axis),
      work_(backend, model, most_examples(), most_examples(), {.training = false, .decoded_axis = decoded_axis_}),
      history_(backend, model.graph(), rows(), sizes.steps),
      tokens_(backend.template array<std::int32_t>(rows())) {
  const std::size_t most = axis().ragged ? axis().most : axis().rows;
  require(most == 0 || sizes.steps <= most, "Decoder: sequences have up to ", sizes.steps,
          " steps, but the model processes at most ", most, " rows on the axis '", axis().name, "'",
          axis().most > 0 ? std::string(" (") + axis().limit + ")" : "");
}

// Returns the field of the tokens. Throws Error if the model cannot decode.
template <class Backend>
ALGOPERF_COLD GraphIndex Decoder<Backend>::token_field(const RecordedModel<Backend>& model) {
  const ModelGraph& graph = model.graph();
  const GraphIndex decoded = model.outputs().axis;
  const Axis& axis = graph.axes[decoded];
  require(decoded != examples_axis, "Decoder: the model has one row of outputs per example, expected one per token");
  GraphIndex found = no_index;
  for (const ModelGraph::ValueInfo& info : graph.values) {
    if (!info.is_field() || !detail::outputs_need(graph, info)) continue;
    const bool on_axis = info.value.axis == decoded;
    require(on_axis || axis.ragged, "Decoder: the model reads the field '", info.field, "' beside tokens on the axis '",
            axis.name, "', which must then be ragged");
    if (!on_axis) continue;
    require(found == no_index && info.value.type == ElementType::token && info.value.shape.size() == 1,
            "Decoder: the model reads the field '", info.field, "' on the axis '", axis.name,
            "', expected one field there, of one token per row");
    found = info.value.index;
  }
  require(found != no_index, "Decoder: the model reads no field of tokens on the axis '", axis.name,
          "' of its outputs");
  if (const ModelGraph::Op* const op = detail::find_undecodable(graph, decoded))
    fail("Decoder: ", graph.path(op->scope, op->name), " does not compute each row on the axis '", axis.name,
         "' from this and earlier rows only");
  return found;
}

template <class Backend>
void Decoder<Backend>::check_begin(std::size_t n) const {
  require(n > 0 && n <= sizes_.examples, "Decoder: begin() was called for ", n, " examples, expected 1 to ",
          sizes_.examples);
}

template <class Backend>
void Decoder<Backend>::begin(std::size_t n) {
  require(!axis().ragged, "Decoder: begin() needs a data set with the fields that the model reads");
  check_begin(n);
  begin_pass(n);
}

template <class Backend>
void Decoder<Backend>::begin_pass(std::size_t n) {
  executor_ = &work_.executor_of(backend_, 0, axis().ragged ? n : 0);
  executor_->bind(model_.graph().values[field_].value, tokens_.data());
  history_.clear();
  last_.clear();
  counts_.assign(n, 0);
  if (axis().ragged) {
    AxisRows most;
    most.count = rows();
    most.rows = ragged_.rows();
    executor_->bind_rows(decoded_axis_, most);
  }
  pass_.values = values_;
  pass_.examples = n;
  pass_.mode = Mode::evaluate;
  pass_.decoding = nullptr;
  executor_->forward_before_decoding(pass_);
}

template <class Backend>
const std::vector<typename Backend::Scalar>& Decoder<Backend>::step(const std::vector<SequenceToken>& tokens) {
  check_step(tokens);
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
  AxisRows step;
  step.count = n;
  step.longest = 1;
  if (axis().ragged) {
    ragged_.stage(axis().name, counts_.size(), [this](std::size_t e) { return counts_[e]; });
    ragged_.use_staged();
    step = ragged_.part(backend_, 0, counts_.size());
  } else {
    pass_.examples = n;
  }
  pass_.decoding = history_.step();
  executor_->decode(pass_, step);
  outputs_.resize(n * output_width());
  detail::read_scalars(backend_, outputs_.size(), executor_->result(model_.outputs(), Mode::evaluate), outputs_.data());
  last_ = tokens;
  return outputs_;
}

template <class Backend>
const std::vector<typename Backend::Scalar>& Decoder<Backend>::log_sums() {
  const std::size_t n = last_.size(), width = output_width();
  require(n > 0, "Decoder: log_sums() was called before step()");
  if (sums_.size() == 0) {
    exponentials_ = backend_.template array<Scalar>(element_count(rows(), width));
    sums_ = backend_.template array<Scalar>(rows());
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
  require(executor_ != nullptr, "Decoder: step() was called before begin()");
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
            "Decoder: token ", r, ", of example ", next.example, ", continues row ", next.parent,
            " of the step before, which is not a row of this example");
    require(next.token >= 0 && (vocabulary == 0 || static_cast<std::size_t>(next.token) < vocabulary),
            "Decoder: token ", r, " is ", next.token, ", expected [0, ", vocabulary, "), the model's vocabulary");
  }
}

}  // namespace algoperf
