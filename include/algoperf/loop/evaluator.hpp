// Evaluator: a recorded model with memory for its passes over batches, which evaluates and predicts at any parameters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "../data/concept.hpp"
#include "batch_executor.hpp"
#include "evaluation_sums.hpp"

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
  // Returns the number of rows, and of elements, of the model's output for one example.
  std::size_t output_rows() const { return graph().axes[recorded_.outputs().axis].rows; }
  std::size_t output_size() const { return output_rows() * recorded_.outputs().shape.size(); }

  // Adds the losses and the scores of examples [begin, begin + n) to `sums`. Requires a model with one loss.
  template <class Data, class Metric>
  void evaluate(const Data& data, const Metric& metric, const Scalar* values, std::size_t begin, std::size_t n,
                detail::EvaluationSums<Metric>& sums) {
    using Label = detail::LabelInMemory<Data, Scalar>;
    Work& work = work_for(n);
    work.batch.load_range(backend_, data, begin, n);
    const Activation* const outputs = forward(work, values, n);
    sums.weight += sum_of_weights(work, 0, n);
    sums.loss += sum_of_losses(work, n);
    add_scores(metric, work, n, outputs, static_cast<const Label*>(work.batch.data(work.batch.find("label"))),
               sums.state);
  }
  // Writes the outputs of examples [begin, begin + n) to host memory, row by row.
  template <class Data>
  void predict(const Data& data, const Scalar* values, std::size_t begin, std::size_t n, Scalar* outputs) {
    Work& work = work_for(n);
    work.batch.load_range(backend_, data, begin, n, false);
    read_outputs(work, values, n, outputs);
  }

  // Returns the weights of a Weighted loss's rows from example `begin` on, or null.
  const Scalar* loss_weights(const Work& work, std::size_t begin = 0) const {
    if (weights_field_ == work.batch.fields()) return nullptr;
    return static_cast<const Scalar*>(work.batch.data(weights_field_, begin));
  }
  // Returns the sum of the weights of n examples' rows; without weights, the number of rows.
  double sum_of_weights(const Work& work, std::size_t begin, std::size_t n) const;

 private:
  // Adds the scores of the rows of the first n examples to `state`. Overwrites their losses.
  template <class Metric, class Label>
  void add_scores(const Metric& metric, Work& work, std::size_t n, const Activation* outputs, const Label* labels,
                  typename detail::MetricState<Metric>::type& state) const {
    const std::size_t rows = n * work.losses_per_example(), width = recorded_.outputs().shape.size();
    if constexpr (AccumulatingMetric<Metric>) {
      const Scalar* const weights = loss_weights(work);
      const auto host_outputs = read_scalars(rows * width, outputs);
      const auto host_labels = read(rows * (std::is_same_v<Label, std::int32_t> ? 1 : width), labels);
      const auto host_weights = read(weights == nullptr ? 0 : rows, weights);
      metric.add(state, EvaluatedRows<Scalar, Label>{rows, width, host_outputs.data(), host_labels.data(),
                                                     weights == nullptr ? nullptr : host_weights.data()});
    } else {
      metric.write(backend_, rows, width, outputs, labels, work.losses());
      state += sum_of_losses(work, n);
    }
  }
  // Return n elements of the backend's memory, and n activations as scalars.
  template <class T>
  std::vector<T> read(std::size_t n, const T* from) const {
    std::vector<T> values(n);
    if (n > 0) backend_.read(n, from, values.data());
    return values;
  }
  std::vector<Scalar> read_scalars(std::size_t n, const Activation* from) const;

  // Returns memory for n examples: that of the constructor if it is large enough, else memory that is allocated for
  // this purpose and kept.
  Work& work_for(std::size_t n);
  // Computes the outputs and losses of the first n examples, and returns the outputs.
  const Activation* forward(Work& work, const Scalar* values, std::size_t n) const;
  void read_outputs(Work& work, const Scalar* values, std::size_t n, Scalar* outputs) const;
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
  const std::size_t rows = n * work.losses_per_example();
  const Scalar* const weights = loss_weights(work, begin);
  return weights == nullptr ? static_cast<double>(rows) : backend_.sum(rows, weights);
}

template <class Backend>
std::vector<typename Backend::Scalar> Evaluator<Backend>::read_scalars(std::size_t n, const Activation* from) const {
  if constexpr (std::is_same_v<Activation, Scalar>) {
    return read(n, from);
  } else {
    const std::vector<Activation> stored = read(n, from);
    return {stored.begin(), stored.end()};
  }
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
  GraphExecutor<Backend>& executor = work.executor_from(0);
  executor.forward(pass_over(values, n));
  return executor.result(recorded_.outputs(), Mode::evaluate);
}

template <class Backend>
void Evaluator<Backend>::read_outputs(Work& work, const Scalar* values, std::size_t n, Scalar* outputs) const {
  const std::size_t count = n * output_size();
  GraphExecutor<Backend>& executor = work.executor_from(0);
  executor.forward_to_outputs(pass_over(values, n));
  const Activation* const from = executor.result(recorded_.outputs(), Mode::evaluate);
  if constexpr (std::is_same_v<Activation, Scalar>) {
    backend_.read(count, from, outputs);
  } else {
    const auto stored = read(count, from);
    std::copy(stored.begin(), stored.end(), outputs);
  }
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
  const std::size_t rows = n * work.losses_per_example();
  const Scalar *const weights = loss_weights(work), *const losses = work.losses();
  return weights == nullptr ? backend_.sum(rows, losses) : backend_.dot(rows, losses, weights);
}

}  // namespace algoperf
