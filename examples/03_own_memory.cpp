// Applies an update rule to the caller's memory, without a model or a loop. This is the usual way to use the library
// in an existing program.
#include <algoperf/algoperf.hpp>
#include <cstdio>
namespace ap = algoperf;

int main() {
  ap::Layout layout(1);  // 1: no padding between tensors
  layout.add({"encoder.weight", ap::Kind::weight, {64, 32}});
  layout.add({"encoder.bias", ap::Kind::bias, {64}});

  const auto rule = ap::partition(ap::matrices, ap::muon(), ap::otherwise, ap::adamw());
  auto state = rule.state(ap::Host{}, layout);

  std::vector<float> my_values(64 * 32 + 64, 0.5f), my_gradients(my_values.size());
  const ap::Cosine schedule{.peak = 0.02, .steps = 100};
  for (std::uint64_t t = 1; t <= 100; ++t) {
    for (std::size_t i = 0; i < my_values.size(); ++i) my_gradients[i] = my_values[i];  // compute your gradients here
    rule.step(my_gradients, my_values, state, {.t = t, .learning_rate = schedule(t - 1)});
  }
  std::printf("the bias goes from 0.5 to %g\n", static_cast<double>(my_values.back()));
  return my_values.back() < 0.2f ? 0 : 1;
}
