// gradient_check: compares a model's backward pass with central differences of the loss. Use it to test custom layers:
//
//   const auto check = gradient_check(Model(Shape{5}, MyLayer{}), SoftmaxCrossEntropy{});
//   assert(check.error < 1e-6);   // check.tensor, check.element, check.analytic and check.numeric locate the error
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../core/math.hpp"
#include "concept.hpp"
#include "init.hpp"
#include "workspace.hpp"

namespace algoperf {

struct GradientCheckOptions {
  std::size_t batch = 3;
  std::size_t capacity = 0;          // of the workspace, at least batch; 0: batch
  std::size_t samples = 64;          // elements checked of each tensor and of the input; 0: all
  double step = 1e-5;                // of the differences; retried with step / 8 and step / 64 on disagreement
  double floor = 1e-4;               // errors of smaller gradients are measured relative to this value
  std::size_t tokens = 0;            // integer inputs lie in [0, tokens); 0: the model's tokens() if any, else 16
  std::vector<double> weights = {};  // one per example; empty: drawn from [0.5, 1.5)
  std::uint64_t seed = 1;
};

// The largest disagreement found.
struct GradientCheck {
  double error = 0;
  std::string tensor;  // the tensor's name, or "input"
  std::size_t element = 0;
  double analytic = 0, numeric = 0;
};

namespace detail {

template <class B, class Model, class Loss>
class GradientProbe {
  using S = typename B::Scalar;
  using X = typename Model::template Input<S>;
  using Label = LossLabel<Loss, S>;
  static constexpr bool differentiable_input = std::is_same_v<X, S>;

 public:
  GradientProbe(const Model& model, const Loss& loss, const GradientCheckOptions& options, const B& backend)
      : model_(model),
        loss_(loss),
        options_(options),
        backend_(backend),
        batch_(options.batch),
        tokens_(options.tokens == 0 ? 16 : options.tokens),
        classes_(model.output().size()),
        handles_(model.declare(layout_)),
        workspace_(backend, model, options.capacity == 0 ? options.batch : options.capacity),
        host_values_(layout_.size()),
        host_x_(batch_ * model.input().size()),
        host_losses_(batch_),
        host_weights_(options.weights.empty() ? drawn_weights(options.batch, options.seed) : options.weights),
        values_(backend.template array<S>(layout_.size())),
        gradients_(backend.template array<S>(layout_.size())),
        x_(backend.template array<X>(host_x_.size())),
        d_x_(backend.template array<S>(host_x_.size())),
        labels_(backend.template array<Label>(batch_ * label_width())),
        weights_(backend.template array<S>(batch_)),
        losses_(backend.template array<S>(batch_)),
        d_logits_(backend.template array<S>(batch_ * classes_)) {
    require(batch_ > 0 && workspace_.capacity() >= batch_, "gradient_check: batch is ", batch_,
            ", expected at least 1 and at most the capacity of ", workspace_.capacity());
    require(host_weights_.size() == batch_, "gradient_check: there are ", host_weights_.size(),
            " weights, expected one for each of the ", batch_, " examples");
    if constexpr (detail::HasTokens<Model>) {
      require(options.tokens <= model.tokens(), "gradient_check: tokens is ", options.tokens, ", expected at most ",
              model.tokens(), ", the size of the model's vocabulary");
      if (options.tokens == 0) tokens_ = model.tokens();
    }
    draw();
  }

  GradientCheck run() {
    std::vector<S> gradients(layout_.size()), d_x(host_x_.size());
    loss(d_logits_.data());
    const auto call = this->call();
    if constexpr (differentiable_input) {
      model_.backward(call, handles_, x_.data(), d_logits_.data(), d_x_.data());
      backend_.read(d_x.size(), d_x_.data(), d_x.data());
    } else {
      model_.backward(call, handles_, x_.data(), d_logits_.data());
    }
    backend_.read(gradients.size(), gradients_.data(), gradients.data());
    for (const TensorHandle handle : layout_.tensors()) {
      if (!layout_.spec(handle).trained()) continue;
      const TensorPlace at = layout_.place_of(handle);
      compare(layout_.spec(handle).name, at.size, gradients.data() + at.offset, host_values_.data() + at.offset,
              values_.data() + at.offset);
    }
    if constexpr (differentiable_input) compare("input", d_x.size(), d_x.data(), host_x_.data(), x_.data());
    return worst_;
  }

 private:
  // Draws the parameters, the inputs and the labels. The parameters are the initial values plus noise, so that none is
  // special (a bias of 0, a scale of 1).
  void draw() {
    const RandomKey key{options_.seed};
    Initializer<S> set(layout_, host_values_.data(), key);
    model_.initialize(set, handles_);
    RandomStream random(key.fold(1));
    for (const TensorHandle handle : layout_.tensors()) {
      const TensorPlace at = layout_.place_of(handle);
      for (std::size_t i = at.offset; i < at.offset + at.size; ++i)
        host_values_[i] += static_cast<S>(0.1 * random.normal());
    }
    for (X& x : host_x_) {
      if constexpr (differentiable_input)
        x = static_cast<X>(random.normal());
      else
        x = static_cast<X>(random.below(static_cast<std::uint32_t>(tokens_)));
    }
    std::vector<Label> labels(batch_ * label_width());
    for (Label& label : labels) {
      if constexpr (std::is_integral_v<Label>)
        label = static_cast<Label>(random.below(static_cast<std::uint32_t>(classes_of(loss_, classes_))));
      else
        label = static_cast<Label>(random.normal());
    }
    std::vector<S> weights;
    for (const double weight : host_weights_) weights.push_back(static_cast<S>(weight));
    backend_.write(host_values_.size(), host_values_.data(), values_.data());
    backend_.write(host_x_.size(), host_x_.data(), x_.data());
    backend_.write(labels.size(), labels.data(), labels_.data());
    backend_.write(batch_, weights.data(), weights_.data());
  }

  // Weights other than 1, so that a loss that ignores its weights fails the check.
  static std::vector<double> drawn_weights(std::size_t batch, std::uint64_t seed) {
    RandomStream random(RandomKey{seed}.fold(2));
    std::vector<double> weights(batch);
    for (double& weight : weights) weight = 0.5 + random.uniform_double();
    return weights;
  }
  std::size_t label_width() const { return std::is_integral_v<Label> ? 1 : classes_; }

  LayerCall<B> call() {
    return workspace_.call(backend_, layout_, values_.data(), gradients_.data(), batch_, Mode::train,
                           RandomKey{options_.seed});
  }

  // sum(weights * losses) / batch
  double loss(S* d_logits) {
    const S* const logits = model_.forward(call(), handles_, x_.data());
    loss_.write(backend_, batch_, classes_, logits, labels_.data(), weights_.data(), losses_.data(), d_logits);
    backend_.read(batch_, losses_.data(), host_losses_.data());
    double total = 0;
    for (std::size_t i = 0; i < batch_; ++i) total += host_weights_[i] * static_cast<double>(host_losses_[i]);
    return total / static_cast<double>(batch_);
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
    const double more = loss(nullptr);
    backend_.write(1, &below, x);
    const double less = loss(nullptr);
    backend_.write(1, &value, x);
    return (more - less) / (static_cast<double>(above) - static_cast<double>(below));
  }

  double relative(double a, double b, double typical) const {
    const double scale = math::max(math::max(math::abs(a), math::abs(b)), math::max(typical, options_.floor));
    return math::abs(a - b) / scale;
  }

  template <class T>
  using Array = typename B::template Array<T>;

  const Model& model_;
  const Loss& loss_;
  const GradientCheckOptions& options_;
  const B& backend_;
  std::size_t batch_, tokens_, classes_;
  Layout layout_;
  typename Model::Handles handles_;
  Workspace<B> workspace_;
  std::vector<S> host_values_;
  std::vector<X> host_x_;
  std::vector<S> host_losses_;
  std::vector<double> host_weights_;
  Array<S> values_, gradients_;
  Array<X> x_;
  Array<S> d_x_;
  Array<Label> labels_;
  Array<S> weights_, losses_, d_logits_;
  GradientCheck worst_;
};

}  // namespace detail

// Compares the gradient of sum(weights * losses) / batch, with respect to every parameter and to the input (unless the
// input is integral), with central differences (f(x + h) - f(x - h)) / 2h at random values, inputs and labels. The
// error of an element is
//   |analytic - numeric| / max(|analytic|, |numeric|, the tensor's root mean square, floor),
// the minimum over three steps h. A smaller step helps near the kink of a ReLU, but not if the gradient is wrong. A NaN
// counts as an error of 2. With Host<double>, the error of a correct backward stays below 1e-6.
// Cost: at least two forward passes per checked element. `samples` limits the elements checked per tensor, which are
// evenly spaced.
template <class Model, class Loss, class B = Host<double>>
GradientCheck gradient_check(const Model& model, const Loss& loss, const GradientCheckOptions& options = {},
                             const B& backend = {}) {
  return detail::GradientProbe<B, Model, Loss>(model, loss, options, backend).run();
}

}  // namespace algoperf
