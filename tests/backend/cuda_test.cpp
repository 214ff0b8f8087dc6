// Tests of the CUDA backend, on a device or on the emulated device (tests/emulated_cuda).
#include <algoperf/backend/cuda.cuh>
#include <algoperf/backend/products/linear_algebra.hpp>
#include <algoperf/rules/recipes/shampoo.hpp>
#include <algoperf/rules/recipes/soap.hpp>
#include <string>
#include <type_traits>

#include "../device/checks.hpp"

using namespace algoperf;

namespace {

static_assert(Backend<Cuda<float>>);
static_assert(Backend<Cuda<double>>);
static_assert(std::is_same_v<decltype(Cuda{}), Cuda<float>>);

// Tolerance in ulps for the same operations, contracted or not, and for sums in another order.
constexpr double few = 64;

}  // namespace

TEST_CASE("arrays") { agreement::check_arrays(Cuda<float>{}); }

TEST_CASE_TEMPLATE("primitives agree with the host's", S, float, double) {
  agreement::check_primitives(Cuda<S>{}, few, few);
}

TEST_CASE_TEMPLATE("matrix products agree with the host's", S, float, double) { agreement::check_products(Cuda<S>{}); }

// In double only; tests/contracts cover float.
TEST_CASE("rules agree with the host's") { agreement::check_rules(Cuda<double>{}, few, 8 * few); }

TEST_CASE("mixed precision agrees with the host's") { agreement::check_mixed_precision(Cuda<float>{}, 8 * few); }

TEST_CASE("Muon in bfloat16 agrees with the host's") { agreement::check_orthogonalization_in_bfloat16(Cuda<float>{}); }

TEST_CASE("copies of states") { agreement::check_state_copies(Cuda<float>{}); }

TEST_CASE_TEMPLATE("layers agree with the host's, forward and backward", S, float, double) {
  agreement::check_layers(Cuda<S>{}, few);
}

TEST_CASE("gradients on the device agree with finite differences") {
  CHECK(
      gradient_check(next_character(5, 16, {.width = 3, .units = 8}), SoftmaxCrossEntropy{}, {}, Cuda<double>{}).error <
      1e-5);
}

TEST_CASE("an allocation that exceeds the device's memory") {
  std::string told;
  try {
    Cuda<float>{}.array<float>(std::size_t{1} << 46);
  } catch (const Error& error) {
    told = error.what();
  }
  CHECK(told.find("cuda: the device is out of memory: 268435456 MiB requested, ") == 0);
}

TEST_CASE("matrices of one shape processed concurrently give the same result as one after another") {
  Layout layout;
  for (int i = 0; i < 9; ++i) layout.add({"a" + std::to_string(i), Kind::weight, {12, 20}});
  for (int i = 0; i < 5; ++i) layout.add({"b" + std::to_string(i), Kind::weight, {7, 7}});
  const std::size_t n = layout.size();
  const auto train = [&](const auto& rule, std::size_t streams, std::size_t replays) {
    const Cuda<float> backend{.streams = streams};
    auto state = rule.state(backend, layout);
    auto gradients = backend.array<float>(n), values = agreement::on_device(backend, agreement::numbers<float>(n, 0));
    Cuda<float>::Recording recording;
    for (unsigned t = 1; t <= 8; ++t) {
      backend.write(n, agreement::numbers<float>(n, t).data(), gradients.data());
      backend.replay(recording, [&] {
        rule.step(Update<float>{gradients.data(), values.data()}, state, {.t = t, .learning_rate = 0.01});
      });
    }
    CHECK(recording.replays() == replays);
    return agreement::on_host(backend, values);
  };
  const auto check = [&](const auto& rule, std::size_t replays) {
    const std::vector<float> one_by_one = train(rule, 1, replays);
    CHECK(train(rule, 4, replays) == one_by_one);
    CHECK(train(rule, 16, replays) == one_by_one);
  };
  check(muon(), 6);
  check(shampoo({.root_frequency = 2, .start_step = 2}), 0);
  check(shampoo({.root_frequency = 2, .start_step = 2}, GraftAdam{}, NewtonRoot{}), 0);
  check(shampoo({.root_frequency = 2, .start_step = 2}, GraftAdagrad{}), 0);
  check(shampoo({.root_frequency = 2, .start_step = 2}, NoGraft{}), 0);
  check(soap({.frequency = 2}), 0);
}

TEST_CASE("the device updates a loss scale without the host waiting") {
  const auto run = [&](const auto& backend, const auto& repeat) {
    Layout one;
    one.add({"tensor", Kind::weight, {1000}});
    const std::size_t n = one.size();
    const auto rule = mixed_precision<float16>(adamw(), DynamicLossScale{.start = 64, .interval = 4});
    auto state = rule.state(backend, one);
    const auto halves = [n](float value) { return std::vector<float16>(n, float16(value)); };
    auto values = agreement::on_device(backend, halves(1)), gradients = agreement::on_device(backend, halves(0));
    std::vector<double> scales;
    for (int t = 1; t <= 12; ++t) {
      const std::vector<float16> g = halves(t == 6 || t == 7 ? std::numeric_limits<float>::infinity() : 0.5f);
      backend.write(n, g.data(), gradients.data());
      repeat([&] {
        rule.step(std::span<const float16>(gradients.data(), n), std::span(values.data(), n), state,
                  {.learning_rate = 1e-2});
      });
      double scale = 0;
      backend.read(1, state.loss_scale_at(), &scale);
      CHECK(scale == state.loss_scale());
      scales.push_back(scale);
    }
    CHECK(state.t() == 10);
    CHECK(state.skipped_steps() == 2);
    CHECK(scales == std::vector<double>{64, 64, 64, 128, 128, 64, 32, 32, 32, 32, 64, 64});
    return agreement::on_host(backend, state.masters);
  };
  const Cuda<float> device;
  Cuda<float>::Recording recording;
  const std::vector<float> there = run(device, [&](const auto& step) { device.replay(recording, step); });
  CHECK(recording.replays() == 10);
  CHECK(there == run(device, [](const auto& step) { step(); }));
  CHECK(agreement::ulps(there, run(Host<float>{}, [](const auto& step) { step(); })) <= few);
}

#if defined(ALGOPERF_EMULATED_CUDA)
TEST_CASE("results do not depend on the order in which threads run") {
  const auto check = [](const auto& work) {
    emulated_cuda::falling = false;
    const auto rising = work();
    emulated_cuda::falling = true;
    CHECK(work() == rising);
    emulated_cuda::falling = false;
  };
  agreement::for_each_rule([&](const char* name, const auto& rule) {
    CAPTURE(name);
    check([&] { return agreement::train(Cuda<double>{}, rule, 3); });
  });
  agreement::for_each_model([&](const char* name, const auto& model) {
    CAPTURE(name);
    check([&] { return agreement::propagate(Cuda<float>{}, model); });
  });
}
#endif

TEST_CASE("layers that store bfloat16 agree with the host's layers in float, forward and backward") {
  const auto check = [](const char* name, const auto& model) {
    INFO("model: ", std::string(name));
    const double roundings = agreement::ulps(agreement::propagate(Cuda<float, bfloat16>{}, model),
                                             agreement::propagate(Host<float>{}, model)) *
                             0x1p-23 / 0x1p-8;
    CHECK(roundings > 0.1);  // confirms storage in 16 bits
    CHECK(roundings < 4);
  };
  agreement::for_each_model([&](const std::string& name, const auto& model) {
    // In these, rounding moves a ReLU's input across zero.
    if (name != "next character" && name != "attention with relu") check(name.c_str(), model);
  });
  const Dense hidden{.units = 128};
  check("next character, smooth", Model(Shape{5}, Embedding{.vocabulary = 16, .width = 16}, Flatten{}, hidden, Tanh{},
                                        Residual(LayerNorm{}, hidden, Tanh{}), Dense{.units = 16}));
}

TEST_CASE("sums of bfloat16 are not rounded after each term") {
  const Cuda<float, bfloat16> backend;
  const auto run = [&](const auto& model) { return agreement::propagate(backend, model); };
  // 24 * 24 = 576 terms: if each partial sum were rounded, a mean of ones would stop at 256 / 576.
  const auto pool = Model(Shape{24, 24, 1}, AveragePool{.size = 24});
  CHECK(agreement::ulps(run(pool), agreement::propagate(Host<float>{}, pool)) * 0x1p-23 < 4 * 0x1p-8);
  const auto conv = Model(Shape{24, 24, 1}, Conv2d{.filters = 2, .size = 17, .padding = 8}, AveragePool{.size = 24});
  CHECK(agreement::ulps(run(conv), agreement::propagate(Host<float>{}, conv)) * 0x1p-23 < 8 * 0x1p-8);
}

TEST_CASE("a pooling window with more positions than bfloat16 can represent") {
  std::string told;
  try {
    agreement::propagate(Cuda<float, bfloat16>{}, Model(Shape{16, 16, 1}, MaxPool{.size = 16}, Dense{.units = 1}));
    agreement::propagate(Cuda<float, bfloat16>{}, Model(Shape{17, 17, 1}, MaxPool{.size = 17}, Dense{.units = 1}));
  } catch (const Error& error) {
    told = error.what();
  }
  CHECK(told == "MaxPool: size is 17, but with activations of 16 bits a window has at most 256 pixels");
}
