// expect: algoperf: step(gradients, values, state, step) takes arrays of the backend's element type
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void step(std::vector<double>& gradients, std::vector<double>& values) {
  const auto rule = adamw();
  Layout layout(1);
  layout.add({"w", Kind::weight, {values.size()}});
  auto state = rule.state(Host<float>{}, layout);
  rule.step(gradients, values, state, {.t = 1, .learning_rate = 0.1});
}
