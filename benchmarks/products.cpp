// Compares the matrix products of typical networks between Eigen and the provider that algoperf::gemm was configured
// with: ratios of Eigen's time to the provider's, on one thread.
#include <Eigen/Core>
#include <algoperf/backend/products/gemm.hpp>
#include <algoperf/core/arena.hpp>
#include <algoperf/core/random.hpp>
#include <initializer_list>
#include <string>

#include "paired.hpp"

namespace ap = algoperf;

namespace {

using Matrix = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

ap::Arena<float> random_values(std::size_t n, std::uint64_t key) {
  ap::Arena<float> values(n);
  ap::RandomStream random(ap::RandomKey{key});
  for (float& x : values) x = static_cast<float>(random.uniform_double() - 0.5);
  return values;
}

// The three products of a layer with inputs (m x k), weights (n x k) and outputs (m x n): the forward pass and the
// two of the backward pass.
void measure(bench::Report& report, const std::string& layer, std::size_t m, std::size_t n, std::size_t k) {
  ap::Arena<float> x = random_values(m * k, 1), w = random_values(n * k, 2), y = random_values(m * n, 3);
  const auto i = [](std::size_t size) { return static_cast<Eigen::Index>(size); };
  Matrix xm(x.data(), i(m), i(k)), wm(w.data(), i(n), i(k)), ym(y.data(), i(m), i(n));
  const auto row = [&](const char* product, const auto& eigen, const auto& ours) {
    report.note(layer + ", " + product, bench::paired(eigen, ours, {.pairs = 21}));
  };
  row(
      "Y = X W^T", [&] { ym.noalias() = xm * wm.transpose(); },
      [&] { ap::gemm_nt(m, n, k, x.data(), k, w.data(), k, y.data(), n, false); });
  row(
      "dX = dY W", [&] { xm.noalias() = ym * wm; },
      [&] { ap::gemm_nn(m, k, n, y.data(), n, w.data(), k, x.data(), k, false); });
  row(
      "dW = dY^T X", [&] { wm.noalias() = ym.transpose() * xm; },
      [&] { ap::gemm_tn(n, k, m, y.data(), n, x.data(), k, w.data(), k, false); });
}

}  // namespace

int main() {
  bench::Report report;
  for (const std::size_t batch : std::initializer_list<std::size_t>{32, 128, 512}) {
    const std::string at = ", batch " + std::to_string(batch);
    measure(report, "784 -> 256" + at, batch, 256, 784);
    measure(report, "256 -> 256" + at, batch, 256, 256);
    measure(report, "256 -> 10" + at, batch, 10, 256);
  }
  // Rows of unrolled windows, as many as fit in the host's scratch memory.
  measure(report, "5 x 5 x 1 -> 32 channels, 336 windows", 336, 32, 25);
  measure(report, "5 x 5 x 32 -> 64 channels, 112 windows", 112, 64, 800);
  measure(report, "1024 x 1024", 1024, 1024, 1024);
}
