// TrainingContext: everything a training step works on, and what a combiner may ask of it (combine/concept.hpp):
// parameters, gradients, the batch in hand, the model's memory. Made once; a step allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../core/error.hpp"
#include "../core/layout.hpp"
#include "../data/concept.hpp"
#include "../nn/concept.hpp"
#include "../nn/init.hpp"
#include "../rules/concept.hpp"

namespace algoperf {

// Thrown when the loss stops being a number; names the step and the first tensor that is to blame.
struct Diverged : Error {
  using Error::Error;
};

template <class ModelType, class Loss, class Rule, class BackendType>
class TrainingContext {
 public:
  using Backend = BackendType;
  using Scalar = typename Backend::Scalar;
  using Array = typename Backend::template Array<Scalar>;
  using RuleState = typename Rule::template State<Backend>;
  static constexpr bool has_evaluation_values = Rule::has_evaluation_values;
  using Input = typename ModelType::template Input<Scalar>;

  TrainingContext(const ModelType& model, const Loss& loss, const Rule& rule, const Backend& backend,
                  std::size_t workers, std::size_t capacity, RandomKey key)
      : model_(model), loss_(loss), rule_(rule), backend_(backend), workers_(workers), capacity_(capacity), key_(key) {
    handles_ = model_.declare(layout_);
    layout_.arrange_for(rule_);
    const std::size_t classes = model_.output().size();
    values_ = backend_.template array<Scalar>(layout_.size());
    gradients_ = backend_.template array<Scalar>(layout_.size());
    kept_ = backend_.template array<Scalar>(model_.memory().kept * capacity);
    scratch_ = backend_.template array<Scalar>(model_.memory().scratch);
    inputs_ = backend_.template array<Input>(model_.input().size() * capacity);
    labels_ = backend_.template array<std::int32_t>(capacity);
    weights_ = backend_.template array<Scalar>(capacity);
    losses_ = backend_.template array<Scalar>(capacity);
    d_outputs_ = backend_.template array<Scalar>(classes * capacity);
    host_losses_.resize(capacity);
    host_weights_.resize(capacity);
    std::vector<Scalar> first(layout_.size());
    Initializer<Scalar> set(layout_, first.data(), key.fold(0));
    model_.initialize(set, handles_);
    backend_.write(first.size(), first.data(), values_.data());
  }

  // What combiners ask for.
  const Backend& backend() const { return backend_; }
  const Layout& layout() const { return layout_; }
  std::size_t workers() const { return workers_; }
  Scalar* values() { return values_.data(); }
  Scalar* gradients() { return gradients_.data(); }
  RuleState make_rule_state() const { return rule_.state(backend_, layout_); }
  double share(std::size_t worker) const {
    return static_cast<double>(begin_of(worker + 1) - begin_of(worker)) / static_cast<double>(count_);
  }
  double gradient(std::size_t worker, const Scalar* values, Scalar* gradients) {
    const std::size_t begin = begin_of(worker), n = begin_of(worker + 1) - begin;
    if (n == 0) {  // a batch smaller than the number of workers
      backend_.fill(layout_.size(), gradients, Scalar(0));
      return 0;
    }
    const LayerPass<Backend> pass = layer_pass(values, gradients, n, Mode::train);
    const Input* const x = inputs_.data() + begin * model_.input().size();
    const Scalar* const outputs = model_.forward(pass, handles_, x);
    loss_.write(backend_, n, model_.output().size(), outputs, labels_.data() + begin, weights_.data() + begin,
                losses_.data() + begin, d_outputs_.data());
    model_.backward(pass, handles_, x, d_outputs_.data());
    const double loss = weighted_loss(begin, n);
    if (!is_finite(loss)) diverged(values, gradients);
    return loss;
  }
  template <class Evaluate>
  void step(Scalar* gradients, Scalar* values, RuleState& state, const Evaluate& evaluate) {
    rule_.step(Update<Scalar, Evaluate>{gradients, values, evaluate}, now_, state);
  }

  // The loop's side.
  const Rule& rule() const { return rule_; }
  const ModelType& model() const { return model_; }
  std::size_t capacity() const { return capacity_; }

  // Copies a step's examples in.
  template <class Data>
  void load(const Data& data, const Selection& selection, Step now) {
    const std::size_t n = selection.indices.size(), size = data.size();
    require(n > 0 && n <= capacity_ && selection.weights.size() == n, "TrainingLoop: the selector chose ", n,
            " examples and ", selection.weights.size(), " weights, expected as many of each, 1 to ", capacity_);
    for (const std::uint32_t index : selection.indices)
      require(index < size, "TrainingLoop: the selector chose example ", index, ", expected [0, ", size, ")");
    now_ = now;
    gather(data, selection.indices.data(), selection.indices.size());
    for (std::size_t i = 0; i < count_; ++i) host_weights_[i] = static_cast<Scalar>(selection.weights[i]);
    backend_.write(count_, host_weights_.data(), weights_.data());
  }
  // The losses of the examples loaded last, in host memory.
  const std::vector<Scalar>& losses() {
    backend_.read(count_, losses_.data(), host_losses_.data());
    return host_losses_;
  }
  // Adds the losses and scores of examples [begin, begin + n), n at most the capacity.
  template <class Data, class Metric>
  void evaluate(const Data& data, const Metric& metric, const Scalar* values, std::size_t begin, std::size_t n,
                double& loss, double& score) {
    indices_.resize(n);
    for (std::size_t i = 0; i < n; ++i) indices_[i] = static_cast<std::uint32_t>(begin + i);
    gather(data, indices_.data(), n);
    const std::size_t classes = model_.output().size();
    const Scalar* const outputs = model_.forward(layer_pass(values, nullptr, n, Mode::evaluate), handles_,
                                                 static_cast<const Input*>(inputs_.data()));
    loss_.write(backend_, n, classes, outputs, labels_.data(), static_cast<const Scalar*>(nullptr), losses_.data(),
                static_cast<Scalar*>(nullptr));
    loss += backend_.sum(n, static_cast<const Scalar*>(losses_.data()));
    metric.write(backend_, n, classes, outputs, labels_.data(), losses_.data());
    score += backend_.sum(n, static_cast<const Scalar*>(losses_.data()));
  }

  template <class Archive>
  void visit(Archive& archive) {
    for (const TensorHandle handle : layout_.tensors())
      archive.array(layout_.spec(handle).name.c_str(), backend_, values_.data() + layout_.place_of(handle).offset,
                    layout_.place_of(handle).size);
  }

 private:
  LayerPass<Backend> layer_pass(const Scalar* values, Scalar* gradients, std::size_t n, Mode mode) {
    return {backend_,     layout_,        values, gradients, n, capacity_, mode, key_.fold(1).fold(now_.t),
            kept_.data(), scratch_.data()};
  }

  std::size_t begin_of(std::size_t worker) const { return worker * count_ / workers_; }

  template <class Data>
  void gather(const Data& data, const std::uint32_t* indices, std::size_t n) {
    count_ = n;
    if constexpr (Backend::on_host) {
      data.gather(indices, n, inputs_.data(), labels_.data());
      check_labels(indices, labels_.data());
    } else {
      host_inputs_.resize(capacity_ * model_.input().size());
      host_labels_.resize(capacity_);
      data.gather(indices, n, host_inputs_.data(), host_labels_.data());
      check_labels(indices, host_labels_.data());
      backend_.write(n * model_.input().size(), host_inputs_.data(), inputs_.data());
      backend_.write(n, host_labels_.data(), labels_.data());
    }
  }

  void check_labels(const std::uint32_t* indices, const std::int32_t* labels) const {
    const std::size_t classes = model_.output().size();
    for (std::size_t i = 0; i < count_; ++i)
      require(labels[i] >= 0 && static_cast<std::size_t>(labels[i]) < classes, "TrainingLoop: the label of example ",
              indices[i], " is ", labels[i], ", expected [0, ", classes, ")");
  }

  double weighted_loss(std::size_t begin, std::size_t n) {
    backend_.read(n, losses_.data() + begin, host_losses_.data() + begin);
    double total = 0;
    for (std::size_t i = begin; i < begin + n; ++i)
      total += static_cast<double>(host_weights_[i]) * static_cast<double>(host_losses_[i]);
    return total / static_cast<double>(n);
  }

  // By its bits: comparisons with NaN may be optimised away under -ffast-math.
  static bool is_finite(double x) {
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return (bits >> 52 & 0x7FF) != 0x7FF;
  }
  TensorHandle first_not_finite(const Scalar* arena, bool& found) const {
    std::vector<Scalar> host(layout_.size());
    backend_.read(host.size(), arena, host.data());
    for (const TensorHandle handle : layout_.tensors()) {
      const TensorPlace place = layout_.place_of(handle);
      for (std::size_t i = 0; i < place.size; ++i)
        if (!is_finite(static_cast<double>(host[place.offset + i]))) {
          found = true;
          return handle;
        }
    }
    found = false;
    return {};
  }
  bool inputs_are_finite() const {
    if constexpr (!std::is_integral_v<Input>) {
      std::vector<Input> host(count_ * model_.input().size());
      backend_.read(host.size(), inputs_.data(), host.data());
      for (const Input x : host)
        if (!is_finite(static_cast<double>(x))) return false;
    }
    return true;
  }
  // Blames what comes first: parameters, then the data, then the gradient.
  std::string culprit(const Scalar* values, const Scalar* gradients) const {
    bool found = false;
    TensorHandle handle = first_not_finite(values, found);
    if (found) return "the parameters of tensor '" + layout_.spec(handle).name + "' hold NaN or infinity";
    if (!inputs_are_finite()) return "the parameters are finite, an input of the batch is not";
    handle = first_not_finite(gradients, found);
    if (found) return "the gradient of tensor '" + layout_.spec(handle).name + "' holds NaN or infinity";
    return "parameters, inputs and gradient are finite, so the outputs overflowed";
  }
  [[noreturn]] void diverged(const Scalar* values, const Scalar* gradients) const {
    const std::string where = culprit(values, gradients);
    throw Diverged("training diverged at step " + std::to_string(now_.t) + ": the loss is not finite; " + where);
  }

  ModelType model_;
  Loss loss_;
  Rule rule_;
  Backend backend_;
  std::size_t workers_, capacity_, count_ = 0;
  RandomKey key_;
  Layout layout_;
  typename ModelType::Handles handles_;
  Step now_;
  Array values_, gradients_, kept_, scratch_, weights_, losses_, d_outputs_;
  typename Backend::template Array<Input> inputs_;
  typename Backend::template Array<std::int32_t> labels_;
  std::vector<Scalar> host_losses_, host_weights_;
  std::vector<Input> host_inputs_;
  std::vector<std::int32_t> host_labels_;
  std::vector<std::uint32_t> indices_;
};

}  // namespace algoperf
