// Compares AdamW, Lion and LAMB of the library with the same rules written in intrinsics, compiled in one file with
// the same flags and run on the same memory. CMake builds it twice: at -O2 for baseline x86-64, and at -O3
// -march=native.
#include <pthread.h>

#include <algoperf/algoperf.hpp>
#include <algorithm>
#include <string>
#include <utility>

#include "baselines/handwritten.hpp"
#include "paired.hpp"
#include "rule_bench.hpp"

namespace ap = algoperf;
using bench::must_agree;
using bench::RuleBench;
using bench::Statistic;

namespace {

// Calls f on two threads, each with half of a range, with minimal overhead.
template <class F>
void on_two_threads(std::size_t n, const F& f) {
  struct Half {
    const F* f;
    std::size_t begin, end;
  } half{&f, n / 2 / 16 * 16, n};
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void* h) -> void* {
        const Half& own = *static_cast<Half*>(h);
        (*own.f)(own.begin, own.end);
        return nullptr;
      },
      &half);
  f(std::size_t{0}, half.begin);
  pthread_join(thread, nullptr);
}

struct Size {
  std::size_t n;
  const char* name;
};
constexpr Size sizes[] = {{1 << 14, "2^14"}, {10'000'000, "10^7"}};
constexpr std::size_t large = 10'000'000;

#if defined(BENCH_PLAIN)
constexpr double bar = 1.10;
const std::string flags = " at -O2, ";
#else
constexpr double bar = 1.05;
const std::string flags = " at -O3 -march=native, ";
#endif

void adamw(bench::Report& report) {
  for (const Size& size : sizes) {
    const std::size_t n = size.n;
    RuleBench at(ap::adamw(), 1, n);
    const handwritten::AdamW options;
    const auto library = [&] { at.step(options.learning_rate); };
    const auto by_hand = [&] {
      handwritten::adamw(options, at.next(), n, at.gradients(), at.values(), at.slot(0), at.slot(1));
    };
    must_agree("adamw", at, library, by_hand);
    report.at_most("AdamW" + flags + size.name + ", vs " + handwritten::instructions + " intrinsics",
                   Statistic::upper_quartile, bar, bench::paired(library, by_hand));
    const auto in_stages = [&] {
      handwritten::adamw_in_stages(options, at.next(), n, at.gradients(), at.values(), at.slot(0), at.slot(1));
    };
    report.note("AdamW" + flags + size.name + ", vs intrinsics in stages", bench::paired(library, in_stages));
    const auto stream = [&] { handwritten::stream<2>(n, at.gradients(), at.values(), {at.slot(0), at.slot(1)}); };
    report.note("AdamW" + flags + size.name + ", vs a stream of 28 bytes", bench::paired(library, stream));
  }
}

void lion(bench::Report& report) {
  for (const Size& size : sizes) {
    const std::size_t n = size.n;
    RuleBench at(ap::lion(), 1, n);
    const handwritten::Lion options;
    const auto library = [&] { at.step(options.learning_rate); };
    const auto by_hand = [&] { handwritten::lion(options, n, at.gradients(), at.values(), at.slot(0)); };
    must_agree("lion", at, library, by_hand);
    report.at_most("Lion" + flags + size.name + ", vs " + handwritten::instructions + " intrinsics",
                   Statistic::upper_quartile, bar, bench::paired(library, by_hand));
    const auto stream = [&] { handwritten::stream<1>(n, at.gradients(), at.values(), {at.slot(0)}); };
    report.note("Lion" + flags + size.name + ", vs a stream of 20 bytes", bench::paired(library, stream));
  }
}

void lamb(bench::Report& report) {
  RuleBench at(ap::lamb(), 40, large / 40);
  const handwritten::AdamW options{.eps = 1e-6};
  const auto library = [&] { at.step(options.learning_rate); };
  const auto by_hand = [&] {
    const std::uint64_t t = at.next();
    for (const ap::TensorHandle handle : at.layout().tensors()) {
      const auto [offset, size] = at.layout().place_of(handle);
      handwritten::lamb(options, t, size, at.gradients() + offset, at.values() + offset, at.slot(0) + offset,
                        at.slot(1) + offset);
    }
  };
  must_agree("lamb", at, library, by_hand);
  report.equals("LAMB, bytes per parameter", 40, static_cast<double>(ap::bytes_per_parameter(ap::lamb())));
  report.at_most("LAMB" + flags + "40 tensors, 10^7, vs two handwritten passes", Statistic::upper_quartile, 1.10,
                 bench::paired(library, by_hand));
}

template <class Rule>
void two_threads(bench::Report& report, const std::string& name, const Rule& rule, bench::Quartiles plain) {
  RuleBench one(rule, 1, large), two(rule, 1, large, 2);
  const double rate = 1e-4;
  const bench::Quartiles gain =
      bench::paired([&] { one.step(rate); }, [&] { two.step(rate); }, {.clock = bench::Clock::wall});
  const std::string what = name + flags + "10^7, speed-up on two threads";
  // If memory bandwidth does not allow a speed-up of 1.6, the library must reach 0.97 of the speed-up of a bare
  // stream on two threads. If the stream gains nothing (one core, or a busy machine), there is no bar.
  if (plain.median < 1.1)
    report.note(what, gain);
  else
    report.at_least(what, std::min(1.6, 0.97 * plain.median), gain);
}

void threads(bench::Report& report) {
  RuleBench at(ap::adamw(), 1, large);
  const auto part = [&](std::size_t begin, std::size_t end) {
    handwritten::stream<2>(end - begin, at.gradients() + begin, at.values() + begin,
                           {at.slot(0) + begin, at.slot(1) + begin});
  };
  const bench::Quartiles plain =
      bench::paired([&] { part(0, large); }, [&] { on_two_threads(large, part); }, {.clock = bench::Clock::wall});
  report.note("stream" + flags + "10^7, speed-up on two threads", plain);
  two_threads(report, "AdamW", ap::adamw(), plain);
  two_threads(report, "Lion", ap::lion(), plain);
}

}  // namespace

int main(int count, char** names) {
  const std::pair<std::string, void (*)(bench::Report&)> parts[] = {
      {"adamw", adamw}, {"lion", lion}, {"lamb", lamb}, {"threads", threads}};
  bench::Report report;
  for (const auto& [name, run] : parts)
    if (count <= 1 || std::find(names + 1, names + count, name) != names + count) run(report);
  return report.status();
}
