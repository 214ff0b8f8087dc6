// Compares AdamW written as a few whole-array statements, as in ensmallen, with the library's: ratios of the
// statements' time to the library's.
#include "../paired.hpp"
#include "turns.hpp"
#include "whole_array.hpp"

namespace {

class Statements {
 public:
  explicit Statements(std::size_t n) : g_(n), p_(n), m_(n), v_(n) {
    for (std::size_t i = 0; i < n; ++i) g_[i] = static_cast<float>(i % 97) / 97 - 0.5f;
  }
  void operator()() {
    const auto array = [](algoperf::Arena<float>& x) {
      return whole_array::Array(x.data(), static_cast<Eigen::Index>(x.size()));
    };
    t_ += 1;
    whole_array::At at{array(g_), array(p_), array(m_), array(v_), array(v_), t_, bench::rate};
    whole_array::adamw(at);
  }

 private:
  algoperf::Arena<float> g_, p_, m_, v_;
  double t_ = 0;
};

}  // namespace

int main() {
  bench::Report report;
  for (const std::size_t n : bench::sizes) {
    bench::LibraryAdamW library(n);
    Statements statements(n);
    report.at_least("AdamW step, " + std::to_string(n) + " parameters: Eigen array statements", 1,
                    bench::paired(statements, library));
  }
  return report.status();
}
