// gradient_check: compares a model's backward pass with central differences of the loss. Use it to test custom layers
// and ops:
//
//   const auto check = gradient_check(Model(Shape{5}, MyLayer{}), SoftmaxCrossEntropy{});
//   assert(check.error < 1e-6);   // check.tensor, check.element, check.analytic and check.numeric locate the error
//
// A model function with losses of its own (nn/graph/op.hpp) is checked as gradient_check(function).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/math.hpp"
#include "drawn_rows.hpp"
#include "graph/graph_executor.hpp"
#include "graph/objective.hpp"
#include "graph/ragged_rows.hpp"

namespace algoperf {

struct GradientCheckOptions {
  std::size_t batch = 3;
  std::size_t rows = 4;              // examples have up to this number of rows on ragged axes
  std::size_t capacity = 0;          // of the memory for activations, at least batch; 0: batch
  std::size_t samples = 64;          // elements checked of each tensor and of each field; 0: all
  double step = 1e-5;                // of the differences; retried with step / 8 and step / 64 on disagreement
  double floor = 1e-4;               // errors of smaller gradients are measured relative to this value
  std::size_t tokens = 0;            // tokens, except the field "label", lie in [0, tokens); 0: the model's limit or 16
  std::vector<double> weights = {};  // one per row of the losses; empty: drawn from [0.5, 1.5)
  std::uint64_t seed = 1;
};

// The largest disagreement found.
struct GradientCheck {
  double error = 0;
  std::string tensor;  // the name of the tensor or field
  std::size_t element = 0;
  double analytic = 0, numeric = 0;
};

namespace detail {

template <class B>
class GradientProbe {
  using S = typename B::Scalar;
  template <class T>
  using Array = typename B::template Array<T>;

 public:
  template <class ModelFunction>
  GradientProbe(const ModelFunction& model, const GradientCheckOptions& options, const B& backend)
      : options_(options),
        backend_(backend),
        model_(model, true),
        executor_(backend, model_, options.capacity == 0 ? options.batch : options.capacity) {
    require(options.batch > 0 && executor_.capacity() >= options.batch, "gradient_check: batch is ", options.batch,
            ", expected at least 1 and at most the capacity of ", executor_.capacity());
    require(model_.loss_weights() == nullptr, "gradient_check: the loss is Weighted; check the loss that it wraps");
    draw_rows();
    draw_parameters();
    draw_weights();
    for (const ModelGraph::ValueInfo& info : graph().values)
      if (info.is_field()) fields_.push_back(drawn_field(info));
    for (const Field& field : fields_) executor_.bind(*field.value, field.memory());
  }

  GradientCheck run() {
    executor_.forward(pass());
    executor_.backward(pass());
    const Layout& layout = model_.layout();
    std::vector<S> gradients(layout.size());
    backend_.read(gradients.size(), gradients_.data(), gradients.data());
    std::vector<std::vector<S>> of_fields;
    for (const Field& field : fields_) {
      of_fields.emplace_back(field.host.size());
      if (const S* const gradient = executor_.field_gradient(*field.value); gradient != nullptr)
        backend_.read(field.host.size(), gradient, of_fields.back().data());
    }
    for (const TensorHandle handle : layout.tensors()) {
      if (!layout.spec(handle).trained()) continue;
      const TensorPlace at = layout.place_of(handle);
      compare(layout.spec(handle).name, at.size, gradients.data() + at.offset, host_values_.data() + at.offset,
              values_.data() + at.offset);
    }
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (fields_[i].value->type == ElementType::activation)
        compare(fields_[i].name, fields_[i].host.size(), of_fields[i].data(), fields_[i].host.data(),
                fields_[i].elements.data());
    return worst_;
  }

 private:
  struct Field {
    const char* name;
    const Value* value;
    std::vector<S> host;
    Array<S> elements;
    Array<std::int32_t> tokens;
    const void* memory() const {
      if (value->type == ElementType::token) return tokens.data();
      return elements.data();
    }
  };

  const ModelGraph& graph() const { return model_.graph(); }
  // Returns the rows of each example on an axis.
  ExampleRows rows_on(GraphIndex axis) const {
    return graph().axes[axis].ragged ? ragged_[axis].rows() : ExampleRows{graph().axes[axis].rows};
  }
  std::size_t rows(const Value& value) const { return rows_on(value.axis).begin(options_.batch); }

  void draw_rows() {
    const std::size_t axes = graph().axes.size();
    const std::vector<std::vector<std::size_t>> counts =
        drawn_rows(graph(), options_.batch, options_.rows, RandomKey{options_.seed}.fold(4));
    ragged_ = std::vector<RaggedRows<B>>(axes);
    for (std::size_t i = 0; i < axes; ++i) {
      if (!graph().axes[i].ragged) continue;
      ragged_[i].stage(graph().axes[i].name, options_.batch, [&](std::size_t e) { return counts[i][e]; });
      ragged_[i].use_staged();
      executor_.bind_rows(static_cast<GraphIndex>(i), ragged_[i].part(backend_, 0, options_.batch));
    }
  }

  // Draws the initial values plus noise, so that no parameter is special (a bias of 0, a scale of 1).
  void draw_parameters() {
    const Layout& layout = model_.layout();
    const RandomKey key{options_.seed};
    host_values_.resize(layout.size());
    Initializer<S> set(layout, host_values_.data(), key);
    model_.initialize(set);
    RandomStream random(key.fold(1));
    for (const TensorHandle handle : layout.tensors()) {
      const TensorPlace at = layout.place_of(handle);
      for (std::size_t i = at.offset; i < at.offset + at.size; ++i)
        host_values_[i] += static_cast<S>(0.1 * random.normal());
    }
    values_ = backend_.template array<S>(layout.size());
    gradients_ = backend_.template array<S>(layout.size());
    backend_.write(layout.size(), host_values_.data(), values_.data());
  }
  // Weights other than 1, so that a loss that ignores its weights fails the check.
  void draw_weights() {
    std::size_t most = 0;
    for (const ModelGraph::Op& op : graph().ops)
      if (op.loss) most = math::max(most, rows(graph().values[graph().output(op, 0)].value));
    require(most > 0, "gradient_check: the model has no loss");
    require(options_.weights.empty() || options_.weights.size() == most, "gradient_check: there are ",
            options_.weights.size(), " weights, expected one for each of the ", most, " rows of the losses");
    RandomStream random(RandomKey{options_.seed}.fold(2));
    for (std::size_t i = 0; i < most; ++i)
      host_weights_.push_back(
          static_cast<S>(options_.weights.empty() ? 0.5 + random.uniform_double() : options_.weights[i]));
    weights_ = backend_.template array<S>(most);
    backend_.write(most, host_weights_.data(), weights_.data());
  }
  Field drawn_field(const ModelGraph::ValueInfo& info) const {
    const std::size_t n = rows(info.value) * info.value.shape.size();
    RandomStream random(RandomKey{options_.seed}.fold(3).fold(info.value.index));
    Field field{info.field, &info.value, {}, {}, {}};
    if (info.value.type != ElementType::token) {
      for (std::size_t i = 0; i < n; ++i) field.host.push_back(static_cast<S>(random.normal()));
      field.elements = backend_.template array<S>(n);
      backend_.write(n, field.host.data(), field.elements.data());
      return field;
    }
    // A field with several limits has the smallest, and labels are not affected by options_.tokens.
    const std::size_t limit = info.tokens > 0 ? info.tokens : 16;
    const bool label = same_text(info.field, "label");
    require(label || info.tokens == 0 || options_.tokens <= limit, "gradient_check: tokens is ", options_.tokens,
            ", expected at most ", limit, ", the size of the model's vocabulary");
    const std::size_t tokens = label || options_.tokens == 0 ? limit : options_.tokens;
    std::vector<std::int32_t> host;
    const ExampleRows of_field = rows_on(info.value.axis);
    for (std::size_t e = 0; e < options_.batch; ++e) {
      const std::size_t below = info.indexes_axis == no_index ? tokens : rows_on(info.indexes_axis).count(e);
      for (std::size_t i = 0; i < of_field.count(e) * info.value.shape.size(); ++i)
        host.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(below))));
    }
    field.tokens = backend_.template array<std::int32_t>(n);
    backend_.write(n, host.data(), field.tokens.data());
    return field;
  }

  GraphPass<B> pass() {
    GraphPass<B> pass;
    pass.values = values_.data();
    pass.gradients = gradients_.data();
    pass.examples = options_.batch;
    pass.key = RandomKey{options_.seed};
    pass.weights = weights_.data();
    return pass;
  }

  // The sum of sum(weights * losses) / rows over all losses of the model.
  double loss() {
    executor_.forward(pass());
    double total = 0;
    for (const ModelGraph::Op& op : graph().ops) {
      if (!op.loss) continue;
      const Value& value = graph().values[graph().output(op, 0)].value;
      host_losses_.resize(rows(value));
      backend_.read(host_losses_.size(), executor_.template result<S>(value), host_losses_.data());
      double sum = 0;
      for (std::size_t i = 0; i < host_losses_.size(); ++i)
        sum += static_cast<double>(host_weights_[i]) * static_cast<double>(host_losses_[i]);
      if (!host_losses_.empty()) total += sum / static_cast<double>(host_losses_.size());
    }
    return total;
  }

  void compare(const std::string& name, std::size_t size, const S* gradient, const S* host, S* x) {
    double squares = 0;
    for (std::size_t i = 0; i < size; ++i) squares += static_cast<double>(gradient[i]) * gradient[i];
    const double typical = math::sqrt(squares / static_cast<double>(size));
    const std::size_t count = options_.samples == 0 || options_.samples > size ? size : options_.samples;
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t i = n * size / count;
      GradientCheck at{2, name, i, static_cast<double>(gradient[i]), 0};
      for (double step = options_.step; step > options_.step / 100 && at.error > 1e-8; step /= 8) {
        const double numeric = difference(host[i], x + i, static_cast<S>(step));
        const double error = relative(at.analytic, numeric, typical);
        if (!(error < at.error)) continue;
        at.error = error;
        at.numeric = numeric;
      }
      if (at.error > worst_.error) worst_ = at;
    }
  }

  double difference(S value, S* x, S step) {
    const S above = value + step, below = value - step;
    backend_.write(1, &above, x);
    const double more = loss();
    backend_.write(1, &below, x);
    const double less = loss();
    backend_.write(1, &value, x);
    return (more - less) / (static_cast<double>(above) - static_cast<double>(below));
  }

  double relative(double a, double b, double typical) const {
    const double scale = math::max(math::max(math::abs(a), math::abs(b)), math::max(typical, options_.floor));
    return math::abs(a - b) / scale;
  }

  const GradientCheckOptions& options_;
  const B& backend_;
  RecordedModel<B> model_;
  GraphExecutor<B> executor_;
  std::vector<RaggedRows<B>> ragged_;  // of each axis; of use for ragged ones
  std::vector<S> host_values_, host_weights_, host_losses_;
  std::vector<Field> fields_;
  Array<S> values_, gradients_, weights_;
  GradientCheck worst_;
};

}  // namespace detail

// Compares the gradient of the model's losses, the sum of sum(weights * losses) / rows over all of them, with central
// differences (f(x + h) - f(x - h)) / 2h, for every parameter and every field of activations. Parameters, inputs and
// labels are random. The error of an element is
//   |analytic - numeric| / max(|analytic|, |numeric|, the tensor's root mean square, floor),
// the minimum over three steps h. A smaller step helps near the kink of a ReLU, but not if the gradient is wrong. A NaN
// counts as an error of 2. With Host<double>, the error of a correct backward stays below 1e-6.
// Cost: at least two forward passes per checked element. `samples` limits the elements checked per tensor, which are
// evenly spaced.
template <class ModelFunction, class B = Host<double>>
GradientCheck gradient_check(const ModelFunction& model, const GradientCheckOptions& options = {},
                             const B& backend = {}) {
  return detail::GradientProbe<B>(model, options, backend).run();
}
// The same for a model and a loss of its outputs.
template <class Model, class Loss, class B = Host<double>>
GradientCheck gradient_check(const Model& model, const Loss& loss, const GradientCheckOptions& options = {},
                             const B& backend = {}) {
  return gradient_check(Objective<Model, Loss>{model, loss}, options, backend);
}

}  // namespace algoperf
