#include <algoperf/backend/host.hpp>
#include <algoperf/rules/adam.hpp>  // an old path: a forwarding header
#include <algoperf/rules/stages/descend.hpp>

namespace ap = algoperf;

// Runs one step of gradient descent on the caller's memory. Returns 0 if the result is correct.
int main() {
  const auto rule = ap::chain(ap::Descend{});
  ap::Layout layout(1);
  layout.add({.name = "x", .shape = {2}});
  auto state = rule.state(ap::Host{}, layout);
  float gradients[] = {1, -2}, values[] = {0, 0};
  rule.step(gradients, values, state, {.t = 1, .learning_rate = 0.5});
  const auto adam_state = ap::adam().state(ap::Host{}, layout);
  return values[0] == -0.5f && values[1] == 1.0f && adam_state.t() == 0 ? 0 : 1;
}
