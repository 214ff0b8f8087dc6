// Training steps on two threads: the speed-up over one thread. Beside it, the speed-up of two independent loops of one
// thread each, which share nothing but the machine; more is hardly possible. Elapsed times, in turns; needs two idle
// processors.
#include <cstddef>
#include <string>
#include <vector>

#include "cnn_tasks.hpp"
#include "mlp_task.hpp"
#include "paired.hpp"

namespace ap = algoperf;

namespace {

constexpr std::size_t batch = 128, rounds = 31;
constexpr double sample_seconds = 0.1;

// `make(threads)` returns a loop.
template <class Data, class Make>
void compare(bench::Report& report, const std::string& name, const Data& data, const Make& make) {
  auto one = make(1), two = make(2), first = make(1), second = make(1);
  for (auto* const loop : {&one, &two, &first, &second}) loop->start(data);
  const auto on_one = [&] { one.step(data); };
  const auto on_two = [&] { two.step(data); };
  const auto apart = [&] {
    ap::ThreadPool::instance().parallel_for(2, 2, [&](std::size_t i) { (i == 0 ? first : second).step(data); });
  };
  const auto timed = [](const auto& f, std::size_t n) { return bench::seconds(f, n, bench::Clock::wall); };
  for (int i = 0; i < 3; ++i) on_one(), on_two(), apart();
  const auto steps = 1 + static_cast<std::size_t>(sample_seconds / timed(on_one, 1));
  std::vector<double> of_two, of_apart;
  for (std::size_t i = 0; i < rounds; ++i) {
    const double before = timed(on_two, steps), alone = timed(on_one, steps), both = timed(apart, steps);
    of_two.push_back(2 * alone / (before + timed(on_two, steps)));
    of_apart.push_back(2 * alone / both);
  }
  report.at_least(name + ", speed-up on two threads", 1.85, bench::quartiles(of_two));
  report.note(name + ", speed-up of two independent loops", bench::quartiles(of_apart));
}

template <class Model>
void compare_cnn(bench::Report& report, const std::string& name, const Model& model) {
  compare(report, name, bench::random_images(1024, bench::image_shape(model)),
          [&](unsigned threads) { return bench::cnn_loop(model, batch, threads); });
}

}  // namespace

int main() {
  bench::Report report;
  compare(report, "MLP 784-256-256-10", bench::random_examples(8192),
          [](unsigned threads) { return bench::training_loop(batch, threads); });
  compare_cnn(report, "simple CNN", bench::simple_cnn_model());
  compare_cnn(report, "residual CNN", bench::residual_cnn_model());
  compare_cnn(report, "ResNet-8", ap::SmallResNet<>{});
  return report.status();
}
