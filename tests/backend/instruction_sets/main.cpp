// Links the steps of LAMB, compiled for one instruction set, with those of AdamW, compiled for another. Both contain
// functions of the same rule stages and the same products for vectors of different widths: the linker must not take one
// for the other. Exits with 1 if a result is wrong, and with 77 if this processor lacks AVX2.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "../../support/near.hpp"

std::vector<double> steps_of_lamb();
std::vector<double> steps_of_adamw();

namespace {

// AdamW with its default options in double, and LAMB if `trust` is set; then the products of the rows.
std::vector<double> expected(bool trust) {
  constexpr std::size_t rows = 17, n = rows * 59;
  const double eps = trust ? 1e-6 : 1e-8;
  std::vector<double> p(n), m(n), v(n), u(n);
  for (std::size_t i = 0; i < n; ++i) p[i] = static_cast<double>(i % 17) / 17;
  for (int t = 1; t <= 3; ++t) {
    double squares_of_p = 0, squares_of_u = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double g = static_cast<double>(i % 13) / 13 - 0.5;
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      u[i] = m[i] / (1 - std::pow(0.9, t)) / (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + eps) + 0.01 * p[i];
      squares_of_p += p[i] * p[i];
      squares_of_u += u[i] * u[i];
    }
    const double ratio = trust ? std::sqrt(squares_of_p / squares_of_u) : 1;
    for (std::size_t i = 0; i < n; ++i) p[i] -= 1e-2 * ratio * u[i];
  }
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < rows; ++j) {
      double product = 0;
      for (std::size_t k = 0; k < 59; ++k) product += p[i * 59 + k] * p[j * 59 + k];
      p.push_back(product);
    }
  return p;
}

bool agrees(const char* name, const std::vector<double>& p, const std::vector<double>& other) {
  double most = p.size() == other.size() ? 0 : 1;
  for (std::size_t i = 0; i < p.size() && i < other.size(); ++i)
    most = larger_or_nan(most, std::abs(p[i] - other[i]) / (1 + std::abs(other[i])));
  std::printf("%s: the largest difference is %g\n", name, most);
  return most < 1e-6;
}

}  // namespace

int main() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 77;
  const bool lamb = agrees("lamb", steps_of_lamb(), expected(true));
  const bool adamw = agrees("adamw", steps_of_adamw(), expected(false));
  return lamb && adamw ? 0 : 1;
}
