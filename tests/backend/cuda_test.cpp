// On a device, or on the host in its stead (tests/emulated_cuda).
#include <algoperf/backend/cuda.cuh>
#include <algoperf/backend/linear_algebra.hpp>
#include <algoperf/rules/shampoo.hpp>
#include <algoperf/rules/soap.hpp>
#include <string>
#include <type_traits>

#include "../device/checks.hpp"

using namespace algoperf;

namespace {

static_assert(Backend<Cuda<float>>);
static_assert(Backend<Cuda<double>>);
static_assert(std::is_same_v<decltype(Cuda{}), Cuda<float>>);

// Of the same operations, contracted or not, and of sums in another order.
constexpr double few = 64;

}  // namespace

TEST_CASE("arrays") { agreement::check_arrays(Cuda<float>{}); }

TEST_CASE_TEMPLATE("primitives agree with the host's", S, float, double) {
  agreement::check_primitives(Cuda<S>{}, few, few);
}

TEST_CASE_TEMPLATE("matrix products agree with the host's", S, float, double) { agreement::check_products(Cuda<S>{}); }

TEST_CASE("rules agree with the host's") { agreement::check_rules(Cuda<double>{}, few, 8 * few); }  // float: contracts

TEST_CASE("mixed precision agrees with the host's") { agreement::check_mixed_precision(Cuda<float>{}, 8 * few); }

TEST_CASE("copies of states") { agreement::check_state_copies(Cuda<float>{}); }

TEST_CASE_TEMPLATE("layers agree with the host's, forward and backward", S, float, double) {
  agreement::check_layers(Cuda<S>{}, few);
}

TEST_CASE("gradients on the device agree with finite differences") {
  CHECK(
      gradient_check(next_character(5, 16, {.width = 3, .units = 8}), SoftmaxCrossEntropy{}, {}, Cuda<double>{}).error <
      1e-5);
}

TEST_CASE("more memory than there is") {
  std::string told;
  try {
    Cuda<float>{}.array<float>(std::size_t{1} << 46);
  } catch (const Error& error) {
    told = error.what();
  }
  CHECK(told.find("cuda: the device is out of memory: 268435456 MiB asked, ") == 0);
}

TEST_CASE("matrices of one shape go side by side, and come to what they come to one by one") {
  Layout layout;
  for (int i = 0; i < 9; ++i) layout.add({"a" + std::to_string(i), Kind::weight, {12, 20}});
  for (int i = 0; i < 5; ++i) layout.add({"b" + std::to_string(i), Kind::weight, {7, 7}});
  const std::size_t n = layout.size();
  const auto train = [&](const auto& rule, std::size_t streams, std::size_t replays) {
    const Cuda<float> backend{.streams = streams};
    auto state = rule.state(backend, layout);
    auto gradients = backend.array<float>(n), values = agreement::on_device(backend, agreement::numbers<float>(n, 0));
    Cuda<float>::Graph graph;
    for (unsigned t = 1; t <= 8; ++t) {
      backend.write(n, agreement::numbers<float>(n, t).data(), gradients.data());
      backend.repeat(graph, [&] {
        rule.step(Update<float>{gradients.data(), values.data()}, state, {.t = t, .learning_rate = 0.01});
      });
    }
    CHECK(graph.replays() == replays);
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
  check(soap({.frequency = 2}), 0);
}

#if defined(ALGOPERF_EMULATED_CUDA)
TEST_CASE("the order in which threads run changes nothing") {
  const auto check = [](const auto& work) {
    emulated_cuda::falling = false;
    const auto rising = work();
    emulated_cuda::falling = true;
    CHECK(work() == rising);
    emulated_cuda::falling = false;
  };
  agreement::for_each_rule([&](const char* name, const auto& rule) {
    CAPTURE(name);
    check([&] { return agreement::train(Cuda<float>{}, rule, 3); });
  });
  agreement::for_each_model([&](const char* name, const auto& model) {
    CAPTURE(name);
    check([&] { return agreement::propagate(Cuda<float>{}, model); });
  });
}
#endif
