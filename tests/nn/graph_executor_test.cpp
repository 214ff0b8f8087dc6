#include "algoperf/nn/graph/graph_executor.hpp"

#include <algorithm>

#include "algoperf/nn/all.hpp"
#include "runner.hpp"

using namespace nn_test;
using ap::Value;

namespace of_executor {
namespace {

using B = ap::Host<double>;
constexpr ap::Dense four{.units = 4}, six{.units = 6};

// A model with a loss, its memory and a batch of five examples.
template <class ModelFunction>
struct Runs {
  static constexpr std::size_t batch = 5;
  ap::RecordedModel<B> model;
  ap::GraphExecutor<B> executor;
  std::vector<double> values, gradients, weights = std::vector<double>(batch, 1);
  Numbers x = normals(batch * 6, 1);
  std::vector<std::int32_t> labels{0, 3, 1, 2, 0};

  explicit Runs(const ModelFunction& function, const ap::ExecutorOptions& options = {})
      : model(function),
        executor(B{}, model, batch, options),
        values(model.layout().size()),
        gradients(values.size(), NAN) {
    ap::Initializer<double> set(model.layout(), values.data(), ap::RandomKey{1});
    model.initialize(set);
    executor.bind(model.field("x").value, x.data());
    executor.bind(model.field("label").value, labels.data());
  }
  ap::GraphPass<B> pass(ap::Mode mode = ap::Mode::train) {
    return {values.data(), gradients.data(), batch, mode, ap::RandomKey{2}, 0, weights.data()};
  }
  Numbers gradient(const char* tensor) {
    executor.forward(pass());
    executor.backward(pass());
    const ap::TensorPlace at = model.layout().place_of(model.layout().find(tensor));
    return {gradients.begin() + static_cast<std::ptrdiff_t>(at.offset),
            gradients.begin() + static_cast<std::ptrdiff_t>(at.offset + at.size)};
  }
  Numbers outputs(ap::Mode mode = ap::Mode::train) {
    executor.forward(pass(mode));
    const double* const y = executor.result(model.outputs(), mode);
    return {y, y + batch * model.outputs().shape.size()};
  }
};

constexpr auto loss_of = [](auto& net, Value y) {
  net.keep(y);
  return net(ap::LossOf(ap::SoftmaxCrossEntropy{}), y, net.tokens("label"));
};

TEST_CASE("graph executor: parts that no loss depends on have gradient 0") {
  const auto function = [](auto& net) {
    const Value x = net.field("x", {6});
    const ap::SharedTensor table = net.tensor("unused", ap::Kind::embedding, {5, 4}, ap::Init::unit_normal);
    net("aside", ap::Tanh{}, net("also_aside", four, x));
    net(ap::TiedLogits{.table = table, .vocabulary = 5, .width = 4}, net("head", four, x));
    return loss_of(net, net("out", four, x));
  };
  Runs<decltype(function)> runs(function);
  for (const char* const tensor : {"also_aside.weight", "head.weight", "head.bias", "unused"}) {
    const Numbers gradient = runs.gradient(tensor);
    CHECK(std::all_of(gradient.begin(), gradient.end(), [](double g) { return g == 0; }));
  }
  const Numbers gradient = runs.gradient("out.weight");
  CHECK(std::any_of(gradient.begin(), gradient.end(), [](double g) { return g != 0; }));
}

TEST_CASE("graph executor: the random numbers of a layer depend only on its place") {
  const auto function = [](bool with_more) {
    return [with_more](auto& net) {
      Value x = net.field("x", {6});
      const auto block = [](auto& inner, Value y) { return inner(ap::Dropout{.rate = 0.5}, y); };
      const Value dropped = net("block", block, x);
      if (with_more) net("other", block, net("more", six, x));
      return loss_of(net, net.reshape(dropped, {6}));
    };
  };
  const auto plain = function(false), more = function(true);
  const Numbers first = Runs<decltype(plain)>(plain).outputs(), second = Runs<decltype(more)>(more).outputs();
  CHECK(first == second);
  CHECK(std::count(first.begin(), first.end(), 0.0) > 5);
  CHECK(std::count(first.begin(), first.end(), 0.0) < 25);
  CHECK(Runs<decltype(plain)>(plain).outputs(ap::Mode::evaluate) == normals(30, 1));  // nothing is dropped

  // Two layers at different places of a block, or at the same place of two blocks, draw different numbers.
  const auto apart = [](bool in_blocks) {
    return [in_blocks](auto& net) {
      const auto drop = [](auto& inner, Value y) { return inner(ap::Dropout{.rate = 0.5}, y); };
      const Value x = net.field("x", {6});
      const Value a = in_blocks ? net("a", drop, x) : drop(net, x), b = in_blocks ? net("b", drop, x) : drop(net, x);
      return loss_of(net, net(ap::Concat{}, a, b));
    };
  };
  for (const bool in_blocks : {false, true}) {
    const auto twice = apart(in_blocks);
    const Numbers both = Runs<decltype(twice)>(twice).outputs();
    std::size_t differ = 0;
    for (std::size_t i = 0; i < both.size(); ++i) differ += i % 12 < 6 && (both[i] == 0) != (both[i + 6] == 0);
    CHECK(differ > 5);
  }
}

TEST_CASE("graph executor: several losses add up") {
  const auto function = [](int which) {
    return [which](auto& net) {
      const Value h = net("hidden", six, net.field("x", {6}));
      if (which != 1) loss_of(net, net("a", four, h));
      if (which != 0) loss_of(net, net("b", four, net(ap::Tanh{}, h)));
      return h;
    };
  };
  const auto a = function(0), b = function(1), both = function(2);
  // All start from the values of `both`: the tensors of `b` alone would have other initial values.
  Runs<decltype(both)> of_both(both);
  const auto gradient_from = [&](auto&& runs, const char* tensor) {
    for (const ap::TensorHandle handle : runs.model.layout().tensors()) {
      const ap::TensorPlace to = runs.model.layout().place_of(handle);
      const ap::TensorPlace from =
          of_both.model.layout().place_of(of_both.model.layout().find(runs.model.layout().spec(handle).name));
      std::copy_n(of_both.values.begin() + static_cast<std::ptrdiff_t>(from.offset), from.size,
                  runs.values.begin() + static_cast<std::ptrdiff_t>(to.offset));
    }
    return runs.gradient(tensor);
  };
  Numbers sum = gradient_from(Runs<decltype(a)>(a), "hidden.weight");
  const Numbers other = gradient_from(Runs<decltype(b)>(b), "hidden.weight");
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  CHECK(distance(of_both.gradient("hidden.weight"), sum) < 1e-14);
}

TEST_CASE("graph executor: a part that is trained may use a tensor that is not") {
  const auto function = [](auto& net) {
    const auto table_of = [&] {
      const typename std::remove_reference_t<decltype(net)>::Fixed fixed(net);
      return net.tensor("table", ap::Kind::embedding, {4, 6}, ap::Init::unit_normal);
    };
    const ap::SharedTensor table = table_of();
    const Value h = net("hidden", six, net.field("x", {6}));
    return loss_of(net, net(ap::TiedLogits{.table = table, .vocabulary = 4, .width = 6}, h));
  };
  Runs<decltype(function)> runs(function);
  CHECK(runs.model.graph().parameters == 6 * 6 + 6);
  const Numbers gradient = runs.gradient("hidden.weight"), of_table = runs.gradient("table");
  CHECK(std::any_of(gradient.begin(), gradient.end(), [](double g) { return g != 0; }));
  CHECK(std::all_of(of_table.begin(), of_table.end(), [](double g) { return std::isnan(g); }));  // not written
}

TEST_CASE("graph executor: outputs that are a view of a field are where the field is") {
  const auto function = [](auto& net) {
    const Value y = net.reshape(net.field("x", {6}), {2, 3});
    net("unused", ap::LossOf(ap::SoftmaxCrossEntropy{}), net("out", four, y), net.tokens("label"));
    net.keep(y);
    return y;
  };
  CHECK(Runs<decltype(function)>(function).outputs() == normals(30, 1));
}

TEST_CASE("graph executor: losses can be written to memory of the caller's") {
  const auto function = [](auto& net) { return loss_of(net, net("out", four, net.field("x", {6}))); };
  Runs<decltype(function)> runs(function);
  runs.executor.forward(runs.pass());
  const double* const own = runs.executor.result<double>(runs.model.losses());
  const Numbers expected(own, own + 5);
  Numbers losses(5);
  runs.executor.bind(runs.model.losses(), losses.data());
  runs.executor.forward(runs.pass());
  CHECK(losses == expected);
  CHECK(runs.executor.result<double>(runs.model.losses()) == losses.data());
  std::fill(losses.begin(), losses.end(), -1);
  runs.executor.forward_to_outputs(runs.pass(ap::Mode::evaluate));
  CHECK(losses == Numbers(5, -1));
  runs.executor.forward(runs.pass(ap::Mode::evaluate));
  CHECK(losses == expected);
}

TEST_CASE("graph executor: errors") {
  const auto function = [](auto& net) { return loss_of(net, net("out", four, net.field("x", {6}))); };
  Runs<decltype(function)> runs(function);
  ap::GraphPass<B> pass = runs.pass();
  pass.examples = 6;
  CHECK_THROWS_WITH_AS(runs.executor.forward(pass),
                       "GraphExecutor: the batch has 6 examples, expected 1 to 5, its capacity", ap::Error);
  CHECK_THROWS_WITH_AS(runs.model.field("image"), "the model reads no field 'image'", ap::Error);
  Runs<decltype(function)> predicts(function, {.training = false});
  CHECK_NOTHROW(predicts.executor.forward(predicts.pass(ap::Mode::evaluate)));
  CHECK_THROWS_WITH_AS(predicts.executor.forward(predicts.pass()),
                       "GraphExecutor: it was made without memory for training", ap::Error);
}

}  // namespace
}  // namespace of_executor
