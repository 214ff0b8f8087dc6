// The share of a training step that the exchange of gradients takes on ranks: the most that overlapping it with the
// backward pass could save. For each model, prints the median milliseconds of a step of each rank with 64 examples of
// its own, without other ranks (SingleWorker) and with Mean over the ranks, and of an exchange alone.
//   mpirun -n 2 bench_rank_steps
#include <algoperf/algoperf.hpp>
#include <algoperf/combine/group/mpi.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <cstdio>
#include <vector>

#include "paired.hpp"

namespace ap = algoperf;

namespace {

// What detail::sum_over_ranks() needs of a training context.
struct Context {
  const ap::Ranks& group;
  const ap::Ranks& ranks() const { return group; }
  ap::Host<float> backend() const { return {}; }
};

template <class Model>
void measure(const char* name, const Model& model, const ap::GlyphDigits& task, const ap::Ranks& ranks) {
  const auto data = task.train();
  constexpr std::size_t each = 64;
  const auto make = [&](std::size_t batch, const auto&... tail) {
    return ap::TrainingLoop(model, ap::SoftmaxCrossEntropy{}, ap::adamw(), ap::Constant{1e-3},
                            ap::ShuffledEpochs{.batch = batch}, tail...);
  };
  auto alone = make(each, ap::SingleWorker{});
  auto together = make(each * ranks.size(), ap::Mean{}, ap::Mpi{});
  const std::size_t size = alone.layout().size();
  const Context context{ranks};
  ap::ArrayBlocks<ap::Host<float>> blocks(context.backend(), ranks, alone.layout(), 1);
  std::vector<float> gradient(size);
  const auto exchange = [&] {
    ap::detail::sum_over_ranks(context, blocks, gradient.data(), [](std::size_t) { return 1.0f; });
  };
  std::vector<double> seconds[3];
  const auto time = [&](std::vector<double>& into, int repetitions, const auto& step) {
    (void)ranks.all_gather(0);
    const ap::Stopwatch watch;
    for (int i = 0; i < repetitions; ++i) step();
    (void)ranks.all_gather(0);
    into.push_back(watch.seconds() / repetitions);
  };
  for (int turn = 0; turn < 9; ++turn) {
    time(seconds[0], 20, [&] { alone.step(data); });
    time(seconds[1], 20, [&] { together.step(data); });
    time(seconds[2], 20, exchange);
  }
  if (!ranks.is_root()) return;
  for (auto& each_turn : seconds) each_turn.erase(each_turn.begin());  // the warm-up
  const auto milliseconds = [](const std::vector<double>& samples) { return 1e3 * bench::quartiles(samples).median; };
  const double own = milliseconds(seconds[0]), all = milliseconds(seconds[1]), exchanged = milliseconds(seconds[2]);
  std::printf("| %s | %zu | %.2f | %.2f | %.2f | %.0f %% |\n", name, size, own, all, exchanged, 100 * exchanged / all);
  std::fflush(stdout);
}

}  // namespace

int main() {
  const ap::Ranks ranks(ap::Mpi{}.connect());
  const ap::GlyphDigits task;
  if (ranks.is_root())
    std::printf(
        "%zu ranks\n\n| model | parameters | step alone, ms | step with Mean, ms | exchange, ms | exchange / step |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n",
        ranks.size());
  const ap::Shape digit{28, 28, 1};
  measure("MLP 784-64-64-10", ap::mlp(digit, {64, 64}, 10), task, ranks);
  measure("MLP 784-1024-1024-10", ap::mlp(digit, {1024, 1024}, 10), task, ranks);
  measure("CNN",
          ap::Model(digit, ap::Conv2d{.filters = 32, .padding = 1}, ap::Relu{}, ap::MaxPool{},
                    ap::Conv2d{.filters = 64, .padding = 1}, ap::Relu{}, ap::MaxPool{}, ap::Dense{.units = 128},
                    ap::Relu{}, ap::Dense{.units = 10}),
          task, ranks);
}
