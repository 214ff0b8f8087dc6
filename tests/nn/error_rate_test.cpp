#include "algoperf/nn/metrics/error_rate.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "backends.hpp"

namespace ap = algoperf;

namespace {

// Returns whether the prediction from these outputs is wrong for the label.
template <class B>
bool wrong(const std::vector<typename B::Scalar>& outputs, std::int32_t label) {
  using S = typename B::Scalar;
  const B backend;
  auto logits = backend.template array<S>(outputs.size()), score = backend.template array<S>(1);
  auto labels = backend.template array<std::int32_t>(1);
  backend.write(outputs.size(), outputs.data(), logits.data());
  backend.write(1, &label, labels.data());
  ap::ErrorRate{}.write(backend, 1, outputs.size(), static_cast<const S*>(logits.data()),
                        static_cast<const std::int32_t*>(labels.data()), score.data());
  S found = 0;
  backend.read(1, static_cast<const S*>(score.data()), &found);
  REQUIRE((found == S(0) || found == S(1)));
  return found == S(1);
}

}  // namespace

TEST_CASE_TEMPLATE("error rate: the largest output is the prediction, and the first among equal ones", B, NN_BACKENDS) {
  CHECK(!wrong<B>({1, 3, 2}, 1));
  CHECK(wrong<B>({1, 3, 2}, 0));
  CHECK(wrong<B>({1, 3, 2}, 2));
  CHECK(!wrong<B>({1, 3, 3}, 1));
  CHECK(wrong<B>({1, 3, 3}, 2));
  CHECK(!wrong<B>({0, 0, 0}, 0));
  CHECK(wrong<B>({0, 0, 0}, 2));
  CHECK(!wrong<B>({-3, -1, -2}, 1));
}

TEST_CASE_TEMPLATE("error rate: a single output predicts label 1 above 0, and label 0 at 0", B, NN_BACKENDS) {
  using S = typename B::Scalar;
  CHECK(!wrong<B>({S(0.5)}, 1));
  CHECK(wrong<B>({S(0.5)}, 0));
  CHECK(!wrong<B>({0}, 0));
  CHECK(wrong<B>({0}, 1));
  CHECK(!wrong<B>({std::numeric_limits<S>::denorm_min()}, 1));
  CHECK(!wrong<B>({S(-0.5)}, 0));
}
