// Attention: values, gradients, threads, costs and mistakes. Host's tiles have 64 rows.
#include <algorithm>

#include "../support/check_error.hpp"
#include "../support/near.hpp"
#include "algoperf/nn/all.hpp"
#include "algoperf/nn/graph/graph_cost.hpp"
#include "runner.hpp"

using namespace nn_test;
using ap::Value;

namespace of_attention {
namespace {

// A Host without attention of its own, on which the op runs its loops over rows.
template <class S>
struct ByRows : ap::Host<S> {
  void attention(const ap::AttentionShape&) const = delete;
};
static_assert(ap::AttendingBackend<ap::Host<float>> && !ap::AttendingBackend<ByRows<float>>);

struct Sizes {
  std::size_t examples, queries, keys, heads, size;
  bool causal = false, relu = false;
  bool self() const { return keys == 0; }
  ap::Attention attention() const {
    return {
        .heads = heads, .causal = causal, .weights = relu ? ap::AttentionWeights::relu : ap::AttentionWeights::softmax};
  }
  Sizes with_relu() const {
    Sizes n = *this;
    n.relu = true;
    return n;
  }
};

// The op on fields: "x" holds queries, keys and values, or "x" queries and "z" keys and values.
struct Attend {
  Sizes n;
  template <class Net>
  Value operator()(Net& net) const {
    const std::size_t width = n.heads * n.size;
    const ap::Attention attention = n.attention();
    const ap::GraphIndex rows = net.axis("queries", n.queries);
    if (n.self()) return net(attention, net.field("x", {3 * width}, rows));
    return net(attention, net.field("x", {width}, rows), net.field("z", {2 * width}, net.axis("keys", n.keys)));
  }
};

Numbers wave(std::size_t n, double scale, double phase) {
  Numbers values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = scale * std::sin(phase + 1.7 * static_cast<double>(i * i % 1009) + 0.3 * static_cast<double>(i));
  return values;
}
Numbers x_of(const Sizes& n, double scale = 1) {
  return wave(n.examples * n.queries * n.heads * n.size * (n.self() ? 3 : 1), scale, 0.1);
}
Numbers z_of(const Sizes& n) { return wave(n.examples * n.keys * n.heads * n.size * 2, 1, 0.7); }

template <class B>
Numbers output_rows(const Sizes& n, const Numbers& x, const B& backend = {}) {
  using S = typename B::Scalar;
  const ap::RecordedModel<B> recorded([&](auto& net) {
    const Value y = Attend{n}(net);
    net.keep(y);
    return y;
  });
  ap::GraphExecutor<B> executor(backend, recorded, n.examples + 1, {.training = false});
  const auto on_backend = to_backend<S>(backend, x), z = to_backend<S>(backend, z_of(n));
  for (const auto& info : recorded.graph().values)
    if (info.is_field()) executor.bind(info.value, std::string(info.field) == "x" ? on_backend.data() : z.data());
  executor.forward({.examples = n.examples, .mode = ap::Mode::evaluate});
  return from_backend(backend, n.examples * n.queries * n.heads * n.size,
                      executor.result(recorded.outputs(), ap::Mode::evaluate));
}

// The formula, in double.
Numbers expected_of(const Sizes& n, const Numbers& x) {
  const std::size_t width = n.heads * n.size, keys = n.self() ? n.queries : n.keys;
  const Numbers z = z_of(n);
  Numbers y;
  for (std::size_t e = 0; e < n.examples; ++e)
    for (std::size_t i = 0; i < n.queries; ++i)
      for (std::size_t h = 0; h < n.heads; ++h) {
        const auto q = [&](std::size_t c) {
          return x[(e * n.queries + i) * (n.self() ? 3 : 1) * width + h * n.size + c];
        };
        const auto kv = [&](std::size_t j, std::size_t part, std::size_t c) {
          return n.self() ? x[((e * n.queries + j) * 3 + 1 + part) * width + h * n.size + c]
                          : z[((e * keys + j) * 2 + part) * width + h * n.size + c];
        };
        Numbers weights;
        double top = -1e300, total = 0;
        for (std::size_t j = 0; j < (n.causal ? i + 1 : keys); ++j) {
          double score = 0;
          for (std::size_t c = 0; c < n.size; ++c) score += q(c) * kv(j, 0, c) / std::sqrt(static_cast<double>(n.size));
          weights.push_back(score);
          top = std::max(top, score);
        }
        for (double& w : weights) total += w = n.relu ? std::max(w, 0.0) : std::exp(w - top);
        for (std::size_t c = 0; c < n.size; ++c) {
          double sum = 0;
          for (std::size_t j = 0; j < weights.size() && total > 0; ++j) sum += weights[j] / total * kv(j, 1, c);
          y.push_back(sum);
        }
      }
  return y;
}

double distance(const Numbers& a, const Numbers& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = larger_or_nan(most, std::abs(a[i] - b[i]));
  return most;
}

constexpr Sizes self_attention{2, 5, 0, 3, 4}, tiles{2, 130, 0, 2, 5}, causal_tiles{2, 130, 0, 2, 5, true},
    whole_tiles{1, 128, 0, 1, 16, true}, one_row{3, 1, 0, 2, 2, true}, cross{2, 70, 131, 2, 3},
    few_keys{2, 131, 2, 1, 3};

TEST_CASE("attention: values by tiles and by rows") {
  std::vector<Sizes> sizes{self_attention, tiles, causal_tiles, whole_tiles, one_row, cross, few_keys};
  for (std::size_t i = 0; i < 7; ++i) sizes.push_back(sizes[i].with_relu());
  for (const Sizes& n : sizes) {
    CAPTURE(n.queries);
    CAPTURE(n.keys);
    CAPTURE(n.relu);
    const Numbers x = x_of(n), expected = expected_of(n, x);
    CHECK(distance(output_rows<ap::Host<double>>(n, x), expected) < 1e-13);
    CHECK(distance(output_rows<ByRows<double>>(n, x), expected) < 1e-13);
    CHECK(distance(output_rows<ap::Host<float>>(n, x), expected) < 2e-6);
    CHECK(distance(output_rows<ByRows<float>>(n, x), expected) < 2e-6);
  }
}

TEST_CASE("attention: scores of thousands do not overflow") {
  const Numbers x = x_of(causal_tiles, 100);
  const Numbers expected = expected_of(causal_tiles, x);
  CHECK(distance(output_rows<ap::Host<float>>(causal_tiles, x), expected) < 0.5);  // of 100
  CHECK(distance(output_rows<ap::Host<double>>(causal_tiles, x), expected) < 1e-9);
  CHECK(distance(output_rows<ByRows<double>>(causal_tiles, x), expected) < 1e-9);
}

TEST_CASE("attention: with relu, a factor of the queries changes nothing, and scores below 0 give 0") {
  const Sizes n = cross.with_relu();
  Numbers x = x_of(n);
  const Numbers once = output_rows<ap::Host<double>>(n, x), by_rows = output_rows<ByRows<double>>(n, x);
  for (double& q : x) q *= 1024;
  CHECK(output_rows<ap::Host<double>>(n, x) == once);
  CHECK(output_rows<ByRows<double>>(n, x) == by_rows);
  // One head of one element: the query 1 with keys -1 and -2, whose scores are negative.
  const Sizes small{1, 2, 0, 1, 1, false, true};
  const Numbers rows{1, -1, 5, 1, -2, 7};
  CHECK(output_rows<ap::Host<double>>(small, rows) == Numbers{0, 0});
  CHECK(output_rows<ByRows<double>>(small, rows) == Numbers{0, 0});
}

TEST_CASE("attention: the number of threads changes no bit") {
  const Numbers x = x_of(causal_tiles);
  const Numbers one = output_rows(causal_tiles, x, ap::Host<float>{});
  CHECK(output_rows(causal_tiles, x, ap::Host<float>{.threads = 2}) == one);
  CHECK(output_rows(causal_tiles, x, ap::Host<float>{.threads = 3}) == one);
}

// A loss of attention between hidden values; `side` is the input that is trained, or both.
struct Checked {
  Sizes n;
  bool fixed_keys = false, fixed_queries = false;
  template <class Net>
  Value operator()(Net& net) const {
    const std::size_t width = n.heads * n.size;
    const ap::Attention attention = n.attention();
    const ap::GraphIndex rows = net.axis("queries", n.queries);
    Value y{};
    if (n.self()) {
      y = net(attention, net("in", ap::Dense{.units = 3 * width}, net.field("x", {2}, rows)));
    } else {
      const ap::GraphIndex keys = net.axis("keys", n.keys);
      const Value q = fixed_queries ? net.field("q", {width}, rows)
                                    : net("q", ap::Dense{.units = width}, net.field("x", {2}, rows));
      const Value kv = fixed_keys ? net.field("kv", {2 * width}, keys)
                                  : net("kv", ap::Dense{.units = 2 * width}, net.field("z", {3}, keys));
      y = net(attention, q, kv);
    }
    return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), net("out", ap::Dense{.units = 3}, y),
               net.tokens("label", {1}, rows));
  }
};

template <class B>
void check_gradients(const Checked& model, double tolerance = 1e-6) {
  ap::testing::check_error(ap::gradient_check(model, {.batch = 2, .capacity = 3}, B{}), tolerance);
}

TEST_CASE("attention: gradients") {
  for (const Sizes& n : {self_attention, Sizes{2, 70, 0, 1, 3}, Sizes{2, 70, 0, 1, 3, true}, Sizes{2, 66, 131, 1, 2}}) {
    CAPTURE(n.queries);
    check_gradients<ap::Host<double>>({n});
    check_gradients<ByRows<double>>({n});
    check_gradients<ap::Host<double>>({n.with_relu()});
    check_gradients<ByRows<double>>({n.with_relu()});
  }
  for (const bool fixed_keys : {false, true}) {
    check_gradients<ap::Host<double>>({Sizes{2, 3, 5, 2, 2}, fixed_keys, !fixed_keys});
    check_gradients<ByRows<double>>({Sizes{2, 3, 5, 2, 2}, fixed_keys, !fixed_keys});
  }
}

TEST_CASE("attention: a second pass overwrites the gradients of the first") {
  using B = ap::Host<double>;
  const B backend;
  const Checked model{Sizes{2, 130, 0, 1, 3, true}};
  const ap::RecordedModel<B> recorded(model);
  ap::GraphExecutor<B> executor(backend, recorded, 2);
  Numbers values(recorded.layout().size()), x = wave(2 * 130 * 2, 1, 0.3), weights(2 * 130, 1.0);
  ap::Initializer<double> set(recorded.layout(), values.data(), ap::RandomKey{1});
  recorded.initialize(set);
  const std::vector<std::int32_t> labels(2 * 130, 1);
  executor.bind(recorded.field("x").value, x.data());
  executor.bind(recorded.field("label").value, labels.data());
  Numbers gradients[2];
  for (Numbers& to : gradients) {
    to.resize(values.size());
    ap::GraphPass<B> pass;
    pass.values = values.data();
    pass.gradients = to.data();
    pass.examples = 2;
    pass.weights = weights.data();
    executor.forward(pass);
    executor.backward(pass);
  }
  CHECK(gradients[0] == gradients[1]);
}

TEST_CASE("learned positions: gradients, also where the input or the gradient has another reader") {
  const auto model = [](int readers) {
    return [readers](auto& net) {
      const ap::GraphIndex rows = net.axis("time", 4);
      const Value x = net("in", ap::Dense{.units = 3}, net.field("x", {2}, rows));
      const Value other = net("other", ap::Dense{.units = 3}, x);
      Value y = net("positions", ap::LearnedPositions{ap::Init::unit_normal}, x);
      if (readers == 1) y = net(ap::Product{}, x, y);
      if (readers == 2) y = net(ap::Sum{}, other, y);  // both inputs share its gradient
      return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), y, net.tokens("label", {1}, rows));
    };
  };
  for (const int readers : {0, 1, 2}) {
    ap::testing::check_error(ap::gradient_check(model(readers), {.batch = 3, .capacity = 4}));
  }
}

TEST_CASE("attention: costs") {
  // Two examples of 4 rows: 2 x 10 causal pairs, 2 x 16 others.
  const auto flops = [](const Sizes& n) {
    return ap::model_cost([&](auto& net) { return Attend{n}(net); }).forward_flops;
  };
  CHECK(flops({1, 4, 0, 2, 3}) == 16 * (4 * 6 + 6 * 2));
  CHECK(flops({1, 4, 0, 2, 3, true}) == 10 * (4 * 6 + 6 * 2));
  CHECK(flops({1, 4, 7, 2, 3}) == 28 * (4 * 6 + 6 * 2));
  CHECK(flops({1, 4, 7, 2, 3, false, true}) == 28 * (4 * 6 + 3 * 2));
}

TEST_CASE("attention: mistakes name the op") {
  const auto sentence_of = [](const auto& model) {
    ap::Recorder<> net;
    try {
      model(net);
    } catch (const ap::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto self = [&](std::size_t heads, std::size_t width) {
    return sentence_of(
        [=](auto& net) { net("mix", ap::Attention{.heads = heads}, net.field("x", {width}, net.axis("time", 4))); });
  };
  CHECK(self(2, 12).empty());
  CHECK(self(3, 12) == "mix: heads is 3, expected a divisor of the width, 4");
  CHECK(self(0, 12) == "mix: heads is 0, expected a divisor of the width, 4");
  CHECK(self(2, 13) == "mix: the input has shape {13}, expected queries, keys and values of the same width");
  CHECK(sentence_of([](auto& net) { net("mix", ap::Attention{}, net.field("x", {12})); }) ==
        "mix: expected several rows per example, got shape {12} on the axis 'examples'; net.rows_of() makes rows of an "
        "example's first extent");
  const auto both = [&](bool causal, std::size_t width) {
    return sentence_of([=](auto& net) {
      const Value q = net.field("q", {4}, net.axis("time", 4));
      net("mix", ap::Attention{.causal = causal}, q, net.field("kv", {width}, net.axis("words", 3)));
    });
  };
  CHECK(both(false, 8).empty());
  CHECK(both(false, 4) == "mix: the keys and values have shape {4}, expected twice the width of the queries, 8");
  CHECK(both(true, 8) == "mix: causal attention takes one input, whose rows are both queries and keys");
}

}  // namespace
}  // namespace of_attention
