// Workloads that run on any backend and return their results to the host, so that tests can compare backends.
#pragma once

#include <algoperf/nn/all.hpp>
#include <algoperf/rules/all.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../support/near.hpp"

namespace agreement {

using namespace algoperf;

// Returns the largest difference, in ulps of the reference's largest absolute value.
template <class S>
double ulps(const std::vector<S>& a, const std::vector<S>& reference) {
  if (a.size() != reference.size()) return std::numeric_limits<double>::infinity();
  double worst = 0, scale = 0;
  for (const S x : reference) scale = std::fmax(scale, std::fabs(static_cast<double>(x)));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(static_cast<double>(a[i]) - static_cast<double>(reference[i]));
    worst = larger_or_nan(worst, difference);
  }
  const double ulp = static_cast<double>(std::numeric_limits<S>::epsilon());
  return worst == 0 ? 0 : worst / (scale * ulp);
}

// The maximum over several pairs, each relative to its own largest absolute value.
template <class S>
double ulps(const std::vector<std::vector<S>>& a, const std::vector<std::vector<S>>& reference) {
  if (a.size() != reference.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = larger_or_nan(worst, ulps(a[i], reference[i]));
  return worst;
}

// Tensors of odd sizes, one of them larger than a chunk, in every group that rules distinguish.
inline Layout odd_layout() {
  Layout layout;
  layout.add({"hidden.weight", Kind::weight, {37, 53}});
  layout.add({"hidden.bias", Kind::bias, {37}});
  layout.add({"conv.weight", Kind::conv_weight, {7, 3, 3, 2}});
  layout.add({"embedding", Kind::embedding, {11, 5}});
  layout.add({"scalar", Kind::layer_norm_scale, {1}});
  layout.add({"tall.weight", Kind::weight, {131, 77}});
  layout.add({"output.weight", Kind::weight, {3, 131}, true});
  return layout;
}

struct LateDecay {
  double operator()(std::uint64_t step) const { return 0.01 * static_cast<double>(step); }
};
// Calls f(name, rule) with rules whose passes, measurements and wrappers combine in different ways. tests/contracts
// cover every recipe, on smaller tensors.
template <class F>
void for_each_rule(const F& f) {
  f("adamw", adamw({.weight_decay = 0.1}));
  f("nadamw", nadamw());
  f("lion", lion());
  f("lamb", lamb());
  f("clip, adamw", chain(ClipByGlobalNorm{.max_norm = 1}, Adam{}, DecayedWeights{}, Descend{}));
  f("clip, lamb", chain(ClipByGlobalNorm{.max_norm = 1}, Adam{}, DecayedWeights{}, TrustRatio{}, Descend{}));
  f("two clips", chain(Momentum{}, ClipByGlobalNorm{.max_norm = 2}, TrustRatio{}, Descend{}, ClipByGlobalNorm{}));
  f("two clips, masked decay", chain(ClipByGlobalNorm{.max_norm = 1}, masked(DecayedWeights{.rate = 0.1}, decayable),
                                     ClipByGlobalNorm{.max_norm = 0.3}, Descend{}));
  f("a part without tensors", partition(otherwise, adamw(), otherwise, adagrad_norm()));
  f("masked decay", chain(Adam{}, masked(DecayedWeights{.rate = 0.1}, decayable), Descend{}));
  f("masked trust ratio", chain(Momentum{}, masked(TrustRatio{}, decayable), Descend{}));
  f("masked clip", chain(masked(ClipByGlobalNorm{.max_norm = 0.5}, decayable), Descend{}));
  f("scheduled", chain(Adam{}, scheduled(DecayedWeights{}, &DecayedWeights::rate, LateDecay{}), Descend{}));
  f("weight average", chain(Adam{}, Descend{}, WeightAverage{.decay = 0.9}));
  f("sam", sam(adamw()));
  f("armijo", armijo(momentum()));
  f("adafactor", adafactor({.weight_decay = 1e-3, .min_dim_size_to_factor = 8}));
  f("adafactor_torch", adafactor_torch({.weight_decay = 0.1}));
  f("adafactor_algoperf", adafactor_algoperf());
  f("factored, clips", chain(FactoredRms{.least_side = 4}, TrustRatio{}, ClipByGlobalNorm{.max_norm = 2}, Descend{}));
}
template <class F>
void for_each_matrix_rule(const F& f) {
  f("muon", partition(matrices, muon(), otherwise, adamw()));
  f("factored muon",
    partition(matrices, chain(FactoredRms{.least_side = 4}, Orthogonalize{}, Descend{}), otherwise, adamw()));
  f("muon, match_rms", partition(matrices, muon({.scale = OrthogonalScale::match_rms}), otherwise, lamb()));
}

// Runs `steps` steps of a rule. Returns the parameters, followed by the parameters to evaluate with.
template <class B, class Rule>
std::vector<typename B::Scalar> train(const B& backend, const Rule& rule, unsigned steps = 10) {
  using S = typename B::Scalar;
  Layout layout = odd_layout();
  layout.arrange_for(rule);
  const std::size_t n = layout.size();
  std::vector<S> host(n), gradient(n);
  const auto each = [&](const auto& f) {
    for (const TensorHandle handle : layout.tensors())
      for (std::size_t i = 0; i < layout.place_of(handle).size; ++i)
        f(layout.place_of(handle).offset + i, 7919 * handle.index + i);
  };
  each([&](std::size_t at, std::size_t i) {
    host[at] = static_cast<S>(static_cast<double>((i * 37 + 11) % 101) / 101 - 0.5);
  });
  auto values = backend.template array<S>(n);
  auto gradients = backend.template array<S>(n);
  backend.write(n, host.data(), values.data());
  auto state = rule.state(backend, layout);
  unsigned t = 1;
  const auto evaluate = [&] {
    backend.read(n, values.data(), host.data());
    double loss = 0;
    each([&](std::size_t at, std::size_t i) {
      const double shake = static_cast<double>((i * 53 + t * 29 + 7) % 97) / 97 - 0.45,
                   p = static_cast<double>(host[at]);
      gradient[at] = static_cast<S>(shake + 0.1 * p);
      loss += shake * p + 0.05 * p * p;
    });
    backend.write(n, gradient.data(), gradients.data());
    return loss;
  };
  for (; t <= steps; ++t) {
    evaluate();
    using Update = algoperf::Update<S, std::remove_const_t<decltype(evaluate)>>;
    rule.step(Update{gradients.data(), values.data(), evaluate}, state, Step{t, 0.01});
  }
  std::vector<S> result(2 * n);
  backend.read(n, values.data(), result.data());
  rule.evaluation_values(values.data(), state, gradients.data());
  backend.read(n, gradients.data(), result.data() + n);
  return result;
}

// An LSTM over `rows` rows of `width` elements.
struct Recurrent {
  std::size_t rows, width, units;
  bool reverse = false;

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    const Lstm lstm{.units = units, .reverse = reverse};
    return net.examples_of(net("lstm", lstm, net.rows_of("time", net.reshape(x, {rows, width}))));
  }
};

// An LSTM over tokens.
struct RecurrentOfTokens {
  static constexpr bool reads_tokens = true;

  template <class Net>
  constexpr Value operator()(Net& net, Value tokens) const {
    const SharedTensor table = net.tensor("table", Kind::embedding, {16, 3}, Init::unit_normal);
    const Lstm lstm{.units = 5, .embedding = {.table = table, .vocabulary = 16, .width = 3}};
    return net.examples_of(net("lstm", lstm, net.rows_of("time", tokens)));
  }
};

// What the blocks of a Conformer have of their own, over `rows` rows.
struct ConformerParts {
  std::size_t rows, heads;

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    Value y = net.rows_of("time", net.reshape(x, {rows, x.shape.size() / rows}));
    y = net("scale", PerDimScale{heads}, net("positions", SinePositions{}, y));
    return net.examples_of(net(ScaleRows{0.5}, net("conv", DepthwiseConv1d{.size = 5}, y)));
  }
};

// Small models of odd sizes with most layers.
template <class F>
void for_most_models(const F& f) {
  f("relu", Model(Shape{13}, Relu{}, Dense{.units = 5}, Relu{}));
  f("strided conv", Model(Shape{9, 7, 2}, Conv2d{.filters = 3, .size = 3, .stride = 2, .padding = 1}));
  f("conv of whole packs", Model(Shape{6, 5, 8}, Conv2d{.filters = 3, .padding = 1}));
  f("conv of parts of packs", Model(Shape{6, 5, 2}, Conv2d{.filters = 3, .size = 2, .padding = 1}));
  f("depthwise conv", Model(Shape{6, 5, 7}, DepthwiseConv2d{.stride = 2, .padding = 1}));
  f("overlapping max pool", Model(Shape{7, 6, 3}, MaxPool{.size = 3, .stride = 2}));
  f("layer norm", Model(Shape{3, 19}, LayerNorm{}));
  f("layer norm without a scale", Model(Shape{3, 19}, LayerNorm{.affine = false}));
  f("rms norm and glu", Model(Shape{3, 20}, RmsNorm{}, Glu{}));
  f("batch norm", Model(Shape{5, 4, 6}, BatchNorm{.ghost = 2}));
  f("pointwise conv", Model(Shape{4, 5, 3}, Conv2d{.filters = 4, .size = 1}));
  f("average pool", Model(Shape{7, 6, 3}, AveragePool{.size = 3, .stride = 2}));
  f("group norm", Model(Shape{5, 4, 6}, GroupNorm{.groups = 3}));
  f("gelu", Model(Shape{13}, Dense{.units = 21}, Gelu{}, Dense{.units = 5}, GeluTanh{}));
  f("dropout", Model(Shape{13}, Dense{.units = 21}, Dropout{.rate = 0.3}, Dense{.units = 5}));
  f("next character", next_character(5, 16));
  f("lstm", Model(Shape{28}, Recurrent{7, 4, 5}));
  f("reverse lstm", Model(Shape{12}, Recurrent{3, 4, 9, true}));
  f("lstm of tokens", Model(Shape{7}, RecurrentOfTokens{}));
}
// A block of every op that has several inputs or outputs, with gradients that are added in place and apart.
struct ManyOps {
  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    const Value hidden = net("hidden", Dense{.units = 12}, x);
    const auto [value, gate] = net(Split{.first = 6}, hidden);
    const Value gated = net(Product{}, value, net(Tanh{}, gate));
    const Value joined = net(Concat{}, gated, hidden, net(Sum{}, gated, gate));
    return net("out", Dense{.units = 5}, net.reshape(joined, {4, 6}));
  }
};

// Attention with `heads` heads of `size` elements. `keys` is 0 if each row holds a query, a key and a value.
struct Attending {
  std::size_t rows, keys, heads, size;
  bool causal = false, relu = false;

  constexpr Shape input() const { return {(keys == 0 ? 3 * rows : rows + 2 * keys) * heads * size}; }
  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    const std::size_t width = heads * size;
    const Attention attention{
        .heads = heads, .causal = causal, .weights = relu ? AttentionWeights::relu : AttentionWeights::softmax};
    if (keys == 0)
      return net.examples_of(net("mix", attention, net.rows_of("rows", net.reshape(x, {rows, 3 * width}))));
    const auto [queries, others] = net(Split{.first = rows * width}, x);
    return net.examples_of(net("mix", attention, net.rows_of("rows", net.reshape(queries, {rows, width})),
                               net.rows_of("keys", net.reshape(others, {keys, 2 * width}))));
  }
};

// Every layer.
template <class F>
void for_each_model(const F& f) {
  for_most_models(f);
  f("dense", Model(Shape{13}, Dense{.units = 7}));
  f("leaky relu", Model(Shape{13}, Dense{.units = 21}, LeakyRelu{.slope = 0.2}, Dense{.units = 5}));
  f("transposed conv", Model(Shape{4, 5, 3}, ConvTranspose2d{.filters = 5}));
  f("overlapping transposed conv", Model(Shape{4, 3, 2}, ConvTranspose2d{.filters = 3, .size = 3, .padding = 1}));
  f("instance norm", Model(Shape{5, 4, 19}, InstanceNorm{}));
  f("parts of conformers", Model(Shape{7 * 18}, ConformerParts{7, 3}));
  f("flatten", Model(Shape{5, 3, 2}, Flatten{}, Dense{.units = 5}));
  f("conv", Model(Shape{7, 6, 3}, Conv2d{.filters = 5, .padding = 1}));
  f("max pool", Model(Shape{7, 6, 3}, MaxPool{}));
  f("tanh", Model(Shape{13}, Dense{.units = 21}, Tanh{}, Dense{.units = 5}));
  f("silu", Model(Shape{13}, Dense{.units = 21}, Silu{}, Dense{.units = 5}));
  f("embedding", Model(Shape{5}, Embedding{.vocabulary = 16, .width = 3}));
  f("tied", Model(Shape{5}, Tied(Embedding{.vocabulary = 16, .width = 3}, Flatten{}, Dense{.units = 3}, Tanh{})));
  f("many ops", Model(Shape{7}, ManyOps{}));
  // Heads that need padding, rows that do not fill a block or fill several, and heads that are larger than any block's.
  for (const Attending& part : {Attending{7, 0, 3, 5}, Attending{33, 0, 2, 16, true}, Attending{70, 0, 1, 20, true},
                                Attending{35, 90, 2, 33}, Attending{5, 3, 1, 100}, Attending{4, 0, 1, 130, true}})
    f("attention", Model(part.input(), part));
  for (const Attending& part : {Attending{7, 0, 3, 5, true, true}, Attending{5, 9, 2, 6, false, true}})
    f("attention with relu", Model(part.input(), part));
  f("residual", Model(Shape{11}, Dense{.units = 6}, Residual(LayerNorm{}, Dense{.units = 6}, Relu{})));
}

// Runs the forward pass, the loss and the backward pass of a batch, whose input has elements of type X. Returns the
// outputs, the losses, and the gradients of the parameters and inputs.
template <class X, class B>
std::vector<std::vector<typename B::Scalar>> propagate_recorded(const B& backend, const RecordedModel<B>& recorded,
                                                                std::size_t inputs, std::size_t classes,
                                                                std::size_t batch) {
  using S = typename B::Scalar;
  constexpr bool differentiable = std::is_same_v<X, Stored<B>>;
  const Layout& layout = recorded.layout();
  const std::size_t n = layout.size(), in = batch * inputs;
  std::vector<S> values(n), weights(batch);
  Initializer<S> set(layout, values.data(), RandomKey{3});
  recorded.initialize(set);
  RandomStream random(RandomKey{4});
  std::vector<X> x(in);
  for (X& each : x)
    if constexpr (differentiable)
      each = static_cast<X>(static_cast<S>(random.normal()));
    else
      each = static_cast<X>(random.below(16));
  std::vector<std::int32_t> labels(batch);
  for (std::size_t i = 0; i < batch; ++i) {
    labels[i] = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(classes)));
    weights[i] = static_cast<S>(0.5 + random.uniform());
  }

  auto d_values = backend.template array<S>(n), d_gradients = backend.template array<S>(n);
  auto d_x = backend.template array<X>(in);
  auto d_labels = backend.template array<std::int32_t>(batch);
  auto d_weights = backend.template array<S>(batch), d_losses = backend.template array<S>(batch);
  backend.write(n, values.data(), d_values.data());
  backend.write(in, x.data(), d_x.data());
  backend.write(batch, labels.data(), d_labels.data());
  backend.write(batch, weights.data(), d_weights.data());

  GraphExecutor<B> executor(backend, recorded, batch + 2);
  executor.bind(recorded.field("input").value, d_x.data());
  executor.bind(recorded.field("label").value, d_labels.data());
  executor.bind(recorded.losses(), d_losses.data());
  GraphPass<B> pass;
  pass.values = d_values.data();
  pass.gradients = d_gradients.data();
  pass.examples = batch;
  pass.weights = d_weights.data();
  std::vector<std::vector<S>> result;
  const auto keep = [&]<class T>(std::size_t count, const T* from) {
    std::vector<T> host(count);
    backend.read(count, from, host.data());
    result.emplace_back(host.begin(), host.end());
  };
  executor.forward(pass);
  keep(batch * classes, executor.result(recorded.outputs()));
  keep(batch, d_losses.data());
  executor.backward(pass);
  keep(n, d_gradients.data());
  if constexpr (differentiable) keep(in, executor.field_gradient(recorded.field("input").value));
  return result;
}

template <class B, class M>
std::vector<std::vector<typename B::Scalar>> propagate(const B& backend, const M& model, std::size_t batch = 5) {
  const SoftmaxCrossEntropy loss{.label_smoothing = 0.1};
  const RecordedModel<B> recorded(Objective<M, SoftmaxCrossEntropy>{model, loss}, true);
  return propagate_recorded<typename M::template Input<Stored<B>>>(backend, recorded, model.input().size(),
                                                                   model.output().size(), batch);
}

}  // namespace agreement
