#include <algoperf/algoperf.hpp>

namespace ap = algoperf;

double one_step(float gradient);
double product(float a, float b);

double one_step(float gradient) {
  const auto rule = ap::chain(ap::Adam{}, ap::Descend{});
  ap::Layout layout(1);
  layout.add({.name = "x", .shape = {1}});
  auto state = rule.state(ap::Host{}, layout);
  float value = 0;
  rule.step(std::span<float>(&gradient, 1), std::span<float>(&value, 1), state, {.t = 1, .learning_rate = 1});
  return value;
}

double product(float a, float b) {
  float c = 0;
  ap::gemm_nn(1, 1, 1, &a, 1, &b, 1, &c, 1, false);
  return c;
}
