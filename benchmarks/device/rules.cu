// Measures steps of update rules on a device: every rule made of element passes as a fraction of a plain copy, and
// the rules that PyTorch has fused, on the same tensors as torch_rules.py.
#include <span>

#include "../../tests/contracts/members.hpp"
#include "device.cuh"

namespace ap = algoperf;

namespace {

struct Size {
  const char* name;
  std::size_t n;
};
constexpr Size sizes[] = {
    {"2^20", std::size_t{1} << 20}, {"2^24", std::size_t{1} << 24}, {"2^28", std::size_t{1} << 28}};

// Rules dominated by matrix products have no row here.
template <class Rule>
inline constexpr bool has_passes = false;
template <class... Stages>
inline constexpr bool has_passes<ap::Chain<Stages...>> = (!ap::detail::is_matrix<Stages> && ...);

// AdamW with parameters and gradients in bfloat16 and master parameters in float.
double half_seconds(std::size_t n) {
  const ap::Cuda<> backend;
  const auto rule = ap::mixed_precision<ap::bfloat16>(ap::adamw());
  ap::Layout layout;
  layout.add({"tensor", ap::Kind::weight, {n}});
  auto state = rule.state(backend, layout);
  auto gradients = backend.array<ap::bfloat16>(n), values = backend.array<ap::bfloat16>(n);
  return bench::seconds([&] {
    rule.step(std::span<const ap::bfloat16>(gradients.data(), n), std::span(values.data(), n), state,
              {.learning_rate = 1e-6});
  });
}

void against_copies() {
  for (const Size& size : sizes)
    bench::line_of("stream", "a plain copy", size.name, 8.0 * static_cast<double>(size.n),
                   [&] { return bench::copy_seconds(size.n); });
  ap::testing::for_each_rule([](const auto& member) {
    using Rule = std::remove_cvref_t<decltype(member.rule)>;
    if constexpr (has_passes<Rule>)
      for (const Size& size : sizes)
        bench::line_of("stream", member.facts.name, size.name,
                       static_cast<double>(size.n * ap::bytes_per_parameter(member.rule)), [&] {
                         return bench::step_seconds(member.rule, {{size.n / 16, 16}});
                       });
  });
  for (const Size& size : sizes)
    bench::line_of("stream", "adamw in bfloat16", size.name, 28.0 * static_cast<double>(size.n),
                   [&] { return half_seconds(size.n); });
}

// 300 tensors as in large models, most of them small: 69 million parameters in total.
std::vector<ap::Shape> mixed() {
  std::vector<ap::Shape> shapes;
  const ap::Shape some[] = {{64}, {1024}, {4096}, {256, 256}, {512, 512}, {1024, 1024}};
  for (int i = 0; i < 50; ++i)
    for (const ap::Shape& shape : some) shapes.push_back(shape);
  return shapes;
}

template <class Rule>
void beside_torch(const std::string& name, const Rule& rule) {
  bench::line_of("beside", name + ", one tensor of 2^24", "ours", 0, [&] {
    return bench::step_seconds(rule, {{4096, 4096}});
  });
  bench::line_of("beside", name + ", 300 tensors", "ours", 0, [&] { return bench::step_seconds(rule, mixed()); });
}

}  // namespace

int main() {
  against_copies();
  beside_torch("sgd", ap::sgd());
  beside_torch("momentum", ap::momentum());
  beside_torch("adam", ap::adam());
  beside_torch("adamw", ap::adamw());
  beside_torch("clip + adamw", ap::chain(ap::ClipByGlobalNorm{}, ap::Adam{}, ap::DecayedWeights{}, ap::Descend{}));
  beside_torch("lamb", ap::lamb());
}
