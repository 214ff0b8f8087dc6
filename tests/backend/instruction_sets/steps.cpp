// Three steps of RULE on a tensor P of odd size, and then P P^T. Compiled with different flags, and without
// optimisation, so that no function is inlined that need not be.
#include <algoperf/backend/host.hpp>
#include <algoperf/rules/recipes/adamw.hpp>
#include <algoperf/rules/recipes/lamb.hpp>
#include <cstddef>
#include <span>
#include <vector>

std::vector<double> FUNCTION() {
  algoperf::Layout layout(1);
  layout.add({"weight", algoperf::Kind::weight, {17, 59}});
  std::vector<float> p(layout.size()), g(layout.size());
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = static_cast<float>(i % 17) / 17;
  const auto rule = algoperf::RULE();
  auto state = rule.state(algoperf::Host<float>{}, layout);
  for (std::size_t t = 1; t <= 3; ++t) {
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<float>(i % 13) / 13 - 0.5f;
    rule.step(std::span<float>(g), std::span<float>(p), state, algoperf::Step{.t = t, .learning_rate = 1e-2});
  }
  std::vector<float> products(17 * 17);
  algoperf::Host<float>{}.gemm_nt(17, 17, 59, p.data(), p.data(), products.data());
  p.insert(p.end(), products.begin(), products.end());
  return {p.begin(), p.end()};
}
