// expect: algoperf: sam needs a second gradient: pass step(...) an `evaluate` that writes it to gradients
#include <algoperf/backend/host.hpp>
#include <algoperf/rules/all.hpp>

void step(float* gradients, float* values, const algoperf::Layout& layout) {
  const auto rule = algoperf::sam(algoperf::sgd());
  auto state = rule.state(algoperf::Host{}, layout);
  rule.step(algoperf::Update<float>{gradients, values}, state, {.t = 1, .learning_rate = 0.1});
}
