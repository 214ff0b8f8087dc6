// A rule of your own. Write its kernel over T once; the library runs it on SIMD vectors, in double, on a device.
#include <algoperf/algoperf.hpp>
#include <cstdio>
namespace ap = algoperf;

// [readme
// Sign descent with a memory: u' = sign(m), m' = beta m + (1 - beta) u.
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
  ALGOPERF_HD Kernel<S> at(ap::Step) const {  // once a step, in double; cast once
    return {static_cast<S>(beta), static_cast<S>(1 - beta)};
  }
};

const auto rule = ap::chain(ap::ClipByGlobalNorm{}, SignMomentum{.beta = 0.95}, ap::DecayedWeights{}, ap::Descend{});
// readme]

int main() {
  ap::print(rule);
  std::vector<float> values(1000, 1.0f), gradients(1000);
  ap::Layout layout;
  layout.add({"w", ap::Kind::weight, {1000}});
  auto state = rule.state(ap::Host{}, layout);
  values.resize(layout.size());
  gradients.resize(layout.size());
  for (std::uint64_t t = 1; t <= 200; ++t) {
    for (std::size_t i = 0; i < values.size(); ++i) gradients[i] = values[i];  // of |w|^2 / 2
    rule.step(gradients, values, state, {.t = t, .learning_rate = 0.01});
  }
  std::printf("w goes from 1 to %g\n", static_cast<double>(values[0]));
  return values[0] < 0.1f && values[0] > -0.1f ? 0 : 1;
}
