// Defines a custom update rule. Its kernel is a template on T, which the library instantiates for SIMD vectors, for
// double and for devices.
#include <algoperf/algoperf.hpp>
#include <cstdio>
namespace ap = algoperf;

// Sign descent with momentum: m' = beta m + (1 - beta) u, u' = sign(m').
struct SignMomentum {
  double beta = 0.9;

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 1;  // m
    S beta = 0, rest = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, ap::Slots<T, 1>& s) const {
      s[0] = beta * s[0] + rest * u;
      return ap::math::sign(s[0]);
    }
  };
  template <class S>
  ALGOPERF_HD Kernel<S> at(ap::Step) const {  // runs once per step: computes constants in double, then casts
    return {static_cast<S>(beta), static_cast<S>(1 - beta)};
  }
};

const auto rule = ap::chain(ap::ClipByGlobalNorm{}, SignMomentum{.beta = 0.95}, ap::DecayedWeights{}, ap::Descend{});

int main() {
  ap::print(rule);
  std::vector<float> values(1000, 1.0f), gradients(1000);
  ap::Layout layout;
  layout.add({"w", ap::Kind::weight, {1000}});
  auto state = rule.state(ap::Host{}, layout);
  values.resize(layout.size());
  gradients.resize(layout.size());
  for (std::uint64_t t = 1; t <= 200; ++t) {
    for (std::size_t i = 0; i < values.size(); ++i) gradients[i] = values[i];  // gradient of |w|^2 / 2
    rule.step(gradients, values, state, {.t = t, .learning_rate = 0.01});
  }
  std::printf("w goes from 1 to %g\n", static_cast<double>(values[0]));
  return values[0] < 0.1f && values[0] > -0.1f ? 0 : 1;
}
