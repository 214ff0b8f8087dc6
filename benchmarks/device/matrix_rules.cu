// Measures steps of the matrix rules on a device, for comparison with torch_matrix_rules.py. After a first step, which
// computes all roots and bases, the program times whole periods, in which each root or basis is recomputed once, and
// divides by the number of steps. Matrix products use fp32, except in torch.optim.Muon (bfloat16).
#include <algoperf/backend/products/linear_algebra.hpp>
#include <algoperf/core/random.hpp>
#include <algoperf/rules/recipes/muon.hpp>
#include <algoperf/rules/recipes/shampoo.hpp>
#include <algoperf/rules/recipes/soap.hpp>

#include "device.cuh"

namespace ap = algoperf;

namespace {

constexpr ap::Shape shapes[] = {{512, 512}, {1024, 4096}};
constexpr std::size_t longest_side = 2048;  // the longest side for which SOAP keeps a basis

template <class Rule>
void measure(const char* name, const Rule& rule, std::size_t period, std::size_t samples) {
  const ap::Cuda<> backend;
  for (const ap::Shape& shape : shapes) {
    const std::string row = std::string(name) + ", " + std::to_string(shape[0]) + " x " + std::to_string(shape[1]);
    bench::line_of("matrix", row, "ours", 0, [&] {
      ap::Layout layout;
      layout.add({"matrix", ap::Kind::weight, shape});
      const std::size_t n = shape.size();
      auto state = rule.state(backend, layout);
      auto gradients = backend.array<float>(n), values = backend.array<float>(n);
      std::vector<decltype(gradients)> random;
      for (std::uint64_t key = 1; key <= 4; ++key) {
        ap::RandomStream stream(ap::RandomKey{key});
        std::vector<float> x(n);
        for (float& each : x) each = static_cast<float>(stream.uniform_double() - 0.5);
        random.push_back(backend.array<float>(n));
        backend.write(n, x.data(), random.back().data());
      }
      std::uint64_t t = 0;
      const auto step = [&] {
        backend.copy(n, random[t % 4].data(), gradients.data());
        ++t;
        rule.step(ap::Update<float>{gradients.data(), values.data()}, state, {.t = t, .learning_rate = 1e-3});
      };
      step();
      std::vector<double> all;
      for (std::size_t i = 0; i < samples; ++i) {
        backend.synchronize();
        const double start = bench::now();
        for (std::size_t k = 0; k < period; ++k) step();
        backend.synchronize();
        all.push_back((bench::now() - start) / static_cast<double>(period));
      }
      return bench::median(all);
    });
  }
}

}  // namespace

int main() {
  measure("muon", ap::muon(), 20, 9);
  const ap::ShampooOptions shampoo{.root_frequency = 20, .start_step = 1};
  measure("shampoo by eigenvalues", ap::shampoo(shampoo), 20, 3);
  measure("shampoo by Newton's iteration", ap::shampoo(shampoo, ap::GraftAdam{}, ap::NewtonRoot{}), 20, 3);
  measure("soap", ap::soap({.largest_side = longest_side}), 10, 5);
}
