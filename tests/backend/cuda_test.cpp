// On a device, or on the host in its stead (tests/emulated_cuda).
#include <algoperf/backend/cuda.cuh>
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
