#include <algoperf/algoperf.hpp>

namespace ap = algoperf;

double one_step(float gradient);
double product(float a, float b);

// Adam's first step is minus the learning rate times the gradient's sign. Returns 0 if both files compute this.
int main() {
  const auto rule = ap::chain(ap::Adam{}, ap::Descend{});
  ap::Layout layout(1);
  layout.add({.name = "x", .shape = {1}});
  auto state = rule.state(ap::Host{}, layout);
  float gradient = 3, value = 0, a = 2, c = 0;
  rule.step(std::span<float>(&gradient, 1), std::span<float>(&value, 1), state, {.t = 1, .learning_rate = 1});
  ap::gemm_nn(1, 1, 1, &a, 1, &a, 1, &c, 1, false);
  const bool stepped = value < -0.99f && value > -1.01f && one_step(3) == static_cast<double>(value);
  return stepped && c == 4 && product(2, 2) == 4 ? 0 : 1;
}
