// expect: algoperf: armijo compares losses: pass step(...) an `evaluate` that returns the loss at the current values
#include <algoperf/backend/host.hpp>
#include <algoperf/rules/all.hpp>

void step(float* gradients, float* values, const algoperf::Layout& layout) {
  const auto rule = algoperf::armijo();
  auto state = rule.state(algoperf::Host{}, layout);
  const auto evaluate = [] {};
  rule.step(algoperf::Update<float, decltype(evaluate)>{gradients, values, evaluate}, state,
            {.t = 1, .learning_rate = 1});
}
