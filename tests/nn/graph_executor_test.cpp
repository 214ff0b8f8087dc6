// The executor of recorded models against the passes of Model.
#include "algoperf/nn/graph/graph_executor.hpp"

#include "algoperf/nn/all.hpp"
#include "recorded.hpp"

using namespace nn_test;

namespace {

// The same values, inputs and keys give the same bits, whichever of the two runs the model.
template <class B, class Model, class Loss = ap::SoftmaxCrossEntropy>
void agrees_with_model(const Model& model, const Loss& loss = {}) {
  using S = typename B::Scalar;
  using X = typename Model::template Input<S>;
  using Label = ap::LossLabel<Loss, S>;
  constexpr std::size_t batch = 5, capacity = 7;
  constexpr bool classes = std::is_integral_v<Label>;
  const B backend;
  const ap::RandomKey key{11};
  const std::size_t outputs = model.output().size();

  ap::Layout layout;
  const auto handles = model.declare(layout);
  std::vector<S> values(layout.size()), gradients(layout.size(), S(NAN));
  ap::Initializer<S> set(layout, values.data(), key);
  model.initialize(set, handles);
  std::vector<X> x;
  for (const double number : normals(batch * model.input().size(), 3))
    x.push_back(std::is_same_v<X, S> ? static_cast<X>(number) : static_cast<X>(std::abs(number)));
  std::vector<Label> labels;
  for (const double number : normals(batch * (classes ? 1 : outputs), 4))
    labels.push_back(classes ? static_cast<Label>(std::fmod(std::abs(number) * 10, outputs))
                             : static_cast<Label>(number));
  std::vector<S> weights(batch, S(1)), losses(batch), d_outputs(batch * outputs);
  weights[1] = S(0.25);
  ap::Workspace<B> workspace(backend, model, capacity);

  Recorded<B, Model, Loss> recorded(model, loss, capacity, backend);
  auto& executor = recorded.executor;
  REQUIRE(executor.layout().size() == layout.size());
  REQUIRE(executor.graph().parameters == model.parameters());
  CHECK(executor.graph().has_buffers == Model::has_buffers);
  std::vector<S> own_values(layout.size()), own_gradients(layout.size(), S(NAN));
  ap::Initializer<S> set_own(executor.layout(), own_values.data(), key);
  executor.initialize(set_own);
  CHECK(own_values == values);
  for (const ap::TensorHandle handle : layout.tensors()) {
    const ap::TensorSpec &own = executor.layout().spec(handle), &expected = layout.spec(handle);
    CHECK(own.name == expected.name);
    CHECK(own.kind == expected.kind);
    CHECK(own.output == expected.output);
    CHECK(own.buffer == expected.buffer);
    CHECK(own.fixed == expected.fixed);
  }

  recorded.bind(x.data(), labels.data());
  for (const ap::Mode mode : {ap::Mode::train, ap::Mode::evaluate, ap::Mode::train}) {
    INFO("mode ", static_cast<int>(mode));
    const auto call = workspace.call(backend, layout, values.data(), gradients.data(), batch, mode, key);
    const S* const z = model.forward(call, handles, x.data());
    const std::vector<S> expected(z, z + batch * outputs);
    loss.write(backend, batch, outputs, z, labels.data(), weights.data(), losses.data(), d_outputs.data());
    const ap::GraphPass<B> pass{.values = own_values.data(),
                                .gradients = own_gradients.data(),
                                .examples = batch,
                                .mode = mode,
                                .key = key,
                                .weights = weights.data()};
    executor.forward(pass);
    const S* const own = executor.result(recorded.outputs(), mode);
    CHECK(std::vector<S>(own, own + batch * outputs) == expected);
    const S* const own_losses = executor.template result<S>(recorded.losses(), mode);
    CHECK(std::vector<S>(own_losses, own_losses + batch) == losses);
    if (mode == ap::Mode::evaluate) continue;
    model.backward(call, handles, x.data(), d_outputs.data());
    executor.backward(pass);
    for (const ap::TensorHandle handle : layout.tensors()) {
      if (layout.spec(handle).fixed) continue;
      INFO(layout.spec(handle).name);
      const ap::TensorPlace at = layout.place_of(handle);
      const S *const a = own_gradients.data() + at.offset, *const b = gradients.data() + at.offset;
      CHECK(std::vector<S>(a, a + at.size) == std::vector<S>(b, b + at.size));
    }
  }
}

constexpr ap::Dense four{.units = 4}, six{.units = 6};

TEST_CASE_TEMPLATE("graph executor: the bits of Model", B, NN_BACKENDS) {
  agrees_with_model<B>(ap::mlp(ap::Shape{6}, {8, 5}, 3));
  agrees_with_model<B>(ap::simple_cnn(ap::Shape{8, 8, 1}, 4, {.filters1 = 3, .filters2 = 4, .units = 6, .size = 3}));
  agrees_with_model<B>(ap::next_character(4, 5, {.width = 3, .units = 6}));
  agrees_with_model<B>(ap::Model(ap::Shape{2, 3}, ap::Relu{}, four, ap::Dropout{.rate = 0.3}, ap::Tanh{},
                                 ap::Residual(ap::LayerNorm{}, four, ap::Dropout{.rate = 0.5}), ap::Gelu{}, six));
  agrees_with_model<B>(
      ap::Model(ap::Shape{4, 4, 2}, ap::Conv2d{.filters = 4, .size = 3, .padding = 1}, ap::BatchNorm{}, ap::Relu{},
                ap::Residual(ap::Conv2d{.filters = 4, .size = 3, .padding = 1}, ap::BatchNorm{}, ap::Silu{}),
                ap::GroupNorm{.groups = 2}, ap::AveragePool{}, ap::Flatten{}, four));
  agrees_with_model<B>(ap::Model(ap::Shape{3}, ap::Tied(ap::Embedding{.vocabulary = 5, .width = 4}, ap::Flatten{}, four,
                                                        ap::Relu{}, ap::Residual(four))));
}

TEST_CASE_TEMPLATE("graph executor: layers that are not trained", B, NN_BACKENDS) {
  const ap::Model model(ap::Shape{4, 4, 1}, ap::Conv2d{.filters = 3, .size = 3}, ap::BatchNorm{}, ap::Relu{},
                        ap::Dropout{.rate = 0.5}, ap::Flatten{}, six, ap::Tanh{}, four);
  agrees_with_model<B>(ap::stop_gradient<3>(model));
  agrees_with_model<B>(ap::stop_gradient<6>(model));
  agrees_with_model<B>(ap::Model(ap::Shape{4}, six, ap::StopGradient(six), four));  // `0` has gradient 0
  agrees_with_model<B>(model.with_init(ap::Init::torch_uniform));
}

TEST_CASE_TEMPLATE("graph executor: losses", B, NN_BACKENDS) {
  const auto model = ap::mlp(ap::Shape{6}, {8}, 4);
  agrees_with_model<B>(model, ap::SoftmaxCrossEntropy{.label_smoothing = 0.1});
  agrees_with_model<B>(model, ap::MeanSquaredError{});
  agrees_with_model<B>(model, ap::SigmoidCrossEntropy{});
}

TEST_CASE("graph executor: batches") {
  const auto model = ap::mlp(ap::Shape{6}, {8}, 4);
  Recorded<ap::Host<float>, decltype(model)> recorded(model, {}, 3);
  const ap::GraphPass<ap::Host<float>> pass{.examples = 4};
  CHECK_THROWS_WITH_AS(recorded.executor.forward(pass),
                       "GraphExecutor: the batch has 4 examples, expected 1 to 3, its capacity", ap::Error);
  CHECK_THROWS_WITH_AS(recorded.executor.field("image"), "the model reads no field 'image'", ap::Error);
}

}  // namespace
