// Compares the library's matrix products with the fastest of Eigen and the shared libraries that are given: oneDNN's
// (libdnnl.so), and any with a CBLAS interface (OpenBLAS, BLIS, MKL: `pip install mkl` has libmkl_rt.so). One thread;
// every operation of a shape is timed in turns. Set OMP_NUM_THREADS=1, OPENBLAS_NUM_THREADS=1 and
// MKL_THREADING_LAYER=SEQUENTIAL.
//
//   bench_products [SHARED_LIBRARY...]
#include <dlfcn.h>

#include <Eigen/Core>
#include <algoperf/backend/products/gemm.hpp>
#include <algoperf/core/arena.hpp>
#include <algoperf/core/random.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "paired.hpp"

namespace ap = algoperf;

namespace {

enum class Form { nn, nt, tn };

// C (m x n) = op(A) op(B), with k terms. Leading dimensions are those of contiguous matrices.
struct Product {
  Form form;
  std::size_t m, n, k;
  std::size_t lda() const { return form == Form::tn ? m : k; }
  std::size_t ldb() const { return form == Form::nt ? k : n; }
  std::string name() const {
    return std::string(form == Form::nn   ? "A B, "
                       : form == Form::nt ? "A B^T, "
                                          : "A^T B, ") +
           std::to_string(m) + " x " + std::to_string(n) + ", " + std::to_string(k) + " terms";
  }
};

struct Operands {
  const float *a, *b;
  float* c;
};

using Library = std::function<void(const Product&, const Operands&)>;
struct Named {
  std::string name;
  Library multiply;
};

void ours(const Product& p, const Operands& o) {
  const auto gemm = p.form == Form::nn   ? ap::gemm_nn<float>
                    : p.form == Form::nt ? ap::gemm_nt<float>
                                         : ap::gemm_tn<float>;
  gemm(p.m, p.n, p.k, o.a, p.lda(), o.b, p.ldb(), o.c, p.n, false);
}

void by_eigen(const Product& p, const Operands& o) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto i = [](std::size_t size) { return static_cast<Eigen::Index>(size); };
  const bool a_transposed = p.form == Form::tn, b_transposed = p.form == Form::nt;
  const Eigen::Map<const Matrix> a(o.a, i(a_transposed ? p.k : p.m), i(p.lda()));
  const Eigen::Map<const Matrix> b(o.b, i(b_transposed ? p.n : p.k), i(p.ldb()));
  Eigen::Map<Matrix> c(o.c, i(p.m), i(p.n));
  if (a_transposed)
    c.noalias() = a.transpose() * b;
  else if (b_transposed)
    c.noalias() = a * b.transpose();
  else
    c.noalias() = a * b;
}

// The products of a shared library: dnnl_sgemm or cblas_sgemm, which are declared here because their headers may be
// absent. Exits with an error if it has neither.
Named open_library(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "bench_products: %s\n", dlerror());
    std::exit(2);
  }
  using Dnnl = int(char, char, long, long, long, float, const float*, long, const float*, long, float, float*, long);
  using Cblas = void(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  if (const auto gemm = reinterpret_cast<Dnnl*>(dlsym(library, "dnnl_sgemm")))
    return {path, [gemm](const Product& p, const Operands& o) {
              const auto i = [](std::size_t size) { return static_cast<long>(size); };
              gemm(p.form == Form::tn ? 'T' : 'N', p.form == Form::nt ? 'T' : 'N', i(p.m), i(p.n), i(p.k), 1, o.a,
                   i(p.lda()), o.b, i(p.ldb()), 0, o.c, i(p.n));
            }};
  if (const auto gemm = reinterpret_cast<Cblas*>(dlsym(library, "cblas_sgemm")))
    return {path, [gemm](const Product& p, const Operands& o) {
              constexpr int row_major = 101, as_is = 111, transposed = 112;
              const auto i = [](std::size_t size) { return static_cast<int>(size); };
              gemm(row_major, p.form == Form::tn ? transposed : as_is, p.form == Form::nt ? transposed : as_is, i(p.m),
                   i(p.n), i(p.k), 1, o.a, i(p.lda()), o.b, i(p.ldb()), 0, o.c, i(p.n));
            }};
  std::fprintf(stderr, "bench_products: %s has neither dnnl_sgemm nor cblas_sgemm\n", path);
  std::exit(2);
}

// Lower quartiles of the seconds per call, for each library.
std::vector<double> times(const std::vector<Named>& libraries, const Product& p, const Operands& o) {
  const double flops = 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const auto repetitions = static_cast<std::size_t>(std::max(1.0, 1e7 / (flops + 2000)));
  std::vector<std::vector<double>> samples(libraries.size());
  double spent = 0;
  for (std::size_t round = 0; round < 7 || spent < 0.02 * static_cast<double>(libraries.size()); ++round)
    for (std::size_t i = 0; i < libraries.size(); ++i) {
      auto call = [&] { libraries[i].multiply(p, o); };
      const double seconds = bench::seconds(call, repetitions, bench::Clock::thread);
      spent += seconds;
      samples[i].push_back(seconds / static_cast<double>(repetitions));
    }
  std::vector<double> lower;
  for (const std::vector<double>& of : samples) lower.push_back(bench::quartiles(of).lower);
  return lower;
}

ap::Arena<float> random_values(std::size_t n, std::uint64_t key) {
  ap::Arena<float> values(n);
  ap::RandomStream random(ap::RandomKey{key});
  for (float& x : values) x = static_cast<float>(random.uniform_double() - 0.5);
  return values;
}

// Sizes of results and numbers of terms.
constexpr std::size_t sizes[][3] = {
    // Square.
    {10, 10, 10},
    {16, 16, 16},
    {32, 32, 32},
    {64, 64, 64},
    {100, 100, 100},
    {128, 128, 128},
    {256, 256, 256},
    {500, 500, 500},
    {512, 512, 512},
    {1000, 1000, 1000},
    {1024, 1024, 1024},
    {2048, 2048, 2048},
    // The layers of the digits' MLP at batch 32 and 128, and its output layer.
    {32, 256, 784},
    {256, 784, 32},
    {32, 784, 256},
    {128, 256, 784},
    {256, 784, 128},
    {128, 784, 256},
    {128, 10, 128},
    {10, 128, 128},
    {128, 128, 10},
    // Unrolled windows of a small convolutional network.
    {336, 32, 25},
    {112, 64, 800},
    {64, 800, 112},
    {112, 800, 64},
    // A Transformer of 4 heads of 64 and 256 positions; its vocabulary.
    {256, 256, 64},
    {256, 64, 256},
    {256, 1024, 256},
    {256, 256, 1024},
    {256, 4000, 256},
    // Recurrent layers at small batches.
    {10, 1024, 256},
    {16, 2048, 512},
    {64, 1024, 1024},
    // Few rows, as in recurrent layers and in generating text.
    {1, 256, 512},
    {2, 256, 512},
    {3, 256, 512},
    {4, 256, 512},
    {5, 256, 512},
    {6, 256, 512},
    {7, 256, 512},
    {19, 256, 512},
    {1, 4096, 1024},
    {1, 4096, 4096},
    {4, 2048, 512},
    // Tall, flat, deep, and shallow.
    {4096, 10, 10},
    {10, 4096, 10},
    {10, 10, 4096},
    {4096, 64, 64},
    {64, 4096, 64},
    {64, 64, 4096},
    {4096, 4096, 64},
    {4096, 64, 4096},
    {64, 4096, 4096},
    {2000, 30, 300}};

}  // namespace

int main(int count, char** words) {
  std::vector<Named> libraries{{"ours", ours}, {"Eigen", by_eigen}};
  for (int i = 1; i < count; ++i) libraries.push_back(open_library(words[i]));
  std::size_t most = 0;
  for (const auto& [m, n, k] : sizes) most = std::max({most, m * n, m * k, n * k});
  ap::Arena<float> a = random_values(most, 1), b = random_values(most, 2), c(most);
  double logs = 0, worst = 0;
  std::string worst_name;
  std::size_t rows = 0;
  bench::Report report;
  for (const auto& [m, n, k] : sizes)
    for (const Form form : {Form::nn, Form::nt, Form::tn}) {
      const Product product{form, m, n, k};
      const std::vector<double> seconds = times(libraries, product, {a.data(), b.data(), c.data()});
      const auto best = std::min_element(seconds.begin() + 1, seconds.end());
      const double ratio = seconds[0] / *best;
      char text[64];
      std::snprintf(text, sizeof text, "%.3f", ratio);
      const std::string& fastest = libraries[static_cast<std::size_t>(best - seconds.begin())].name;
      report.note(product.name() + ", beside " + fastest.substr(fastest.rfind('/') + 1), text);
      logs += std::log(ratio);
      if (ratio > worst) {
        worst = ratio;
        worst_name = product.name();
      }
      ++rows;
    }
  report.at_most("geometric mean of the ratios to the fastest", 1.05, std::exp(logs / static_cast<double>(rows)));
  report.at_most("largest ratio: " + worst_name, 1.15, worst);
  return report.status();
}
