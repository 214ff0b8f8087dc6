// Compares the library's matrix products with the fastest of Eigen and the shared libraries that are given: oneDNN's
// (libdnnl.so), and any with a CBLAS interface (OpenBLAS, BLIS, MKL: `pip install mkl` has libmkl_rt.so). One thread;
// every operation of a shape is timed in turns. The last products are parts of larger matrices, and the heads of an
// attention, which a library multiplies in one call if it can and otherwise one by one, as this library does. Set
// OMP_NUM_THREADS=1, OPENBLAS_NUM_THREADS=1 and MKL_THREADING_LAYER=SEQUENTIAL.
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

// Where a matrix lies: elements between the beginnings of its rows, and of the matrices of a batch.
struct Place {
  std::size_t row, matrix = 0;
};

// C (m x n) = op(A) op(B), with k terms, `count` times.
struct Product {
  Form form;
  std::size_t m, n, k;
  Place a{form == Form::tn ? m : k}, b{form == Form::nt ? k : n}, c{n};  // those of contiguous matrices
  std::size_t count = 1;

  std::string name() const {
    std::string text = form == Form::nn ? "A B, " : form == Form::nt ? "A B^T, " : "A^T B, ";
    text += std::to_string(m) + " x " + std::to_string(n) + ", " + std::to_string(k) + " terms";
    if (const Product contiguous{form, m, n, k};
        a.row != contiguous.a.row || b.row != contiguous.b.row || c.row != contiguous.c.row)
      text +=
          ", rows " + std::to_string(a.row) + ", " + std::to_string(b.row) + " and " + std::to_string(c.row) + " apart";
    return count == 1 ? text : std::to_string(count) + " of " + text;
  }
  // The elements that a batch spans.
  static std::size_t span(const Place& place, std::size_t rows, std::size_t count) {
    return rows * place.row + (count - 1) * place.matrix;
  }
  std::size_t most() const {
    return std::max(
        {span(a, form == Form::tn ? k : m, count), span(b, form == Form::nt ? n : k, count), span(c, m, count)});
  }
};

struct Operands {
  const float *a, *b;
  float* c;
};

using Library = std::function<void(const Product&, const Operands&)>;
struct Named {
  std::string name;
  Library multiply;    // once
  Library batch = {};  // `count` times, if the library has a function for this
  void operator()(const Product& p, const Operands& o) const {
    const bool apart = p.c.matrix >= p.m * p.c.row;  // MKL's function refuses results whose rows alternate
    if (batch && p.count > 1 && apart) return batch(p, o);
    for (std::size_t i = 0; i < p.count; ++i)
      multiply(p, {o.a + i * p.a.matrix, o.b + i * p.b.matrix, o.c + i * p.c.matrix});
  }
};

void ours(const Product& p, const Operands& o) {
  const auto gemm = p.form == Form::nn   ? ap::gemm_nn<float>
                    : p.form == Form::nt ? ap::gemm_nt<float>
                                         : ap::gemm_tn<float>;
  gemm(p.m, p.n, p.k, o.a, p.a.row, o.b, p.b.row, o.c, p.c.row, false);
}

void by_eigen(const Product& p, const Operands& o) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto i = [](std::size_t size) { return static_cast<Eigen::Index>(size); };
  const bool a_transposed = p.form == Form::tn, b_transposed = p.form == Form::nt;
  using Stride = Eigen::OuterStride<>;
  using Operand = Eigen::Map<const Matrix, 0, Stride>;
  const Operand a(o.a, i(a_transposed ? p.k : p.m), i(a_transposed ? p.m : p.k), Stride(i(p.a.row)));
  const Operand b(o.b, i(b_transposed ? p.n : p.k), i(b_transposed ? p.k : p.n), Stride(i(p.b.row)));
  Eigen::Map<Matrix, 0, Stride> c(o.c, i(p.m), i(p.n), Stride(i(p.c.row)));
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
                   i(p.a.row), o.b, i(p.b.row), 0, o.c, i(p.c.row));
            }};
  using Batch = void(int, int, int, int, int, int, float, const float*, int, int, const float*, int, int, float, float*,
                     int, int, int);
  static constexpr int row_major = 101, as_is = 111, transposed = 112;
  static constexpr auto i = [](std::size_t size) { return static_cast<int>(size); };
  if (const auto gemm = reinterpret_cast<Cblas*>(dlsym(library, "cblas_sgemm"))) {
    Named found{path, [gemm](const Product& p, const Operands& o) {
                  gemm(row_major, p.form == Form::tn ? transposed : as_is, p.form == Form::nt ? transposed : as_is,
                       i(p.m), i(p.n), i(p.k), 1, o.a, i(p.a.row), o.b, i(p.b.row), 0, o.c, i(p.c.row));
                }};
    if (const auto batch = reinterpret_cast<Batch*>(dlsym(library, "cblas_sgemm_batch_strided")))
      found.batch = [batch](const Product& p, const Operands& o) {
        batch(row_major, p.form == Form::tn ? transposed : as_is, p.form == Form::nt ? transposed : as_is, i(p.m),
              i(p.n), i(p.k), 1, o.a, i(p.a.row), i(p.a.matrix), o.b, i(p.b.row), i(p.b.matrix), 0, o.c, i(p.c.row),
              i(p.c.matrix), i(p.count));
      };
    return found;
  }
  std::fprintf(stderr, "bench_products: %s has neither dnnl_sgemm nor cblas_sgemm\n", path);
  std::exit(2);
}

// Lower quartiles of the seconds per call, for each library.
std::vector<double> times(const std::vector<Named>& libraries, const Product& p, const Operands& o) {
  const double flops = 2.0 * static_cast<double>(p.m * p.n) * static_cast<double>(p.k * p.count);
  const auto repetitions = static_cast<std::size_t>(std::max(1.0, 1e7 / (flops + 2000)));
  std::vector<std::vector<double>> samples(libraries.size());
  double spent = 0;
  for (std::size_t round = 0; round < 7 || spent < 0.02 * static_cast<double>(libraries.size()); ++round)
    for (std::size_t i = 0; i < libraries.size(); ++i) {
      auto call = [&] { libraries[i](p, o); };
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

// Appends the products of an attention over `rows` rows with `heads` heads of `size` elements. The queries and keys of
// a head are `size` columns of rows that hold the queries, keys and values of all heads. For each head: scores Q K^T,
// outputs P V, and the gradient of the keys, dS^T Q.
void add_heads(std::vector<Product>& products, std::size_t rows, std::size_t heads, std::size_t size) {
  const Place in_row{3 * heads * size, size}, scores{rows, rows * rows}, out{heads * size, size};
  products.push_back({Form::nt, rows, rows, size, in_row, in_row, scores, heads});
  products.push_back({Form::nn, rows, size, rows, scores, in_row, out, heads});
  products.push_back({Form::tn, rows, size, rows, scores, in_row, in_row, heads});
}

std::vector<Product> all_products() {
  std::vector<Product> products;
  for (const auto& [m, n, k] : sizes)
    for (const Form form : {Form::nn, Form::nt, Form::tn}) products.push_back({form, m, n, k});
  for (const Form form : {Form::nn, Form::nt, Form::tn}) {  // parts of larger matrices
    products.push_back({form, 100, 100, 100, {256}, {256}, {256}});
    products.push_back({form, 256, 256, 256, {1024}, {1024}, {1024}});
    products.push_back({form, 500, 500, 500, {2048}, {2048}, {2048}});
    products.push_back({form, 32, 256, 700, {1000}, {1000}, {1000}});
  }
  add_heads(products, 64, 4, 16);
  add_heads(products, 49, 3, 21);
  add_heads(products, 128, 8, 64);
  add_heads(products, 256, 4, 64);
  return products;
}

}  // namespace

int main(int count, char** words) {
  std::vector<Named> libraries{{"ours", ours}, {"Eigen", by_eigen}};
  for (int i = 1; i < count; ++i) libraries.push_back(open_library(words[i]));
  std::size_t most = 0;
  const std::vector<Product> products = all_products();
  for (const Product& product : products) most = std::max(most, product.most());
  ap::Arena<float> a = random_values(most, 1), b = random_values(most, 2), c(most);
  double logs = 0, worst = 0;
  std::string worst_name;
  std::size_t rows = 0;
  bench::Report report;
  for (const Product& product : products) {
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
