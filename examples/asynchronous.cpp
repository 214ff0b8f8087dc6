// Compares synchronous training with simulated asynchronous workers and with local steps, by the simulated seconds and
// the gradients until a target, at the best of several learning rates.
//   asynchronous --stragglers 1 --slowdown 4 --alpha 0.3
#include <fmt/format.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/combine/asynchronous/arriving_shards.hpp>
#include <algoperf/combine/asynchronous/asynchronous_all_to_all.hpp>
#include <algoperf/combine/asynchronous/asynchronous_server.hpp>
#include <algoperf/combine/local_steps.hpp>
#include <algoperf/core/median.hpp>
#include <algoperf/data/shards_by_label.hpp>
#include <algoperf/report/table.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "batch_size_scaling/digits.hpp"
#include "command_line/command_line.hpp"
#include "in_parallel.hpp"

namespace ap = algoperf;

namespace {

using Task = FewValidated<ap::GlyphWorkload<DigitFc>>;

struct Options {
  ap::WorkerSpeeds speeds{.workers = 8, .spread = 0.3, .stragglers = 1, .slowdown = 4};
  double latency = 0.2, alpha = 0;
  std::size_t batch = 32;
  std::uint64_t every = 8, gradients = 8000, evaluate = 160;
  std::vector<double> rates{0.01, 0.03, 0.1, 0.3, 1};
  std::size_t seeds = 3;
  bool quick = false;
};

// A run until the target, or its end without it.
struct Outcome {
  double seconds = std::numeric_limits<double>::infinity(), gradients = std::numeric_limits<double>::infinity();
};

// Trains until the target; seconds(t) are those of the first t steps, each of which computes `per_step` gradients.
template <class Loop, class Seconds>
Outcome train(const Options& options, const Task& task, Loop& loop, std::uint64_t per_step, const Seconds& seconds) {
  const auto data = task.train();
  const auto validation = task.validation();
  const std::uint64_t every = std::max<std::uint64_t>(options.evaluate / per_step, 1);
  try {
    for (std::uint64_t t = 1; t * per_step <= options.gradients; ++t) {
      loop.step(data);
      if (t % every == 0 && task.target().reached_by(loop.evaluate(validation, task.metric()).metric))
        return {seconds(t), static_cast<double>(t * per_step)};
    }
  } catch (const ap::Diverged&) {
  }
  return {};
}

using Shards = std::vector<std::vector<std::uint32_t>>;

// All workers train at each step, on parts of its batch or on their own shards.
template <class Rule, class Combiner>
Outcome train_together(const Options& options, const Task& task, const Shards& shards, const Rule& rule, double rate,
                       const Combiner& combiner, std::uint64_t every, std::uint64_t seed) {
  const std::size_t workers = options.speeds.workers;
  const auto seconds = [&](std::uint64_t t) {
    return ap::synchronous_seconds(options.speeds, t, options.latency, every);
  };
  const auto with = [&](const auto& selector) {
    ap::TrainingLoop loop(task.model(), task.loss(), rule, ap::Constant{rate}, selector, combiner,
                          ap::InProcess{workers}, ap::Seed{seed});
    return train(options, task, loop, workers, seconds);
  };
  if (!shards.empty()) return with(ap::ShardedEpochs(shards, options.batch, seed));
  return with(ap::ShuffledEpochs{.batch = workers * options.batch, .seed = seed});
}

// One worker's gradient arrives at each step.
template <class Combiner>
Outcome train_asynchronously(const Options& options, const Task& task, const Shards& shards, double rate,
                             Combiner combiner, std::uint64_t seed) {
  ap::AsynchronousLog log;
  combiner.speeds = options.speeds;
  combiner.log = &log;
  const auto with = [&](const auto& selector) {
    ap::TrainingLoop loop(task.model(), task.loss(), ap::sgd(), ap::Constant{rate}, selector, combiner, ap::Seed{seed});
    return train(options, task, loop, 1, [&](std::uint64_t) { return log.seconds; });
  };
  if (!shards.empty()) return with(ap::arriving_shards(shards, options.batch, combiner, seed));
  return with(ap::ShuffledEpochs{.batch = options.batch, .seed = seed});
}

const char* const names[] = {"synchronous mean", "server",    "server, shrunk", "server, dropped",
                             "all to all",       "local SGD", "DiLoCo"};
constexpr std::size_t algorithms = sizeof names / sizeof names[0];

Outcome run(const Options& options, const Task& task, const Shards& shards, std::size_t algorithm, double rate,
            std::uint64_t seed) {
  const auto together = [&](const auto& rule, double learning_rate, const auto& combiner, std::uint64_t every) {
    return train_together(options, task, shards, rule, learning_rate, combiner, every, seed);
  };
  const auto alone = [&](const auto& combiner) {
    return train_asynchronously(options, task, shards, rate, combiner, seed);
  };
  switch (algorithm) {
    case 0:
      return together(ap::sgd(), rate, ap::Mean{}, 1);
    case 1:
      return alone(ap::AsynchronousServer{.latency = options.latency});
    case 2:
      return alone(ap::AsynchronousServer{.stale = ap::Stale::shrink, .latency = options.latency});
    case 3:
      return alone(ap::AsynchronousServer{.stale = ap::Stale::drop, .latency = options.latency});
    case 4:
      return alone(ap::AsynchronousAllToAll{.latency = options.latency});
    case 5:
      return together(ap::sgd(), rate, ap::LocalSteps{.every = options.every}, options.every);
    default:
      return together(ap::adamw(), rate / 100, ap::diloco(options.every), options.every);
  }
}

std::string text_of(double value, const char* format) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : std::string("missed");
}

void compare(const Options& options) {
  const Task task;
  Shards shards;
  if (options.alpha > 0)
    shards = ap::shards_by_label(ap::labels_of(task.train()), options.speeds.workers, options.alpha);
  const std::size_t per_algorithm = options.rates.size() * options.seeds;
  std::vector<Outcome> outcomes(algorithms * per_algorithm);
  in_parallel(outcomes.size(), [&](std::size_t i) {
    outcomes[i] = run(options, task, shards, i / per_algorithm, options.rates[i % per_algorithm / options.seeds],
                      1 + i % options.seeds);
  });
  std::vector<std::vector<std::string>> rows{{"algorithm", "learning rate", "seconds to target", "gradients"}};
  for (std::size_t a = 0; a < algorithms; ++a) {
    Outcome best;
    double best_rate = options.rates.front();
    for (std::size_t r = 0; r < options.rates.size(); ++r) {
      std::vector<double> seconds, gradients;
      for (std::size_t s = 0; s < options.seeds; ++s) {
        const Outcome& outcome = outcomes[a * per_algorithm + r * options.seeds + s];
        seconds.push_back(outcome.seconds), gradients.push_back(outcome.gradients);
      }
      if (const double found = ap::median(seconds); found < best.seconds)
        best = {found, ap::median(gradients)}, best_rate = options.rates[r];
    }
    const double shown = a + 1 == algorithms ? best_rate / 100 : best_rate;
    rows.push_back({names[a], std::isfinite(best.seconds) ? fmt::format("{:g}", shown) : std::string(),
                    text_of(best.seconds, "{:.4g}"), text_of(best.gradients, "{:g}")});
  }
  fmt::print(
      "{} workers of {} examples; steps take 1 s, with a spread of {:g}; {} of the workers take {:g} times as long;\n"
      "communication takes {:g} s; {}. Error {:g}, medians over {} seeds at the best learning rate:\n\n{}",
      options.speeds.workers, options.batch, options.speeds.spread, options.speeds.stragglers, options.speeds.slowdown,
      options.latency,
      shards.empty() ? std::string("all workers have the same data")
                     : fmt::format("labels are divided by a Dirichlet distribution with alpha = {:g}", options.alpha),
      task.target().value, options.seeds, ap::format_table(rows));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CommandLine line(
      "Compares synchronous training, asynchronous workers with and without a server, local SGD and DiLoCo on "
      "generated\n"
      "digits, in simulated time.");
  line.option("--workers", options.speeds.workers, "number of workers").whole(2, 1024).shows_default();
  line.option("--batch", options.batch, "examples of a worker's gradient").whole(1, 4096).shows_default();
  line.option("--spread", options.speeds.spread, "of the seconds of a step, log-normal").real(0, 10).shows_default();
  line.option("--stragglers", options.speeds.stragglers, "slow workers").whole(0, 1024).shows_default();
  line.option("--slowdown", options.speeds.slowdown, "of a straggler's steps").real(1, 1e6).shows_default();
  line.option("--latency", options.latency, "seconds of communication").real(0, 1e6).shows_default();
  line.option("--every", options.every, "steps between two averages of local SGD and DiLoCo")
      .whole(1, 100000)
      .shows_default();
  line.option("--alpha", options.alpha, "of the Dirichlet distribution that divides the labels; 0: all have all data")
      .real(0, 1e6)
      .shows_default();
  line.option("--gradients", options.gradients, "budget of a run").whole(1, 1000000000).shows_default();
  line.option("--rates", options.rates, "learning rates; DiLoCo's inner AdamW takes a hundredth of each")
      .separated_by_commas()
      .real(1e-9, 1e9)
      .shows_default();
  line.option("--seeds", options.seeds, "runs at each learning rate").whole(1, 1000).shows_default();
  line.flag("--quick", options.quick, "few short runs, to see that the program works");
  line.parse(argc, argv);
  if (options.quick) {
    options.speeds.workers = 4, options.gradients = 160, options.rates = {0.1}, options.seeds = 1;
  }
  try {
    compare(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "asynchronous: {}\n", error.what());
    return 1;
  }
}
