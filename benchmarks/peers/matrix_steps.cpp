// Times steps of the matrix rules on one tensor and one thread. Each sample alternates with a product of two 1024 x
// 1024 matrices. Prints the lines that matrix_table.py joins with those of torch_matrix_steps.py:
//
//   implementation,rule,shape,ms,product_ms
//
// A sample is a whole period of a rule, in which each root or basis is recomputed once. A first step, which computes
// all of them, is not timed. The gradients cycle through four matrices, so that second moments have full rank.
#include <algoperf/backend/products/linear_algebra.hpp>
#include <algoperf/rules/recipes/shampoo.hpp>
#include <algoperf/rules/recipes/soap.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "../paired.hpp"
#include "../rule_bench.hpp"

namespace ap = algoperf;

namespace {

constexpr ap::Shape shapes[] = {{512, 512}, {1024, 4096}};
constexpr std::size_t longest_side = 2048;  // the longest side for which SOAP keeps a basis; 4096 takes minutes

ap::Arena<float> random_values(std::size_t n, std::uint64_t key) {
  ap::Arena<float> values(n);
  ap::RandomStream random(ap::RandomKey{key});
  for (float& x : values) x = static_cast<float>(random.uniform_double() - 0.5);
  return values;
}

template <class Rule>
void measure(const char* name, const Rule& rule, std::size_t period, std::size_t samples) {
  for (const ap::Shape& shape : shapes) {
    bench::RuleBench at(rule, 1, shape);
    const std::size_t n = shape.size();
    std::vector<ap::Arena<float>> gradients;
    for (std::uint64_t key = 1; key <= 4; ++key) gradients.push_back(random_values(n, key));
    std::size_t t = 0;
    const auto step = [&] {
      std::copy_n(gradients[t++ % 4].data(), n, at.gradients());
      at.step(1e-3);
    };
    const auto steps = [&] {
      for (std::size_t i = 0; i < period; ++i) step();
    };
    step();

    constexpr std::size_t side = 1024;
    const ap::Arena<float> a = random_values(side * side, 5), b = random_values(side * side, 6);
    ap::Arena<float> c(side * side);
    const auto product = [&] { ap::Host{}.gemm_nn(side, side, side, a.data(), b.data(), c.data()); };
    product();
    std::vector<double> of_steps, of_products;
    for (std::size_t i = 0; i < samples; ++i) {
      of_steps.push_back(bench::seconds(steps, 1, bench::Clock::thread) / static_cast<double>(period));
      of_products.push_back(bench::seconds(product, 1, bench::Clock::thread));
    }
    std::printf("ours,%s,%zu x %zu,%.3f,%.3f\n", name, shape[0], shape[1], 1e3 * bench::quartiles(of_steps).median,
                1e3 * bench::quartiles(of_products).median);
    std::fflush(stdout);
  }
}

}  // namespace

int main() {
  measure("muon", ap::muon(), 4, 9);
  measure("muon in bfloat16", ap::muon({.precision = ap::Precision::bf16}), 4, 9);
  const ap::ShampooOptions shampoo{.root_frequency = 20, .start_step = 1};
  measure("shampoo by eigenvalues", ap::shampoo(shampoo), 20, 1);
  measure("shampoo by Newton's iteration", ap::shampoo(shampoo, ap::GraftAdam{}, ap::NewtonRoot{}), 20, 1);
  measure("soap", ap::soap({.largest_side = longest_side}), 10, 3);
}
