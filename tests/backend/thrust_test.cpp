#include <algoperf/backend/thrust.hpp>
#include <type_traits>

#include "../device/checks.hpp"

using namespace algoperf;

namespace {

static_assert(Backend<Thrust<float>>);
static_assert(Backend<Thrust<double>>);
static_assert(std::is_same_v<decltype(Thrust{}), Thrust<float>>);
// A copy would have no scratch memory and allocate it in every step.
static_assert(std::is_same_v<decltype(with_precision(Thrust<float>{}, Precision::bf16)), const Thrust<float>&>);

// Tolerance in ulps. If the compiler may contract a * b + c into one rounding, it does so differently in vector and
// scalar loops. Otherwise the two backends execute the same operations in the same order.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA
constexpr double same = 64;
#else
constexpr double same = 0;
#endif

}  // namespace

TEST_CASE("arrays") { agreement::check_arrays(Thrust<float>{}); }

TEST_CASE_TEMPLATE("primitives agree with the host's", S, float, double) {
  agreement::check_primitives(Thrust<S>{}, same, same);
}

TEST_CASE_TEMPLATE("matrix products agree with the host's", S, float, double) {
  agreement::check_products(Thrust<S>{});
}

// In double only; tests/contracts cover float.
TEST_CASE("rules agree with the host's") { agreement::check_rules(Thrust<double>{}, same, 64); }

TEST_CASE("mixed precision agrees with the host's") { agreement::check_mixed_precision(Thrust<float>{}, 64); }

TEST_CASE("Muon in bfloat16 agrees with the host's") {
  agreement::check_orthogonalization_in_bfloat16(Thrust<float>{});
}

TEST_CASE("copies of states") { agreement::check_state_copies(Thrust<float>{}); }

TEST_CASE_TEMPLATE("layers agree with the host's, forward and backward", S, float, double) {
  agreement::check_layers(Thrust<S>{}, 16);
}

TEST_CASE("layers without matrix products use the host's arithmetic") {
  const auto check = [](const auto& model) {
    CHECK(agreement::ulps(agreement::propagate(Thrust<double>{}, model), agreement::propagate(Host<double>{}, model)) <=
          same);
  };
  check(Model(Shape{3, 19}, LayerNorm{}));
  check(Model(Shape{7, 6, 3}, MaxPool{.size = 3, .stride = 2}));
  check(Model(Shape{5}, Embedding{.vocabulary = 16, .width = 3}));
}

TEST_CASE("gradients on the device agree with finite differences") {
  CHECK(gradient_check(next_character(5, 16, {.width = 3, .units = 8}), SoftmaxCrossEntropy{}, {}, Thrust<double>{})
            .error < 1e-5);
}
