// Compares a step of each matrix rule with its matrix products alone, on the same backend. The reference computes
// every product in full, whereas the rules compute only half of a symmetric product. Also reports the cost of inverse
// roots and QR decompositions, which rules compute only every few steps, as a multiple of a product of the same size.
#include <algoperf/backend/all.hpp>
#include <algoperf/backend/products/linear_algebra.hpp>
#include <algoperf/core/random.hpp>
#include <algoperf/rules/recipes/muon.hpp>
#include <algoperf/rules/recipes/shampoo.hpp>
#include <algoperf/rules/recipes/soap.hpp>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "paired.hpp"

namespace ap = algoperf;

namespace {

using Floats = ap::Arena<float>;
const bench::PairedOptions few{.pairs = 9, .sample_seconds = 0.05};

Floats random_values(std::size_t n, std::uint64_t key) {
  Floats values(n);
  ap::RandomStream random(ap::RandomKey{key});
  for (float& x : values) x = static_cast<float>(random.normal());
  return values;
}

std::string times(std::size_t m, std::size_t n) { return std::to_string(m) + "x" + std::to_string(n); }

// Runs steps of a rule on `count` matrices of m x n, with the gradient restored before each step.
template <class Rule>
class Stepper {
 public:
  Stepper(const Rule& rule, std::size_t m, std::size_t n, std::size_t count = 1, unsigned threads = 1)
      : rule_(rule),
        layout_(1),
        gradient_(random_values(count * m * n, 1)),
        u_(count * m * n),
        values_(random_values(count * m * n, 2)) {
    for (std::size_t i = 0; i < count; ++i) layout_.add({std::to_string(i), ap::Kind::weight, {m, n}});
    state_.push_back(rule.state(ap::Host<>{.threads = threads}, layout_));
  }
  void operator()() {
    ap::Host<>{}.copy(u_.size(), static_cast<const float*>(gradient_.data()), u_.data());
    rule_.step(ap::Update<float>{u_.data(), values_.data()}, state_[0], {.t = ++t_, .learning_rate = 1e-3});
  }

 private:
  Rule rule_;
  ap::Layout layout_;
  Floats gradient_, u_, values_;
  std::vector<typename Rule::template State<ap::Host<>>> state_;
  std::uint64_t t_ = 0;
};

// The matrix products alone, on separate memory. A is m x n; the others are m x m, n x n or m x n.
class Products {
 public:
  Products(std::size_t m, std::size_t n)
      : m_(m), n_(n), a_(random_values(m * n, 3)), c_(m * n), l_(m * m), p_(m * m), r_(n * n) {}

  void muon() {
    for (int i = 0; i < 5; ++i) {
      host_.gemm_nt(m_, m_, n_, a_.data(), a_.data(), l_.data());
      host_.gemm_nn(m_, m_, m_, l_.data(), l_.data(), p_.data());
      host_.gemm_nn(m_, n_, m_, p_.data(), a_.data(), c_.data());
    }
  }
  void statistics() {
    host_.gemm_nt(m_, m_, n_, a_.data(), a_.data(), l_.data());
    host_.gemm_tn(n_, n_, m_, a_.data(), a_.data(), r_.data());
  }
  void both_sides() {
    host_.gemm_nn(m_, n_, m_, l_.data(), a_.data(), c_.data());
    host_.gemm_nn(m_, n_, n_, a_.data(), r_.data(), c_.data());
  }

 private:
  ap::Host<> host_;
  std::size_t m_, n_;
  Floats a_, c_, l_, p_, r_;
};

void steps(bench::Report& report, std::size_t m, std::size_t n) {
  const std::string size = ", " + times(m, n);
  constexpr std::uint64_t never = 1'000'000'000;
  Products products(m, n);
  Stepper muon(ap::muon(), m, n);
  report.at_most("muon step / its products" + size, bench::Statistic::median, 0.95,
                 bench::paired(
                     muon, [&] { products.muon(); }, few));

  // Blocks have sides of at most 1024. Roots are excluded here and measured separately below.
  const std::size_t block_m = m < 1024 ? m : 1024, block_n = n < 1024 ? n : 1024;
  Products of_block(block_m, block_n);
  Stepper shampoo(ap::shampoo({.root_frequency = never, .start_step = 1}, ap::GraftAdam{}, ap::NewtonRoot{}), m, n);
  shampoo();
  report.at_most("shampoo step without roots / its products" + size, bench::Statistic::median, 1,
                 bench::paired(
                     shampoo,
                     [&] {
                       for (std::size_t i = 0; i < m * n; i += block_m * block_n) {
                         of_block.statistics();
                         of_block.both_sides();
                       }
                     },
                     few));

  if (n > 1024) return;  // a basis for a side longer than 1024 takes minutes
  Stepper soap(ap::soap({.frequency = never, .staggered = false}), m, n);
  soap();
  report.at_most("soap step without bases / its products" + size, bench::Statistic::median, 1.1,
                 bench::paired(
                     soap,
                     [&] {
                       products.statistics();
                       products.both_sides();
                       products.both_sides();
                     },
                     few));
}

// Matrices of one shape are processed concurrently, including their roots and bases.
template <class Rule>
void two_threads(bench::Report& report, const std::string& name, const Rule& rule) {
  constexpr std::size_t side = 256, count = 8;
  Stepper one(rule, side, side, count), two(rule, side, side, count, 2);
  one();
  two();
  bench::PairedOptions options = few;
  options.clock = bench::Clock::wall;
  report.note(name + " step, 8 of 256x256, speed-up on two threads", bench::paired(one, two, options));
}

template <class Method>
auto root_of(const Floats& a, std::size_t n, Floats& out) {
  return [&a, &out, n, scratch = typename Method::template Scratch<ap::Host<>>(ap::Host<>{}, n)]() mutable {
    const bool done = Method{}.prepare(ap::Host<>{}, n, a.data(), scratch) &&
                      Method{}.attempt(ap::Host<>{}, n, a.data(), 4, 1e-6, out.data(), scratch);
    if (!done) std::abort();
  };
}

// Reports times as multiples of an n x n x n product.
void roots(bench::Report& report, std::size_t n) {
  const ap::Host<> host;
  const Floats g = random_values(n * n, 4);
  Floats a(n * n), out(n * n);
  host.gemm_nt(n, n, n, g.data(), g.data(), a.data());
  const auto product = [&] { host.gemm_nn(n, n, n, a.data(), g.data(), out.data()); };
  const std::string size = ", " + times(n, n);
  const bench::PairedOptions fewer{.pairs = 3, .sample_seconds = 0.01};
  report.note("inverse 4th root by eigenvalues / a product" + size,
              bench::paired(root_of<ap::EigenRoot>(a, n, out), product, fewer));
  report.note("inverse 4th root by products / a product" + size,
              bench::paired(root_of<ap::NewtonRoot>(a, n, out), product, fewer));
  report.note("qr / a product" + size, bench::paired([&] { host.qr(n, a.data(), out.data()); }, product, fewer));
}

}  // namespace

int main() {
  bench::Report report;
  steps(report, 512, 512);
  steps(report, 1024, 4096);
  two_threads(report, "muon", ap::muon());
  two_threads(report, "shampoo", ap::shampoo({.root_frequency = 1, .start_step = 1}));
  two_threads(report, "soap", ap::soap({.frequency = 1}));
  roots(report, 512);
  roots(report, 1024);
  return report.status();
}
