// Training<Rule, Backend>: runs a rule on one layout, for tests, with its values, gradients and state. Gradients are a
// function of the step and of all parameters, packed: tensor after tensor in the order in which they were added,
// independent of their offsets in the arena.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "algoperf/backend/host.hpp"
#include "algoperf/core/layout.hpp"
#include "algoperf/rules/concept.hpp"

namespace algoperf::testing {

// Returns a layout with one tensor per shape, named t0, t1, ...
inline Layout layout_of(const std::vector<Shape>& shapes, std::size_t alignment = Layout::default_alignment) {
  Layout layout(alignment);
  for (const Shape& shape : shapes)
    layout.add({"t" + std::to_string(layout.tensors().size()), shape.rank >= 2 ? Kind::weight : Kind::bias, shape});
  return layout;
}

// The layout of a perceptron with three layers: weights and biases in turn.
inline Layout mlp_layout() { return layout_of({{4, 3}, {4}, {5, 4}, {5}, {2, 5}, {2}}); }

// Returns the places of the tensors, in the order in which they were added.
inline std::vector<TensorPlace> tensor_places(const Layout& layout) {
  std::vector<TensorPlace> places;
  for (std::uint32_t h = 0; h < layout.tensors().size(); ++h) places.push_back(layout.place_of({h}));
  return places;
}

// Returns the index in the arena of each element, tensor after tensor in the order in which they were added.
inline std::vector<std::size_t> places_of(const Layout& layout) {
  std::vector<std::size_t> places;
  for (const TensorPlace& tensor : tensor_places(layout))
    for (std::size_t i = 0; i < tensor.size; ++i) places.push_back(tensor.offset + i);
  return places;
}

// A function that writes the gradient g of step t (from 1) at p, and returns the loss or nothing (then 0).
class Gradient {
  using Values = std::vector<double>;

 public:
  template <class F>
  Gradient(F f)
      : write_([f](std::uint64_t t, const Values& p, Values& g) -> double {
          if constexpr (std::is_void_v<decltype(f(t, p, g))>)
            return f(t, p, g), 0;
          else
            return f(t, p, g);
        }) {}
  double operator()(std::uint64_t t, const Values& p, Values& g) const { return write_(t, p, g); }

 private:
  std::function<double(std::uint64_t, const Values&, Values&)> write_;
};

// Start values in (-0.5, 0.5), and gradients that pull towards 0 and vary with the step. Independent of the layout.
inline double start_value(std::size_t i) { return static_cast<double>((i * 37 + 11) % 101) / 101 - 0.5; }
inline double shaken(std::uint64_t t, const std::vector<double>& values, std::vector<double>& gradient) {
  const double* const p = values.data();
  double* const g = gradient.data();
  double loss = 0;
  for (std::size_t i = 0, size = values.size(); i < size; ++i) {
    const double shake = static_cast<double>((i * 53 + t * 29 + 7) % 97) / 97 - 0.45;
    g[i] = shake + 0.1 * p[i];
    loss += shake * p[i] + 0.05 * p[i] * p[i];
  }
  return loss;
}

// The part of Training that does not depend on the rule, compiled once for all rules: values, gradients, step count.
template <class Backend>
class Trained {
 public:
  using S = typename Backend::Scalar;

  Trained(const Layout& layout, const Backend& backend, Gradient gradient)
      : backend_(backend),
        gradient_(gradient),
        tensors_(tensor_places(layout)),
        values_(backend.template array<S>(layout.size())),
        gradients_(backend.template array<S>(layout.size())) {
    for (const TensorPlace& tensor : tensors_) size_ += tensor.size;
    std::vector<double> first(size_);
    for (std::size_t i = 0; i < first.size(); ++i) first[i] = start_value(i);
    write(first, values_.data());
  }

  // Continues from `other`: takes over its step count and values, but not the rule's state.
  void resume(const Trained& other) {
    t_ = other.t_;
    backend_.copy(values_.size(), static_cast<const S*>(other.values_.data()), values_.data());
  }

  std::vector<S> arena() const { return read(values_.data()); }
  std::vector<S> values() const { return packed(arena()); }

 protected:
  struct Evaluate {
    Trained* trained;
    double operator()() const { return trained->write_gradients(); }
  };

  // Advances to the next step and writes its gradients.
  Step next(double learning_rate) {
    ++t_;
    write_gradients();
    return {t_, learning_rate};
  }
  Update<S, Evaluate> update() { return {gradients_.data(), values_.data(), Evaluate{this}}; }

  template <class WriteTo>
  std::vector<S> packed_from(const WriteTo& write_to) const {
    auto out = backend_.template array<S>(values_.size());
    write_to(static_cast<const S*>(values_.data()), out.data());
    return packed(read(out.data()));
  }

 private:
  double write_gradients() {
    const std::vector<S> at = values();
    const std::vector<double> p(at.begin(), at.end());
    std::vector<double> g(p.size());
    const double loss = gradient_(t_, p, g);
    write(g, gradients_.data());
    return loss;
  }
  // Writes packed values to an arena, with 0 between tensors.
  void write(const std::vector<double>& packed, S* to) {
    std::vector<S> arena(values_.size());
    const double* next = packed.data();
    for (const TensorPlace& tensor : tensors_) {
      std::copy_n(next, tensor.size, arena.data() + tensor.offset);
      next += tensor.size;
    }
    backend_.write(arena.size(), static_cast<const S*>(arena.data()), to);
  }
  std::vector<S> read(const S* from) const {
    std::vector<S> host(values_.size());
    backend_.read(host.size(), from, host.data());
    return host;
  }
  std::vector<S> packed(const std::vector<S>& arena) const {
    std::vector<S> all;
    all.reserve(size_);
    for (const TensorPlace& tensor : tensors_) {
      const S* const first = arena.data() + tensor.offset;
      all.insert(all.end(), first, first + tensor.size);
    }
    return all;
  }

  Backend backend_;
  Gradient gradient_;
  std::vector<TensorPlace> tensors_;
  std::size_t size_ = 0;  // of all tensors
  std::uint64_t t_ = 0;
  typename Backend::template Array<S> values_, gradients_;
};

template <class Rule, class Backend>
class Training : public Trained<Backend> {
  using Base = Trained<Backend>;

 public:
  using S = typename Backend::Scalar;

  Training(const Rule& rule, const Layout& layout, const Backend& backend = {}, Gradient gradient = shaken)
      : Base(layout, backend, gradient), rule_(rule), state(rule.state(backend, layout)) {}

  void step(double learning_rate) {
    const Step now = this->next(learning_rate);
    rule_.step(this->update(), state, now);
  }
  void steps(int n, double learning_rate) {
    for (int i = 0; i < n; ++i) step(learning_rate);
  }

  std::vector<S> evaluation_values() {
    return this->packed_from([&](const S* values, S* out) { rule_.evaluation_values(values, state, out); });
  }

 private:
  Rule rule_;

 public:
  typename Rule::template State<Backend> state;
};

// Returns the values after some steps on the host.
template <class S = double, class Rule>
std::vector<S> values_after(const Rule& rule, const Layout& layout, int steps = 5) {
  Training<Rule, Host<S>> training(rule, layout);
  training.steps(steps, 0.05);
  return training.values();
}

}  // namespace algoperf::testing
