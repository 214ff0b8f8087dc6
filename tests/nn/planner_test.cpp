// Plans of recorded models: sharing memory changes no bit, and the memory is close to the least possible.
#include "algoperf/nn/graph/planner.hpp"

#include <algorithm>

#include "../support/check_error.hpp"

#include "algoperf/nn/all.hpp"
#include "algoperf/nn/ops/concat.hpp"
#include "algoperf/nn/ops/product.hpp"
#include "algoperf/nn/ops/split.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace of_planner {
namespace {

// A random graph: values with several uses, ops in place, views, ops with two outputs, a shared table, dropout, parts
// that are not trained, outputs that are kept and outputs that are not used.
struct RandomGraph {
  std::uint64_t seed = 0;
  bool fixed_parts = true;

  template <class Net>
  ap::Value operator()(Net& net) const {
    using ap::Value;
    ap::RandomStream random(ap::RandomKey{seed});
    const ap::SharedTensor table = net.tensor("table", ap::Kind::embedding, {5, 6}, ap::Init::unit_normal);
    const ap::LookUp look_up{.table = table, .vocabulary = 5, .width = 6};
    const ap::Dense dense{.units = 6, .init = ap::Init::lecun_normal};
    std::vector<Value> values{net.field("a", {6}), net(dense, net.field("b", {4})),
                              net.reshape(net(look_up, net.tokens("t")), {6})};
    const std::size_t count = 5 + random.below(14);
    for (std::size_t i = 0; i < count; ++i) {
      const auto any = [&] { return values[random.below(static_cast<std::uint32_t>(values.size()))]; };
      const Value a = any(), b = any();
      switch (random.below(13)) {
        case 0:
          values.push_back(net(ap::Sum{}, a, b));
          break;
        case 1:
          values.push_back(net(ap::Product{}, a, net(ap::Tanh{}, b)));
          break;
        case 2:
          values.push_back(net(ap::LeakyRelu{}, a));
          break;
        case 3:
          values.push_back(net(ap::Tanh{}, a));
          break;
        case 4:
          values.push_back(net({"dense", i}, dense, a));
          break;
        case 5:
          values.push_back(net.reshape(net.reshape(a, {2, 3}), {6}));
          break;
        case 6: {
          const auto [left, right] = net(ap::Split{.first = 2}, a);
          values.push_back(net(ap::Concat{}, right, random.below(2) == 0 ? left : net(ap::Split{.first = 2}, b)[0]));
          break;
        }
        case 7:
          values.push_back(net({"norm", i}, ap::LayerNorm{}, a));
          break;
        case 8:
          values.push_back(net(ap::Sum{}, a, a));
          break;
        case 9:
          values.push_back(net(ap::Dropout{.rate = 0.25}, a));
          break;
        case 10:
          if (fixed_parts) values.push_back(net({"fixed", i}, ap::StopGradient(dense), a));
          break;
        case 11:
          net.keep(a);
          break;
        default:
          values.push_back(net(ap::Sum{}, net(ap::LeakyRelu{}, a), b));
      }
    }
    const Value joined = net(ap::Concat{}, values.back(), values[values.size() - 2], values.back());
    const Value hidden = net("last", dense, joined);
    const ap::LossOf loss{ap::SoftmaxCrossEntropy{}};
    if (random.below(3) == 0) net(loss, hidden, net.tokens("other"));
    return net(loss, net(ap::TiedLogits{.table = table, .vocabulary = 5, .width = 6}, hidden), net.tokens("label"));
  }
};

struct Outcome {
  std::vector<double> losses, kept, gradients;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Returns the outcome of a training step, and the number of the plan's steps.
Outcome step_of(const RandomGraph& graph, bool share, std::size_t& steps) {
  using B = ap::Host<double>;
  constexpr std::size_t batch = 3;
  const ap::RecordedModel<B> model(graph, true);
  ap::GraphExecutor<B> executor(B{}, model, batch, {.share_memory = share});
  std::vector<double> values(model.layout().size()), gradients(values.size(), NAN), weights(batch, 1);
  ap::Initializer<double> set(model.layout(), values.data(), ap::RandomKey{5});
  model.initialize(set);
  const Numbers a = normals(batch * 6, 1), b = normals(batch * 4, 2);
  const std::vector<std::int32_t> t{4, 0, 4}, label{1, 3, 2}, other{5, 0, 1};
  executor.bind(model.field("a").value, a.data());
  executor.bind(model.field("b").value, b.data());
  executor.bind(model.field("t").value, t.data());
  executor.bind(model.field("label").value, label.data());
  for (const auto& info : model.graph().values)
    if (std::string(info.field) == "other") executor.bind(info.value, other.data());
  const ap::GraphPass<B> pass{values.data(), gradients.data(), batch, ap::Mode::train, ap::RandomKey{9}, 0,
                              weights.data()};
  Outcome outcome;
  for (int repetition = 0; repetition < 2; ++repetition) {  // the second finds what the first left in memory
    executor.forward(pass);
    outcome = {};
    const auto read = [&](ap::GraphIndex value, std::vector<double>& to) {
      const ap::Value& v = model.graph().values[value].value;
      const double* const from = executor.result(v);
      if (from != nullptr) to.insert(to.end(), from, from + batch * v.shape.size());  // null: a field
    };
    for (const ap::ModelGraph::Op& op : model.graph().ops)
      if (op.loss) read(model.graph().output(op, 0), outcome.losses);
    for (const ap::GraphIndex value : model.graph().outputs) read(value, outcome.kept);
    executor.backward(pass);
  }
  for (const ap::TensorHandle handle : model.layout().tensors()) {
    const ap::TensorPlace at = model.layout().place_of(handle);
    if (model.layout().spec(handle).fixed) continue;
    outcome.gradients.insert(outcome.gradients.end(), gradients.begin() + static_cast<std::ptrdiff_t>(at.offset),
                             gradients.begin() + static_cast<std::ptrdiff_t>(at.offset + at.size));
  }
  if (const double* const d_a = executor.field_gradient(model.field("a").value); d_a != nullptr)
    outcome.gradients.insert(outcome.gradients.end(), d_a, d_a + batch * 6);
  steps = executor.plan().steps.size();
  return outcome;
}

TEST_CASE("planner: random graphs have the bits of a plan without shared memory") {
  std::size_t steps = 0, separate_steps = 0, saved = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    INFO("seed ", seed);
    const Outcome expected = step_of({seed}, false, separate_steps), found = step_of({seed}, true, steps);
    CHECK(found == expected);
    CHECK(std::all_of(found.gradients.begin(), found.gradients.end(), [](double x) { return std::isfinite(x); }));
    saved += steps < separate_steps;
  }
  CHECK(saved > 100);
}

// Differences see through parts that are not trained, so there are none here.
TEST_CASE("planner: gradients of random graphs agree with differences") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    INFO("seed ", seed);
    ap::testing::check_error(ap::gradient_check(RandomGraph{seed, false}, {.samples = 6}));
  }
}

// The two uses of x in a residual block need one addition of gradients, and no copy.
TEST_CASE("planner: residual blocks copy no gradient") {
  const ap::Residual block(ap::LayerNorm{}, ap::Dense{.units = 6}, ap::Tanh{});
  const ap::Model model(ap::Shape{6}, ap::Dense{.units = 6}, block, block, block);
  ap::Recorder<> net;
  ap::Objective<std::remove_const_t<decltype(model)>, ap::SoftmaxCrossEntropy>{model, {}}(net);
  std::size_t adds = 0, others = 0;
  for (const ap::PlanStep& step : ap::Planner(net.graph(), {}).plan().steps) {
    adds += step.kind == ap::PlanStep::Kind::add;
    others += step.kind == ap::PlanStep::Kind::copy || step.kind == ap::PlanStep::Kind::zero;
  }
  CHECK(adds == 3);
  CHECK(others == 0);
}

// The gradient of a view's output becomes that of its input, so an op before it still works in place.
TEST_CASE("planner: a view needs no memory") {
  const ap::Dense six{.units = 6};
  const auto buffers = [](const auto& model) {
    ap::Recorder<> net;
    ap::Objective<std::remove_cvref_t<decltype(model)>, ap::SoftmaxCrossEntropy>{model, {}}(net);
    return ap::Planner(net.graph(), {}).plan().buffers.size();
  };
  CHECK(buffers(ap::Model(ap::Shape{6}, six, ap::Relu{}, ap::Flatten{}, six)) ==
        buffers(ap::Model(ap::Shape{6}, six, ap::Relu{}, six)));
}

template <class Model>
double overhead(const Model& model, std::size_t examples, bool training) {
  ap::Recorder<> net;
  ap::Objective<Model, ap::SoftmaxCrossEntropy>{model, {}}(net);
  ap::MemoryPlan plan = ap::Planner(net.graph(), {.training = training}).plan();
  ap::PlanSizes sizes{.examples = examples};  // with 30 rows per example on ragged axes
  sizes.ragged_rows = ap::List<std::size_t>(net.graph().axes.size(), 30 * examples);
  ap::size_buffers(plan, net.graph(), sizes);
  ap::place_buffers(plan);
  REQUIRE(plan.bytes >= plan.least_bytes);
  return static_cast<double>(plan.bytes) / static_cast<double>(plan.least_bytes);
}

TEST_CASE("planner: scratch memory of an op is not counted as held") {
  const ap::LstmLanguageModel model{.vocabulary = 5, .context = 3, .width = 2, .units = 4};
  ap::Recorder<> net;
  ap::Objective<ap::LstmLanguageModel, ap::SoftmaxCrossEntropy>{model, {}}(net);
  const ap::MemoryPlan plan = ap::Planner(net.graph(), {.training = true}).plan();
  std::size_t found = 0;
  for (const ap::PlanStep& step : plan.steps) {
    if (!step.example_scratch.is_buffer()) continue;
    const ap::PlanBuffer& buffer = plan.buffers[step.example_scratch.index];
    CHECK(buffer.elements.kept == 6 * 4);
    CHECK(ap::detail::elements_in(net.graph(), buffer, 7) == 0);
    ++found;
  }
  CHECK(found == 2);
}

TEST_CASE("planner: models need at most 1.1 of the least memory") {
  constexpr ap::Conv2d narrow{.filters = 8, .size = 3, .padding = 1}, wide{.filters = 16, .size = 3, .padding = 1};
  const ap::Model residual(ap::Shape{16, 16, 3}, narrow, ap::BatchNorm{}, ap::Relu{},
                           ap::Residual(narrow, ap::BatchNorm{}, ap::Relu{}), ap::MaxPool{}, wide, ap::BatchNorm{},
                           ap::Relu{}, ap::Residual(wide, ap::BatchNorm{}, ap::Relu{}), ap::MaxPool{}, ap::Flatten{},
                           ap::Dense{.units = 10});
  for (const std::size_t examples : {1ul, 32ul, 128ul})
    for (const bool training : {true, false}) {
      INFO(examples, " examples, training ", training);
      CHECK(overhead(ap::linear_model(ap::Shape{784}, 10), examples, training) <= 1.1);
      CHECK(overhead(ap::mlp(ap::Shape{784}, {256, 256}, 10), examples, training) <= 1.1);
      CHECK(overhead(ap::simple_cnn(ap::Shape{28, 28, 1}, 10), examples, training) <= 1.1);
      CHECK(overhead(ap::simple_cnn(ap::Shape{28, 28, 1}, 10, {.filters1 = 8, .filters2 = 16, .units = 128}), examples,
                     training) <= 1.1);
      CHECK(overhead(ap::next_character(16, 65), examples, training) <= 1.1);
      CHECK(overhead(residual, examples, training) <= 1.1);
      CHECK(overhead(ap::Gpt{.vocabulary = 65, .layers = 4, .dropout = 0.1}, examples, training) <= 1.1);
      CHECK(overhead(ap::RotaryTransformer{.vocabulary = 65, .layers = 4}, examples, training) <= 1.1);
      CHECK(overhead(ap::LstmLanguageModel{.vocabulary = 65, .layers = 2, .dropout = 0.1}, examples, training) <= 1.1);
      CHECK(overhead(ap::LstmLanguageModel{.vocabulary = 65, .layers = 2}, examples, training) <= 1.1);
      CHECK(overhead(ap::SmallResNet<>{.blocks = 3, .ghost = 64}, examples, training) <= 1.1);
      CHECK(overhead(ap::VisionTransformer{}, examples, training) <= 1.1);
      CHECK(overhead(ap::VisionTransformer{.glu = true, .attention_pooling = true}, examples, training) <= 1.1);
      CHECK(overhead(ap::GraphNetwork<>{.node_features = 38}, examples, training) <= 1.1);
      CHECK(overhead(ap::Dlrm{}, examples, training) <= 1.1);
      CHECK(overhead(ap::Dlrm{.residual = true, .layer_norm = true}, examples, training) <= 1.1);
    }
}

}  // namespace
}  // namespace of_planner
