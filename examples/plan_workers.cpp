// Predicts the time to a target with 1, 2, 4, ... ranks by the mean and by Adasum from measurements with one rank, then
// trains with these ranks and prints both. Also predicts a described cluster.
//   mpirun -n 8 --oversubscribe plan_workers
#include <fmt/format.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/combine/group/mpi.hpp>
#include <algoperf/core/median.hpp>
#include <algoperf/scaling/workers/worker_plan.hpp>
#include <algoperf/tuning/batch_size/constant_rate_submissions.hpp>
#include <algoperf/tuning/batch_size/measure_noise_scale.hpp>
#include <algoperf/tuning/workers/measure_cluster.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "batch_size_scaling/digits.hpp"
#include "command_line/command_line.hpp"

namespace ap = algoperf;

namespace {

struct Options {
  std::string workload = "glyphs";
  std::size_t examples_per_worker = 32, seeds = 5;
  std::vector<double> rates{0.01, 0.02, 0.04, 0.08, 0.16, 0.32};
  std::uint64_t steps = 8000;
  double most_rate = HUGE_VAL;
  std::size_t cluster_ranks = 1024;
  ap::Cluster cluster{.latency = ap::Seconds(2e-5), .bandwidth = ap::BytesPerSecond(1.25e9)};
  bool quick = false;
};

// The measurements of a run. Steps are infinite if it misses the target, and the seconds 0 if it diverges.
struct Alone {
  double steps = 0, step_seconds = 0, noise_scale = 0;
};
// Those from which plans are made; every rank has them.
struct Known {
  double rate = 0;
  double bytes = 0;  // of a gradient
  Alone median = {};
};

// The medians over seeds, and the least and the most.
struct Spread {
  double median, least, most;
};
Spread spread_of(const std::vector<double>& values) {
  return {ap::median(values), *std::min_element(values.begin(), values.end()),
          *std::max_element(values.begin(), values.end())};
}

// Waits until all ranks call this. MPI_Barrier would keep a processor busy, on which other ranks may train.
void wait_for_all() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int all = 0;;) {
    MPI_Test(&request, &all, MPI_STATUS_IGNORE);
    if (all != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// The first `size` ranks; MPI_COMM_NULL on the others.
class FirstRanks {
 public:
  FirstRanks(std::size_t rank, std::size_t size) {
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, static_cast<int>(rank), &communicator_);
  }
  ~FirstRanks() {
    if (has_this()) MPI_Comm_free(&communicator_);
  }
  FirstRanks(const FirstRanks&) = delete;
  FirstRanks& operator=(const FirstRanks&) = delete;
  bool has_this() const { return communicator_ != MPI_COMM_NULL; }
  ap::Mpi group() const { return {.communicator = communicator_}; }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

template <class Task, class Combiner, class Group>
auto sgd_loop(const Task& task, double rate, std::size_t batch, std::uint64_t seed, const Combiner& combiner,
              const Group& group) {
  return ap::TrainingLoop(task.model(), task.loss(), ap::sgd(), ap::Constant{rate},
                          ap::ShuffledEpochs{.batch = batch, .seed = seed}, ap::Seed{seed}, combiner, group,
                          ap::Host<>{});
}

// Trains to the target. Steps are infinite if it is missed within `limit` steps.
template <class Task, class Loop>
Alone train(const Task& task, Loop loop, std::uint64_t every, std::uint64_t limit) {
  Alone found{.steps = HUGE_VAL};
  try {
    const ap::RunReport report = loop.run(task.train(), ap::Evaluate{task, {.every = every}},
                                          ap::UntilTarget{task.target()}, ap::UntilStep{limit});
    if (report.target_reached()) found.steps = static_cast<double>(report.last.now.t);
    found.step_seconds = report.last.training_seconds / static_cast<double>(report.last.now.t);
  } catch (const ap::Diverged&) {
  }
  return found;
}

// Searches the learning rate that reaches the target in the fewest steps, and measures with it.
template <class Task>
std::vector<Alone> measure_alone(const Task& task, const Options& options, double& best_rate) {
  std::vector<Alone> best;
  double fewest = HUGE_VAL;
  for (const double rate : options.rates) {
    std::vector<Alone> runs;
    std::vector<double> steps;
    for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
      runs.push_back(train(task,
                           sgd_loop(task, rate, options.examples_per_worker, seed, ap::SingleWorker{}, ap::InProcess{}),
                           std::max<std::uint64_t>(options.steps / 200, 1), options.steps));
      steps.push_back(runs.back().steps);
    }
    fmt::print("  rate {:<5}  median steps {:.0f}\n", rate, ap::median(steps));
    if (ap::median(steps) < fewest) fewest = ap::median(steps), best = runs, best_rate = rate;
  }
  ap::require(!best.empty(), "no learning rate reaches the target within ", options.steps, " steps");
  if (options.rates.size() > 1 && (best_rate == options.rates.front() || best_rate == options.rates.back()))
    fmt::print("  the best rate is at the end of the list\n");
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    const std::size_t batch = 8 * options.examples_per_worker;
    const std::uint64_t steps = std::max<std::uint64_t>(static_cast<std::uint64_t>(fewest), 10);
    best[seed - 1].noise_scale = ap::mean_noise_scale(
        ap::measure_noise_scale(task, ap::ConstantSgd{}, {{"learning_rate", best_rate}},
                                {.batch = batch, .workers = 8, .steps = steps, .samples = 10, .seed = seed}),
        static_cast<double>(batch));
  }
  return best;
}

ap::WorkerPlanOptions plan_options(const Options& options, const Known& known, const Alone& alone,
                                   const ap::Cluster& cluster) {
  return {.examples_per_worker = static_cast<double>(options.examples_per_worker),
          .noise_scale = alone.noise_scale,
          .steps = alone.steps,
          .step = ap::Seconds(known.median.step_seconds),
          .vector = ap::Bytes(known.bytes),
          .most_rate = std::fmax(1, options.most_rate / known.rate),
          .cluster = cluster};
}

struct Method {
  ap::Combination combination;
  ap::RateChoice rate;
};
constexpr Method methods[] = {{ap::Combination::mean, ap::RateChoice::best},
                              {ap::Combination::adasum, ap::RateChoice::untuned}};

void print_prediction(const Options& options, const Known& known, const std::vector<Alone>& alone, const Method& method,
                      std::size_t workers, const ap::Cluster& cluster, const std::vector<Alone>& measured) {
  std::vector<double> steps, seconds;
  for (const Alone& each : alone) {
    const ap::WorkerPlan plan =
        ap::plan_workers(plan_options(options, known, each, cluster), method.combination, method.rate, workers);
    steps.push_back(plan.steps), seconds.push_back(plan.time().value);
  }
  const ap::WorkerPlan plan =
      ap::plan_workers(plan_options(options, known, known.median, cluster), method.combination, method.rate, workers);
  const Spread s = spread_of(steps), t = spread_of(seconds);
  fmt::print("| {} | {} | {:.2f} | {:.0f} ({:.0f} to {:.0f}) | {:.0f} + {:.0f} | {:.3f} ({:.3f} to {:.3f}) |",
             ap::describe(method.combination), workers, plan.rate, s.median, s.least, s.most, 1e6 * plan.compute.value,
             1e6 * plan.communication.value, t.median, t.least, t.most);
  if (!measured.empty()) {
    std::vector<double> of_steps, of_step, of_time;
    for (const Alone& each : measured) {
      of_steps.push_back(each.steps);
      if (each.step_seconds > 0) of_step.push_back(each.step_seconds);
      of_time.push_back(each.steps < HUGE_VAL ? each.steps * each.step_seconds : HUGE_VAL);
    }
    if (of_step.empty()) of_step.push_back(0);  // all diverged
    const Spread ms = spread_of(of_steps), mt = spread_of(of_time);
    fmt::print(" {:.0f} ({:.0f} to {:.0f}) | {:.0f} | {:.3f} ({:.3f} to {:.3f}) | {:.2f} |", ms.median, ms.least,
               ms.most, 1e6 * ap::median(of_step), mt.median, mt.least, mt.most, mt.median / t.median);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

template <class Task>
void run(const Options& options, const Task& task) {
  const ap::Ranks all(ap::Mpi{}.connect());
  Known known;
  std::vector<Alone> alone;
  if (all.is_root()) {
    fmt::print("One rank, SGD, batches of {}:\n", options.examples_per_worker);
    alone = measure_alone(task, options, known.rate);
    std::vector<double> steps, step, noise;
    for (const Alone& each : alone) {
      steps.push_back(each.steps), step.push_back(each.step_seconds), noise.push_back(each.noise_scale);
    }
    known.median = {ap::median(steps), ap::median(step), ap::median(noise)};
    const auto loop = sgd_loop(task, known.rate, 1, 1, ap::SingleWorker{}, ap::InProcess{});
    known.bytes = static_cast<double>(loop.layout().size() * sizeof(float));
    const Spread s = spread_of(steps), n = spread_of(noise);
    fmt::print(
        "  at rate {}: {:.0f} ({:.0f} to {:.0f}) steps of {:.0f} us; noise scale {:.0f} ({:.0f} to {:.0f})"
        " examples; gradients of {:.0f} bytes\n",
        known.rate, s.median, s.least, s.most, 1e6 * known.median.step_seconds, n.median, n.least, n.most, known.bytes);
    std::fflush(stdout);
  }
  wait_for_all();
  known = all.all_gather(known)[0];

  // The network between two ranks, and the ranks that compute at the same time.
  ap::Cluster here;
  if (all.size() > 1) {
    const FirstRanks two(all.rank(), 2);
    if (two.has_this())
      here = ap::measure_network(ap::Ranks(two.group().connect()), static_cast<std::size_t>(known.bytes));
    wait_for_all();
    if (all.is_root()) here.pairing = ap::measure_pairing(static_cast<std::size_t>(known.bytes) / sizeof(float));
    auto own = sgd_loop(task, known.rate, options.examples_per_worker, 1, ap::SingleWorker{}, ap::InProcess{});
    const std::uint64_t steps = options.quick ? 10 : 500;
    const auto work = [&] { own.run(task.train(), ap::UntilStep{own.steps() + steps}); };
    double seconds = 0;
    if (all.is_root()) {
      work();
      const ap::Stopwatch watch;
      work();
      seconds = watch.seconds();
    }
    wait_for_all();
    here.processors = ap::measure_processors(all, all.all_gather(seconds)[0], work);
  }
  if (all.is_root())
    fmt::print(
        "{} ranks here: {:.2f} compute at the same time; latency {:.2f} us, bandwidth {:.2f} GB/s,"
        " adasum_pair {:.2f} GB/s\n\n"
        "| combiner | workers | rate | steps, predicted | step, us: compute + communication | seconds, predicted |"
        " steps, measured | step, us | seconds, measured | measured / predicted |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        all.size(), here.processors, 1e6 * here.latency.value, 1e-9 * here.bandwidth.value, 1e-9 * here.pairing.value);
  here = all.all_gather(here)[0];
  for (const Method& method : methods)
    for (std::size_t workers = 1; workers <= all.size(); workers *= 2) {
      const ap::WorkerPlan plan =
          ap::plan_workers(plan_options(options, known, known.median, here), method.combination, method.rate, workers);
      const FirstRanks ranks(all.rank(), workers);
      std::vector<Alone> measured;
      for (std::uint64_t seed = 1; seed <= options.seeds && ranks.has_this(); ++seed) {
        const auto measure = [&](const auto& combiner) {
          const std::uint64_t every = std::max<std::uint64_t>(static_cast<std::uint64_t>(plan.steps / 40), 1);
          measured.push_back(train(task,
                                   sgd_loop(task, known.rate * plan.rate, workers * options.examples_per_worker, seed,
                                            combiner, ranks.group()),
                                   every, options.steps));
        };
        if (method.combination == ap::Combination::mean)
          measure(ap::Mean{});
        else
          measure(ap::Adasum<ap::Of::gradients>{});
      }
      wait_for_all();
      if (all.is_root()) print_prediction(options, known, alone, method, workers, here, measured);
    }

  if (!all.is_root()) return;
  fmt::print(
      "\nThe described cluster: {} ranks, latency {:.2f} us, bandwidth {:.2f} GB/s\n\n"
      "| combiner | workers | rate | steps | step, us: compute + communication | seconds |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: |\n",
      options.cluster_ranks, 1e6 * options.cluster.latency.value, 1e-9 * options.cluster.bandwidth.value);
  for (const Method& method : methods) {
    for (std::size_t workers = 1; workers <= options.cluster_ranks; workers *= 4)
      print_prediction(options, known, alone, method, workers, options.cluster, {});
    const ap::WorkerPlan best = ap::fastest_plan(plan_options(options, known, known.median, options.cluster),
                                                 method.combination, method.rate, options.cluster_ranks);
    fmt::print("| fastest: {} | {} | {:.2f} | {:.0f} | {:.0f} + {:.0f} | {:.3f} |\n", ap::describe(method.combination),
               best.workers, best.rate, best.steps, 1e6 * best.compute.value, 1e6 * best.communication.value,
               best.time().value);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  double latency = 1e6 * options.cluster.latency.value, bandwidth = 1e-9 * options.cluster.bandwidth.value;
  CommandLine line(
      "Predicts the time to a target by the number of data-parallel ranks, and checks it by training with them.\n"
      "Start it with mpirun. The workload mnist reads files from the folder ALGOPERF_DATA.");
  line.option("--workload", options.workload, "glyphs or mnist").one_of({"glyphs", "mnist"}).shows_default();
  line.option("--examples-per-worker", options.examples_per_worker, "per step").whole(1, 10000).shows_default();
  line.option("--rates", options.rates, "learning rates of one rank to search").separated_by_commas().positive();
  line.option("--seeds", options.seeds, "of the runs of each kind").whole(1, 1000).shows_default();
  line.option("--steps", options.steps, "limit of a run").whole(10, 1000000000).shows_default();
  line.option("--most-rate", options.most_rate, "the largest stable learning rate, if it is known").positive();
  line.option("--cluster-ranks", options.cluster_ranks, "of the described cluster").whole(1, 1 << 20).shows_default();
  line.option("--latency", latency, "of the described cluster, in microseconds").real(0, 1e9).shows_default();
  line.option("--bandwidth", bandwidth, "of the described cluster, per rank, in 10^9 bytes per second")
      .real(1e-6, 1e9)
      .shows_default();
  line.flag("--quick", options.quick, "little training, to see that the program works");
  line.parse(argc, argv);
  try {
    options.cluster.latency = ap::Seconds(1e-6 * latency);
    options.cluster.bandwidth = ap::BytesPerSecond(1e9 * bandwidth);
    if (options.quick) options.rates = {0.1}, options.seeds = 1;
    const auto on = [&](auto task) {
      if (options.quick) task.target_error = 0.5;
      run(options, task);
    };
    if (options.workload == "mnist")
      on(FewValidated<ap::MnistWorkload<DigitFc>>{});
    else
      on(FewValidated<ap::GlyphWorkload<DigitFc>>{});
  } catch (const std::exception& error) {
    fmt::print(stderr, "plan_workers: {}\n", error.what());
    int started = 0;
    MPI_Initialized(&started);
    if (started != 0) MPI_Abort(MPI_COMM_WORLD, 1);  // other ranks may wait for this one
    return 1;
  }
}
