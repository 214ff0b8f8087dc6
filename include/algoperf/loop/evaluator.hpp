// Evaluator: a recorded model with memory for its passes over batches, which evaluates and predicts at any parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "../data/concept.hpp"
#include "batch_executor.hpp"
#include "evaluation_sums.hpp"
#include "read_scalars.hpp"

namespace algoperf {

// Long members that depend on no data set and no metric are defined outside of the class, so that algoperf::gemm can
// contain them (compiled.hpp).
template <class BackendType>
class Evaluator {
 public:
  using Backend = BackendType;
  using Scalar = typename Backend::Scalar;
  using Activation = Stored<Backend>;
  using Work = BatchExecutor<Backend>;

  // For batches of up to `capacity` examples, of which a pass covers at most `at_once`.
  Evaluator(const Backend& backend, const ModelFunctionRef<Backend>& model, std::size_t capacity, std::size_t at_once,
            const ExecutorOptions& options = {});
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  const Backend& backend() const { return backend_; }
  const RecordedModel<Backend>& model() const { return recorded_; }
  RecordedModel<Backend>& model() { return recorded_; }
  const ModelGraph& graph() const { return recorded_.graph(); }
  Work& work() { return work_; }
  const Work& work() const { return work_; }
  // Returns the number of elements of the model's outputs for examples [begin, begin + n) of a data set.
  template <class Data>
  std::size_t output_size(const Data& data, std::size_t begin, std::size_t n) const {
    const Axis& axis = graph().axes[recorded_.outputs().axis];
    std::size_t rows = axis.ragged ? 0 : n * axis.rows;
    for (std::size_t i = begin; axis.ragged && i < begin + n; ++i) rows += detail::rows_on(data, axis.name, i);
    return rows * recorded_.outputs().shape.size();
  }

  // Adds the losses and the scores of examples [begin, begin + n) to `sums`, EvaluationSums<Metric> or derived from it.
  // Requires a model with one loss. A metric that generates adds no scores.
  template <class Data, class Metric, class Sums>
  void evaluate(const Data& data, const Metric& metric, const Scalar* values, std::size_t begin, std::size_t n,
                Sums& sums) {
    using Label = detail::LabelInMemory<Data, Scalar>;
    Work& work = work_for(n);
    work.batch.load_range(backend_, data, begin, n);
    const Activation* const outputs = forward(work, values, n);
    sums.weight += sum_of_weights(work, 0, n);
    sums.loss += sum_of_losses(work, n);
    if constexpr (!GeneratingMetric<Metric>) add_scores<Label>(metric, work, n, outputs, sums);
  }
  // Returns the outputs of all examples of a data set, row by row, in host memory; computes `batch` examples at a time.
  template <class Data>
  std::vector<Scalar> predict(const Data& data, const Scalar* values, std::size_t batch) {
    return predict(data, values, batch, 0, data.size());
  }
  // The same for examples [first, end).
  template <class Data>
  std::vector<Scalar> predict(const Data& data, const Scalar* values, std::size_t batch, std::size_t first,
                              std::size_t end) {
    std::vector<Scalar> outputs(output_size(data, first, end - first));
    for (std::size_t begin = first, done = 0; begin < end; begin += batch) {
      const std::size_t n = end - begin < batch ? end - begin : batch;
      Work& work = work_for(n);
      work.batch.load_range(backend_, data, begin, n, false);
      const std::size_t count = output_size(data, begin, n);
      read_outputs(work, values, n, count, outputs.data() + done);
      done += count;
    }
    return outputs;
  }

  // Returns the weights of a Weighted loss's rows from example `begin` on, or null.
  const Scalar* loss_weights(const Work& work, std::size_t begin = 0) const {
    if (weights_field_ == work.batch.fields()) return nullptr;
    return static_cast<const Scalar*>(work.batch.data(weights_field_, begin));
  }
  // Returns the sum of the weights of n examples' rows; without weights, the number of rows.
  double sum_of_weights(const Work& work, std::size_t begin, std::size_t n) const;

 private:
  // Adds the scores of the rows of the first n examples to `sums`. Overwrites their losses.
  template <class Label, class Metric, class Sums>
  void add_scores(const Metric& metric, Work& work, std::size_t n, const Activation* outputs, Sums& sums) const {
    const std::size_t label = label_of(work, Metric::name, !AccumulatingMetric<Metric>, decodes<Metric>());
    const ExampleRows rows_of = work.batch.rows(recorded_.outputs().axis);
    const std::size_t rows = rows_of.begin(n), width = recorded_.outputs().shape.size();
    const auto* const labels = static_cast<const Label*>(work.batch.data(label));
    if constexpr (AccumulatingMetric<Metric>) {
      const bool weighted = recorded_.losses().axis == recorded_.outputs().axis;
      const Scalar* const weights = weighted ? loss_weights(work) : nullptr;
      std::vector<Scalar> host_outputs(rows * width);
      detail::read_scalars(backend_, host_outputs.size(), outputs, host_outputs.data());
      const auto host_labels = read(work.batch.entry(label, n) * work.batch.width(label), labels);
      const auto host_weights = read(weights == nullptr ? 0 : rows, weights);
      EvaluatedRows<Scalar, Label> evaluated{rows,
                                             width,
                                             host_outputs.data(),
                                             host_labels.data(),
                                             weights == nullptr ? nullptr : host_weights.data(),
                                             n,
                                             rows_of,
                                             work.batch.rows(work.batch.value(label).axis)};
      if constexpr (requires { metric.fields(); })
        for (const char* const name : metric.fields()) {
          const std::size_t field = field_of(work, Metric::name, name);
          evaluated.fields.push_back(read(work.batch.entry(field, n) * work.batch.width(field),
                                          static_cast<const Scalar*>(work.batch.data(field))));
        }
      sums.add(metric, evaluated, host_labels.size());
    } else {
      metric.write(backend_, rows, width, outputs, labels, work.losses());
      sums.state += sum_of_losses(work, n);
    }
  }
  // Returns the field of the batch that holds the labels. Throws Error if the loss does not read it; unless the metric
  // decodes, if it has no label per row of the outputs; and if the metric is a mean over losses of other rows.
  std::size_t label_of(const Work& work, const char* metric, bool is_mean, bool decodes) const;
  // Returns the field of the batch that a metric reads by name. Throws Error if there is none, of real values of type
  // `parameter`.
  std::size_t field_of(const Work& work, const char* metric, const char* name) const;
  template <class Metric>
  static constexpr bool decodes() {
    if constexpr (requires { Metric::decodes; })
      return Metric::decodes;
    else
      return false;
  }
  // Returns n elements of the backend's memory.
  template <class T>
  std::vector<T> read(std::size_t n, const T* from) const {
    std::vector<T> values(n);
    if (n > 0) backend_.read(n, from, values.data());
    return values;
  }

  // Returns memory for n examples: that of the constructor if it is large enough, else memory that is allocated for
  // this purpose and kept.
  Work& work_for(std::size_t n);
  // Computes the outputs and losses of the first n examples, and returns the outputs.
  const Activation* forward(Work& work, const Scalar* values, std::size_t n) const;
  // Writes `count` elements of the first n examples' outputs.
  void read_outputs(Work& work, const Scalar* values, std::size_t n, std::size_t count, Scalar* outputs) const;
  GraphPass<Backend> pass_over(const Scalar* values, std::size_t n) const;
  // Returns the sum of the losses of the first n examples' rows, times their weights.
  double sum_of_losses(Work& work, std::size_t n) const;

  Backend backend_;
  RecordedModel<Backend> recorded_;
  Work work_;
  std::optional<Work> large_work_;
  std::size_t weights_field_;  // of the batch; the number of fields if losses have no weights
};

template <class Backend>
ALGOPERF_COLD Evaluator<Backend>::Evaluator(const Backend& backend, const ModelFunctionRef<Backend>& model,
                                            std::size_t capacity, std::size_t at_once, const ExecutorOptions& options)
    : backend_(backend),
      recorded_(model),
      work_(backend_, recorded_, capacity, at_once, options),
      weights_field_(work_.batch.fields()) {
  if (const Value* const weights = recorded_.loss_weights())
    weights_field_ = work_.batch.find(graph().values[weights->index].field);
}

template <class Backend>
Evaluator<Backend>::~Evaluator() = default;

template <class Backend>
double Evaluator<Backend>::sum_of_weights(const Work& work, std::size_t begin, std::size_t n) const {
  const std::size_t rows = work.loss_rows().begin(begin + n) - work.loss_rows().begin(begin);
  const Scalar* const weights = loss_weights(work, begin);
  return weights == nullptr ? static_cast<double>(rows) : backend_.sum(rows, weights);
}

template <class Backend>
ALGOPERF_COLD std::size_t Evaluator<Backend>::label_of(const Work& work, const char* metric, bool is_mean,
                                                       bool decodes) const {
  const std::size_t label = work.batch.find("label");
  require(label < work.batch.fields(), "the metric '", metric,
          "' compares the outputs with the field 'label', which the loss does not read");
  const Value &labels = work.batch.value(label), &outputs = recorded_.outputs(), &losses = recorded_.losses();
  const auto axis_name = [this](const Value& value) { return graph().axes[value.axis].name; };
  const std::size_t elements = labels.type == ElementType::token ? 1 : outputs.shape.size();
  require(decodes || (labels.axis == outputs.axis && labels.shape.size() == elements), "the metric '", metric,
          "' compares each row of the outputs, on the axis '", axis_name(outputs), "', with a label, but labels have ",
          labels.shape.size(), " elements on the axis '", axis_name(labels), "'");
  require(!is_mean || losses.axis == outputs.axis, "the metric '", metric, "' has a score per row of the outputs, on '",
          axis_name(outputs), "', but losses lie on '", axis_name(losses), "': use a metric with a State");
  return label;
}

template <class Backend>
ALGOPERF_COLD std::size_t Evaluator<Backend>::field_of(const Work& work, const char* metric, const char* name) const {
  const std::size_t field = work.batch.find(name);
  require(field < work.batch.fields() && work.batch.value(field).type == ElementType::parameter, "the metric '", metric,
          "' reads the field '", name,
          "', which neither the model nor the loss declares with elements of type "
          "`parameter`");
  return field;
}

template <class Backend>
BatchExecutor<Backend>& Evaluator<Backend>::work_for(std::size_t n) {
  if (n <= work_.at_once()) return work_;
  ExecutorOptions options;
  options.training = false;
  if (!large_work_ || large_work_->at_once() < n) large_work_.emplace(backend_, recorded_, n, n, options);
  return *large_work_;
}

template <class Backend>
const Stored<Backend>* Evaluator<Backend>::forward(Work& work, const Scalar* values, std::size_t n) const {
  GraphExecutor<Backend>& executor = work.executor_of(backend_, 0, n);
  executor.forward(pass_over(values, n));
  return executor.result(recorded_.outputs(), Mode::evaluate);
}

template <class Backend>
void Evaluator<Backend>::read_outputs(Work& work, const Scalar* values, std::size_t n, std::size_t count,
                                      Scalar* outputs) const {
  GraphExecutor<Backend>& executor = work.executor_of(backend_, 0, n);
  executor.forward_to_outputs(pass_over(values, n));
  detail::read_scalars(backend_, count, executor.result(recorded_.outputs(), Mode::evaluate), outputs);
}

template <class Backend>
GraphPass<Backend> Evaluator<Backend>::pass_over(const Scalar* values, std::size_t n) const {
  GraphPass<Backend> pass;
  pass.values = values;
  pass.examples = n;
  pass.mode = Mode::evaluate;
  return pass;
}

template <class Backend>
double Evaluator<Backend>::sum_of_losses(Work& work, std::size_t n) const {
  const std::size_t rows = work.loss_rows().begin(n);
  const Scalar *const weights = loss_weights(work), *const losses = work.losses();
  return weights == nullptr ? backend_.sum(rows, losses) : backend_.dot(rows, losses, weights);
}

}  // namespace algoperf
