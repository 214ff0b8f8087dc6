#include "algoperf/nn/layers/batch_norm.hpp"

#include "algoperf/nn/layers/conv2d.hpp"
#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/relu.hpp"
#include "algoperf/nn/residual.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::BatchNorm>);
static_assert(cost_of(ap::BatchNorm{}, {5, 5, 16}) == ap::Cost{32, 3600 + 96 + 4, 4000 + 160 + 2, 1280});
constexpr ap::Model plain(ap::Shape{4}, ap::Dense{.units = 4}, ap::Residual(ap::Dense{.units = 4}));
constexpr ap::Model normed(ap::Shape{4}, ap::Dense{.units = 4}, ap::Residual(ap::BatchNorm{}, ap::Dense{.units = 4}));
static_assert(!decltype(plain)::has_statistics && decltype(normed)::has_statistics);

// Values of "0.scale" and so on, each followed by the layout's padding.
Numbers values_of(const ap::Layout& layout, const std::vector<std::pair<const char*, Numbers>>& tensors) {
  Numbers values(layout.size());
  for (const auto& [name, numbers] : tensors)
    std::copy(numbers.begin(), numbers.end(),
              values.begin() + static_cast<std::ptrdiff_t>(layout.place_of(layout.find(name)).offset));
  return values;
}
Numbers of(const ap::Layout& layout, const char* name, const Numbers& arena) {
  const ap::TensorPlace at = layout.place_of(layout.find(name));
  const auto begin = arena.begin() + static_cast<std::ptrdiff_t>(at.offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(at.size)};
}

const Numbers x{1, 2, -1, 0.5, 3, -2, 0.25, 4, 0, 1, 5, -3, 2, 2, -1, 1, 7, 1, 2, -1, 0.5, 0.5, 3, -2};

Start example(const ap::Layout& layout) {
  Start start{3,
              4,
              values_of(layout, {{"0.scale", {1, 0.5, -1, 2}},
                                 {"0.bias", {0, 1, 0.5, -0.25}},
                                 {"0.mean", {0.5, -0.25, 0, 1}},
                                 {"0.variance", {1, 2, 0.5, 3}}}),
              x,
              {}};
  for (int i = 1; i <= 24; ++i) start.d_outputs.push_back(i % 7 / 8.0);
  return start;
}

// torch.nn.BatchNorm2d in double, its channels moved to the end.
TEST_CASE_TEMPLATE("batch norm: torch's numbers", B, NN_BACKENDS) {
  const ap::Model model(ap::Shape{2, 1, 4}, ap::BatchNorm{});
  ap::Layout layout;
  model.declare(layout);
  const Outcome found = run<B>(model, example(layout));
  CHECK(distance(
            found.outputs,
            {-0.53401365356906094,  1.4642370647904241,  1.5855654656282951,   0.26154837492744909, 0.32040819214143657,
             -0.021321542538933258, 1.0142152205607715,  3.3308386244921437,   -0.9612245764243097, 1.0928474129580847,
             -1.1569157106958188,   -2.8077418746372458, -0.10680273071381219, 1.4642370647904241,  1.5855654656282951,
             0.70001841057954839,   2.0292518835624316,  1.0928474129580847,   0.21432487746623818, -1.0538617320288486,
             -0.74761911499668532,  0.90715258704191515, -0.24275531858778082, -1.9308018033330472}) < tolerance<B>());
  CHECK(distance(found.d_input,
                 {-0.076074988710751898,  0.035751222045094094,  -0.082314112354154478,  0.090152649659832051,
                  0.10260644960715097,    0.0080048969283388494, 0.11737864542967018,    -0.026636505859324578,
                  -0.0052116117989850497, 0.028814640765905286,  -0.0036682523957827589, -0.012293212647060969,
                  0.17346982651891779,    -0.057096190912990744, 0.031955936659350273,   -0.098787600849086457,
                  -0.074044327326104248,  0.075238347244947698,  -0.12869371913509717,   0.21850336553448832,
                  -0.12074534829022761,   -0.090712916071295169, 0.065341501796013973,   -0.17093869583884838}) <
        tolerance<B>());
  CHECK(distance(of(layout, "0.scale", found.gradients), {0.57406467758674051, -1.1605926619760605, 0.64991090376430827,
                                                          -0.94545101437483903}) < tolerance<B>());
  CHECK(distance(of(layout, "0.bias", found.gradients), {2.125, 2, 1.875, 2.625}) < tolerance<B>());
  // What a step takes off the running averages to make them torch's.
  CHECK(distance(of(layout, "0.mean", found.gradients), {0.5 - 0.675, -0.25 + 0.15, -0.1375, 1 - 0.89166666666666672}) <
        tolerance<B>());
  CHECK(distance(of(layout, "0.variance", found.gradients),
                 {1 - 1.5575, 2 - 2.0175, 0.5 - 1.024375, 3 - 3.3241666666666667}) < tolerance<B>());
}

TEST_CASE_TEMPLATE("batch norm: evaluation by the running averages, torch's numbers", B, NN_BACKENDS) {
  using S = typename B::Scalar;
  const ap::BatchNorm norm;
  const ap::Shape in{2, 1, 4};
  ap::Layout layout;
  const auto handles = norm.declare(layout, "0", in);
  const B backend{};
  const Numbers start = example(layout).values;
  const std::vector<S> values(start.begin(), start.end()), input(x.begin(), x.end());
  std::vector<S> y(input.size());
  const ap::LayerPass<B> pass{backend, layout,  values.data(), nullptr, 3, 3, ap::Mode::evaluate,
                              {},      nullptr, nullptr,       nullptr};
  norm.forward(pass, handles, in, input.data(), y.data());
  CHECK(distance({y.begin(), y.end()}, {0.49999750001874987,
                                        1.7954931401045018,
                                        1.9141994204496,
                                        -0.82734930694158271,
                                        2.4999875000937495,
                                        0.38128311325205433,
                                        0.1464501448876,
                                        3.2140958416494962,
                                        -0.49999750001874987,
                                        1.4419406333913898,
                                        -6.5709971022480005,
                                        -4.8687944555326617,
                                        1.4999925000562495,
                                        1.7954931401045018,
                                        1.9141994204496,
                                        -0.25,
                                        6.4999675002437485,
                                        1.4419406333913898,
                                        -2.3283988408992,
                                        -2.5593972277663308,
                                        0,
                                        1.265164380034834,
                                        -3.7425982613488,
                                        -3.7140958416494962}) < tolerance<B>());
}

TEST_CASE_TEMPLATE("batch norm: a ghost batch is a batch by itself", B, NN_BACKENDS) {
  const ap::Shape in{3, 5};
  const ap::Model whole(in, ap::BatchNorm{}), ghosts(in, ap::BatchNorm{.ghost = 2});
  ap::Layout layout;
  whole.declare(layout);
  const Numbers values = normals(layout.size(), 3), input = normals(5 * 15, 4), d = normals(5 * 15, 5);
  const Outcome found = run<B>(ghosts, {5, 6, values, input, d});
  Numbers scale(5), mean(5);
  for (const auto& [begin, n] : {std::pair<std::ptrdiff_t, std::ptrdiff_t>{0, 2}, {2, 3}}) {
    const auto cut = [&, first = begin, count = n](const Numbers& all) {
      return Numbers(all.begin() + first * 15, all.begin() + (first + count) * 15);
    };
    const std::size_t size = static_cast<std::size_t>(n);
    const Outcome part = run<B>(whole, {size, size, values, cut(input), cut(d)});
    CHECK(distance(cut(found.outputs), part.outputs) < tolerance<B>());
    CHECK(distance(cut(found.d_input), part.d_input) < tolerance<B>());
    for (std::size_t c = 0; c < 5; ++c) {
      scale[c] += of(layout, "0.scale", part.gradients)[c];
      mean[c] += of(layout, "0.mean", part.gradients)[c] / 2;
    }
  }
  CHECK(distance(of(layout, "0.scale", found.gradients), scale) < tolerance<B>());
  CHECK(distance(of(layout, "0.mean", found.gradients), mean) < 10 * tolerance<B>());
}

TEST_CASE_TEMPLATE("batch norm: gradients", B, NN_BACKENDS) {
  check_model<B>(ap::Model(ap::Shape{6}, ap::BatchNorm{}), {.batch = 5, .capacity = 8});
  check_model<B>(ap::Model(ap::Shape{3, 4, 2}, ap::Conv2d{.filters = 6, .size = 3}, ap::BatchNorm{.ghost = 3},
                           Softsign{}, ap::Dense{.units = 4}),
                 {.batch = 7, .samples = 12});
  check_model<B>(
      ap::Model(ap::Shape{5}, ap::Dense{.units = 19}, Softsign{}, ap::BatchNorm{}, Softsign{}, ap::Dense{.units = 4}),
      {.batch = 4});
}

TEST_CASE("batch norm: first values, kinds and errors") {
  const ap::Model model(ap::Shape{4, 6}, ap::BatchNorm{});
  CHECK(first_variance(model, "0.scale") == 1);
  CHECK(first_variance(model, "0.bias") == 0);
  CHECK(first_variance(model, "0.mean") == 0);
  CHECK(first_variance(model, "0.variance") == 1);
  ap::Layout layout;
  model.declare(layout);
  CHECK(layout.spec(layout.find("0.scale")).kind == ap::Kind::batch_norm_scale);
  CHECK(layout.spec(layout.find("0.mean")).statistic);
  CHECK(!layout.spec(layout.find("0.bias")).statistic);
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::BatchNorm{.eps = 0})) ==
        "0: BatchNorm has eps 0, expected more than 0");
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::BatchNorm{.momentum = 1.5})) ==
        "0: BatchNorm has momentum 1.5, expected [0, 1]");
  CHECK(declare_error(ap::Model(ap::Shape{4}, ap::BatchNorm{.ghost = 1})) ==
        "0: BatchNorm has ghost 1 on examples of one number a channel, expected at least 2 to normalise");
  CHECK(declare_error(ap::Model(ap::Shape{2, 4}, ap::BatchNorm{.ghost = 1})).empty());
  CHECK_THROWS_WITH_AS(run(ap::Model(ap::Shape{4}, ap::BatchNorm{}), {1, 1, {}, {}, {}}, ap::Host<float>{}),
                       "BatchNorm: a batch has one number a channel, expected at least 2 to normalise "
                       "(LastBatch::drop leaves out a last batch of one example)",
                       ap::Error);
}

}  // namespace
