// Runs a model once on any backend, at values that do not depend on the backend. Also contains the checks that every
// layer must pass.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "../support/check_error.hpp"
#include "algoperf/nn/gradient_check.hpp"
#include "algoperf/nn/graph/layout_of.hpp"
#include "algoperf/nn/losses/softmax_cross_entropy.hpp"
#include "algoperf/nn/model.hpp"
#include "algoperf/nn/ops/given_gradient.hpp"
#include "backends.hpp"

namespace nn_test {

namespace ap = algoperf;
using Numbers = std::vector<double>;

inline Numbers normals(std::size_t n, std::uint64_t seed) {
  ap::RandomStream random(ap::RandomKey{seed});
  Numbers numbers(n);
  for (double& x : numbers) x = random.normal();
  return numbers;
}

// Copy values to an array of T on the backend, and back.
template <class T, class B>
typename B::template Array<T> to_backend(const B& backend, const Numbers& numbers) {
  std::vector<T> host;
  for (const double x : numbers) host.push_back(static_cast<T>(x));
  auto array = backend.template array<T>(host.size());
  backend.write(host.size(), host.data(), array.data());
  return array;
}
template <class B, class T>
Numbers from_backend(const B& backend, std::size_t n, const T* x) {
  std::vector<T> host(n);
  backend.read(n, x, host.data());
  return Numbers(host.begin(), host.end());
}

struct Outcome {
  Numbers outputs, gradients, d_input;
};

// The inputs of a run. Empty `values` stand for the layers' initial values; empty `input` and `d_outputs` are drawn at
// random.
struct Start {
  std::size_t batch = 3, capacity = 3;
  Numbers values, input, d_outputs;
};

// Runs forward and backward at the given values. Gradients are filled with NaN first, so that a layer that does not
// write them fails. Runs twice: the second pass must not depend on what the first left in memory.
template <class B, class Model>
Outcome run(const Model& model, Start start = {}, const B& backend = {}) {
  using S = typename B::Scalar;
  using X = typename Model::template Input<S>;
  constexpr bool differentiable = std::is_same_v<X, S>;
  const ap::RecordedModel<B> recorded(ap::WithGivenGradient<Model>{model}, true);
  const ap::Layout& layout = recorded.layout();
  const std::size_t inputs = start.batch * model.input().size(), outputs = start.batch * model.output().size();
  if (start.values.empty()) {
    std::vector<S> values(layout.size());
    ap::Initializer<S> set(layout, values.data(), ap::RandomKey{7});
    recorded.initialize(set);
    start.values.assign(values.begin(), values.end());
  }
  if (start.input.empty()) {
    start.input = normals(inputs, 3);
    if (!differentiable)
      for (double& x : start.input) x = std::floor(std::fmod(std::abs(x) * 100, 16));
  }
  if (start.d_outputs.empty()) start.d_outputs = normals(outputs, 4);

  auto values = to_backend<S>(backend, start.values);
  auto gradients = backend.template array<S>(layout.size());
  auto x = to_backend<X>(backend, start.input);
  auto d_outputs = to_backend<S>(backend, start.d_outputs);
  ap::GraphExecutor<B> executor(backend, recorded, start.capacity);
  const ap::Value& input = recorded.field("input").value;
  executor.bind(input, x.data());
  executor.bind(recorded.field("d_outputs").value, d_outputs.data());
  const ap::GraphPass<B> pass{.values = values.data(), .gradients = gradients.data(), .examples = start.batch};
  Outcome first, outcome;
  for (Outcome* const out : {&first, &outcome}) {
    for (const ap::TensorHandle handle : layout.tensors())
      backend.fill(layout.place_of(handle).size, gradients.data() + layout.place_of(handle).offset,
                   static_cast<S>(NAN));
    executor.forward(pass);
    out->outputs = from_backend(backend, outputs, executor.result(recorded.outputs()));
    executor.backward(pass);
    out->gradients = from_backend(backend, layout.size(), gradients.data());
    if (const S* const d_input = executor.field_gradient(input); differentiable)
      out->d_input = d_input == nullptr ? Numbers(inputs, 0) : from_backend(backend, inputs, d_input);
  }
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  CHECK(std::equal(first.outputs.begin(), first.outputs.end(), outcome.outputs.begin(), same));
  CHECK(std::equal(first.gradients.begin(), first.gradients.end(), outcome.gradients.begin(), same));
  const Numbers read = from_backend(backend, inputs, x.data());
  for (std::size_t i = 0; i < inputs; ++i)  // the input is not overwritten
    CHECK((read[i] == static_cast<double>(static_cast<X>(start.input[i])) || std::isnan(start.input[i])));
  return outcome;
}

// Returns the largest difference, relative to the largest absolute value of b.
inline double distance(const Numbers& a, const Numbers& b) {
  REQUIRE(a.size() == b.size());
  double most = 0, scale = 1e-300;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    most = d > most || std::isnan(d) ? d : most;
    scale = std::abs(b[i]) > scale ? std::abs(b[i]) : scale;
  }
  return most / scale;
}

template <class B>
constexpr double tolerance() {
  return std::is_same_v<typename B::Scalar, double> ? 1e-12 : 3e-5;
}

// Checks that backward agrees with central differences (in double only), and that outputs and gradients agree with
// Host<double>.
template <class B, class Model>
void check_model(const Model& model, const ap::GradientCheckOptions& options = {}, double smoothing = 0,
                 const B& backend = {}) {
  if constexpr (std::is_same_v<typename B::Scalar, double>) {
    ap::testing::check_error(
        ap::gradient_check(model, ap::SoftmaxCrossEntropy{.label_smoothing = smoothing}, options, backend));
  }
  const Start start{options.batch, options.capacity == 0 ? options.batch : options.capacity, {}, {}, {}};
  const Outcome expected = run<ap::Host<double>>(model, start), found = run(model, start, backend);
  CHECK(distance(found.outputs, expected.outputs) < tolerance<B>());
  CHECK(distance(found.gradients, expected.gradients) < tolerance<B>());
  CHECK(distance(found.d_input, expected.d_input) < tolerance<B>());
}

// Returns the cost of a layer for one example, including the gradient of its input.
template <class Layer>
constexpr ap::Cost cost_of(const Layer& layer, ap::Shape in) {
  ap::CostSum forward, backward;
  layer.count_forward(in, 1, forward);
  layer.count_backward(in, 1, true, backward);
  const ap::LayerMemory memory = layer.memory(in);
  return {layer.parameters(in), forward.flops, backward.flops, memory.kept + memory.exact + layer.output(in).size()};
}

// Returns the message of the Error that declaring the model throws, or an empty string if it does not throw.
template <class Model>
std::string declare_error(const Model& model) {
  try {
    ap::layout_of(model);
  } catch (const ap::Error& error) {
    return error.what();
  }
  return "";
}

// y = x / (1 + |x|), in place. Its backward reads y and, unlike that of Relu, gives wrong results if y is overwritten.
struct Softsign {
  static constexpr bool in_place = true;
  struct Handles {};
  constexpr ap::Shape output(ap::Shape in) const { return in; }
  constexpr std::uint64_t parameters(ap::Shape) const { return 0; }
  template <class Tally>
  constexpr void count_forward(ap::Shape in, std::uint64_t batch, Tally& tally) const {
    tally.operation({"test", 3 * batch * in.size(), batch * in.size(), batch * in.size()});
  }
  template <class Tally>
  constexpr void count_backward(ap::Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    if (input_gradient)
      tally.operation({"test, gradient", 4 * batch * in.size(), batch * in.size(), batch * in.size()});
  }
  constexpr ap::LayerMemory memory(ap::Shape) const { return {}; }
  Handles declare(ap::Layout&, const std::string&, ap::Shape) const { return {}; }

  struct Forward {
    template <class T>
    ALGOPERF_HD T operator()(T, T x) const {
      return x / (T(1) + ap::math::abs(x));
    }
  };
  struct Backward {
    template <class T>
    ALGOPERF_HD T operator()(T, T dy, T y) const {
      const T rest = T(1) - ap::math::abs(y);
      return dy * rest * rest;
    }
  };
  template <class B, class S>
  void forward(const ap::LayerCall<B>& call, Handles, ap::Shape in, const S* x, S* y) const {
    call.backend.map(Forward{}, call.batch * in.size(), y, x);
  }
  template <class B, class S>
  void backward(const ap::LayerCall<B>& call, Handles, ap::Shape in, const S*, const S* y, const S* dy, S* dx) const {
    if (dx != nullptr) call.backend.map(Backward{}, call.batch * in.size(), dx, dy, y);
  }
};

// y = 2 x, in place. Its backward reads neither x nor y.
struct Double {
  static constexpr bool in_place = true;
  static constexpr bool reads_output = false;
  struct Handles {};
  constexpr ap::Shape output(ap::Shape in) const { return in; }
  constexpr std::uint64_t parameters(ap::Shape) const { return 0; }
  template <class Tally>
  constexpr void count_forward(ap::Shape in, std::uint64_t batch, Tally& tally) const {
    tally.operation({"test", batch * in.size(), batch * in.size(), batch * in.size()});
  }
  template <class Tally>
  constexpr void count_backward(ap::Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    if (input_gradient) tally.operation({"test, gradient", batch * in.size(), batch * in.size(), batch * in.size()});
  }
  constexpr ap::LayerMemory memory(ap::Shape) const { return {}; }
  Handles declare(ap::Layout&, const std::string&, ap::Shape) const { return {}; }

  struct Twice {
    template <class T>
    ALGOPERF_HD T operator()(T, T x) const {
      return x + x;
    }
  };
  template <class B, class S>
  void forward(const ap::LayerCall<B>& call, Handles, ap::Shape in, const S* x, S* y) const {
    call.backend.map(Twice{}, call.batch * in.size(), y, x);
  }
  template <class B, class S>
  void backward(const ap::LayerCall<B>& call, Handles, ap::Shape in, const S*, const S*, const S* dy, S* dx) const {
    if (dx != nullptr) call.backend.map(Twice{}, call.batch * in.size(), dx, dy);
  }
};

// Returns the mean square of a tensor's initial values.
template <class Model>
double first_variance(const Model& model, const std::string& tensor) {
  const ap::RecordedModel<ap::Host<double>> recorded(model);
  const ap::Layout& layout = recorded.layout();
  Numbers values(layout.size());
  ap::Initializer<double> set(layout, values.data(), ap::RandomKey{11});
  recorded.initialize(set);
  const ap::TensorPlace at = layout.place_of(layout.find(tensor));
  double squares = 0;
  for (std::size_t i = at.offset; i < at.offset + at.size; ++i) squares += values[i] * values[i];
  return squares / static_cast<double>(at.size);
}

}  // namespace nn_test
