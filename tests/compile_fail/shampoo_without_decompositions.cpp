// expect: algoperf: this rule decomposes matrices: #include <algoperf/backend/products/linear_algebra.hpp>
#include <algoperf/backend/host.hpp>
#include <algoperf/rules/recipes/shampoo.hpp>

void step(float* gradients, float* values, const algoperf::Layout& layout) {
  const auto rule = algoperf::shampoo();
  auto state = rule.state(algoperf::Host{}, layout);
  rule.step(algoperf::Update<float>{gradients, values}, state, {.t = 1, .learning_rate = 0.1});
}
