// Times the library's steps and the same rules in whole-array statements, each alternating with a memory stream of 12
// bytes per parameter, p += tiny g. Prints the lines that table.py joins with those of torch_steps.py and
// optax_steps.py:
//
//   implementation,rule,case,parameters,bytes,ns,stream_ns,lower,median,upper
//
// `bytes` and the times are per parameter. The last three are the quartiles of the ratio of step to stream. The cases
// are those of measure.py.
#include <algorithm>
#include <cstdio>
#include <string>

#include "../baselines/handwritten.hpp"
#include "../paired.hpp"
#include "../rule_bench.hpp"
#include "whole_array.hpp"

namespace ap = algoperf;

namespace {

constexpr double rate = 1e-4;

void line(const char* implementation, const char* rule, const char* which, std::size_t n, std::size_t bytes,
          const bench::Times& times) {
  const double ns = 1e9 / static_cast<double>(n);
  std::printf("%s,%s,%s,%zu,%zu,%.4f,%.4f,%.4f,%.4f,%.4f\n", implementation, rule, which, n, bytes,
              ns * times.a_seconds, ns * times.b_seconds, times.ratio.lower, times.ratio.median, times.ratio.upper);
  std::fflush(stdout);
}

// A stream that cycles through at least 8 MiB, so that it does not benefit from the nearest caches more than a rule
// does.
class Stream {
 public:
  explicit Stream(std::size_t n) : n_(n), parts_(std::max<std::size_t>(1, (1 << 20) / n)), g_(n * parts_), p_(g_) {}

  void operator()() {
    const float* const reads[] = {g_.data() + part_ * n_};
    float* const in_place[] = {p_.data() + part_ * n_};
    handwritten::pass<1, 1>(n_, reads, in_place);
    part_ = (part_ + 1) % parts_;
  }

 private:
  std::size_t n_, parts_, part_ = 0;
  ap::Arena<float> g_, p_;
};

// One tensor of n elements.
template <class Rule>
void compare_on(const char* which, std::size_t n, std::size_t pairs, const char* name, const Rule& rule,
                void (*statements)(whole_array::At&)) {
  bench::RuleBench at(rule, 1, {n / 16, 16});
  const auto library = [&] { at.step(rate); };
  const auto array = [n](float* x) { return whole_array::Array(x, static_cast<Eigen::Index>(n)); };
  const auto slot = [&](std::size_t j) { return j < at.slots() ? at.slot(j) : at.values(); };
  double product = 1;
  const auto in_statements = [&] {
    whole_array::At step{array(at.gradients()),
                         array(at.values()),
                         array(slot(0)),
                         array(slot(1)),
                         array(slot(2)),
                         static_cast<double>(at.next()),
                         rate,
                         product};
    statements(step);
    product = step.product;
  };
  Stream stream(n);
  bench::must_agree(name, at, library, in_statements, 1e-5f);
  const bench::PairedOptions options{.pairs = pairs, .sample_seconds = 0.005};
  const std::size_t bytes = ap::bytes_per_parameter(rule);
  line("ours", name, which, n, bytes, bench::paired_times(library, stream, options));
  line("whole-array", name, which, n, bytes, bench::paired_times(in_statements, stream, options));
}

template <class Rule>
void compare(const char* name, const Rule& rule, void (*statements)(whole_array::At&)) {
  compare_on("2^18", 1 << 18, 21, name, rule, statements);
  compare_on("10^7", 10'000'000, 21, name, rule, statements);
}

// As compare, and on many parameters and on many tensors.
template <class Rule>
void compare_more(const char* name, const Rule& rule, void (*statements)(whole_array::At&)) {
  compare(name, rule, statements);
  compare_on("10^8", 100'000'000, 7, name, rule, statements);
  ap::Layout layout;
  std::size_t n = 0;
  for (int i = 0; i < 300; ++i) {
    const ap::Shape shapes[] = {{64}, {1024}, {64, 64}};
    const ap::Shape& shape = shapes[i % 3];
    layout.add({"tensor" + std::to_string(i), ap::Kind::weight, shape});
    n += shape.size();
  }
  bench::RuleBench at(rule, layout);
  Stream stream(n);
  line("ours", name, "300 tensors", n, ap::bytes_per_parameter(rule),
       bench::paired_times([&] { at.step(rate); }, stream, {.pairs = 21, .sample_seconds = 0.005}));
}

}  // namespace

int main() {
  std::printf("# Eigen %d.%d.%d\n", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
  compare_more("sgd", ap::sgd(), whole_array::sgd);
  compare_more("momentum", ap::momentum(), whole_array::momentum);
  compare("nesterov", ap::nesterov(), whole_array::nesterov);
  compare_more("adam", ap::adam(), whole_array::adam);
  compare_more("adamw", ap::adamw(), whole_array::adamw);
  compare_more("clip + adamw", ap::chain(ap::ClipByGlobalNorm{}, ap::Adam{}, ap::DecayedWeights{}, ap::Descend{}),
               whole_array::clipped_adamw);
  compare("nadam", ap::nadam(), whole_array::nadam);
  compare("nadamw", ap::nadamw(), whole_array::nadamw);
  compare("radam", ap::radam(), whole_array::radam);
  compare("amsgrad", ap::amsgrad(), whole_array::amsgrad);
  compare("ademamix", ap::ademamix(), whole_array::ademamix);
  compare("adagrad", ap::adagrad(), whole_array::adagrad);
  compare("rmsprop", ap::rmsprop(), whole_array::rmsprop);
  compare("centered rmsprop + momentum", ap::chain(ap::CenteredRmsProp{}, ap::Momentum{}, ap::Descend{}),
          whole_array::centered_rmsprop_momentum);
  compare("lion", ap::lion(), whole_array::lion);
  compare_more("lamb", ap::lamb(), whole_array::lamb);
  compare("lars", ap::lars(), whole_array::lars);
  compare("schedule-free sgd", ap::schedule_free_sgd(), whole_array::schedule_free_sgd);
  compare("schedule-free adamw", ap::schedule_free_adamw(), whole_array::schedule_free_adamw);
}
