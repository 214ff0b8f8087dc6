// Compares update rules by time-to-target. Every rule trains the same model on the same data from the same seeds until
// the validation metric reaches a target. Only training time counts, and trials run one after another.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algoperf/algoperf.hpp>
#include <algoperf/core/nearest.hpp>
#include <algoperf/report/all.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <algoperf/workloads/mnist.hpp>
#include <functional>
#include <map>

#include "flags.hpp"

namespace ap = algoperf;

namespace {

struct Options {
  std::string workload = std::getenv("ALGOPERF_DATA") != nullptr ? "mnist" : "glyphs";
  std::string network = "mlp";
  std::vector<std::string> rules;
  std::size_t batch = 128;
  std::uint64_t seeds = 3;
  double target = 0;  // 0: the workload's default
  std::uint64_t budget = 1500;
  std::uint64_t every = 50;
  unsigned threads = 2;
  std::string out = "out";
  bool quick = false;
};

// Runs one trial of `rule`. The learning rate rises to `peak` and then follows a cosine to the end of the budget.
template <class Task, class Rule>
ap::Trial run_trial(const Task& task, const Options& options, const std::string& name, const Rule& rule, double peak,
                    std::uint64_t seed) {
  ap::Trial trial{.rule = name, .seed = seed, .target = task.target()};
  ap::TrainingLoop loop(task.model(), task.loss(), rule,
                        ap::WarmupCosine{.peak = peak, .warmup = options.budget / 20, .total = options.budget},
                        ap::ShuffledEpochs{.batch = options.batch, .seed = seed}, ap::Seed{seed},
                        ap::Host<>{.threads = options.threads});
  try {
    trial.run = loop.run(task.train(), ap::Evaluate(task, {.every = options.every}), ap::History{trial.evaluations},
                         ap::UntilTarget{task.target()}, ap::UntilStep{options.budget},
                         ap::ProgressBar({.label = fmt::format("{:<9} seed {}", name, seed),
                                          .total = options.budget,
                                          .target = task.target().value}));
  } catch (const ap::Diverged& diverged) {
    trial.run = diverged.report;
    trial.failure = diverged.what();
    fmt::print(stderr, "\n{} seed {}: {}\n", name, seed, trial.failure);
  }
  return trial;
}

// The rules in the order of the table. Each learning rate was tuned on Glyphs with seed 100, which no table includes.
template <class Task>
using RunRule = std::function<ap::Trial(const Task&, const Options&, const std::string& name, std::uint64_t seed)>;

template <class Task>
std::vector<std::pair<std::string, RunRule<Task>>> all_rules() {
  const auto entry = [](const char* name, auto rule, double peak) {
    return std::pair<std::string, RunRule<Task>>(
        name, [rule, peak](const Task& task, const Options& options, const std::string& label, std::uint64_t seed) {
          return run_trial(task, options, label, rule, peak, seed);
        });
  };
  return {
      entry("sgd", ap::sgd(), 0.8),
      entry("momentum", ap::momentum(), 0.12),
      entry("nesterov", ap::nesterov(), 0.12),
      entry("adamw", ap::adamw(), 4e-3),
      entry("lamb", ap::lamb(), 8e-3),
      entry("muon", ap::partition(ap::matrices, ap::muon(), ap::otherwise, ap::adamw()), 1e-2),
  };
}

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (const auto& [name, run] : all_rules<ap::GlyphDigits>()) names.push_back(name);
  return names;
}

template <class Task>
void compare(Task task, const Options& options) {
  if (options.target > 0) task.target_error = options.target;
  fmt::print("{} with the {}: {} parameters, {} training and {} validation examples, target {} {:g}\n\n", task.name,
             options.network, task.model().cost().parameters, task.train().size(), task.validation().size(),
             task.metric().name, task.target().value);
  std::fflush(stdout);  // print this before the progress bars, which use stderr
  std::vector<ap::Trial> trials;
  for (const auto& [name, run] : all_rules<Task>()) {
    const bool wanted = std::find(options.rules.begin(), options.rules.end(), name) != options.rules.end();
    for (std::uint64_t seed = 1; wanted && seed <= options.seeds; ++seed)
      trials.push_back(run(task, options, name, seed));
  }
  const std::string stem = options.out + "/" + task.name;
  fmt::print("\n{}", ap::format_summaries(ap::summarize(trials), task.metric().name));
  ap::write_csv(stem + ".csv", trials);
  ap::write_json(stem + ".json",
                 {{"workload", task.name},
                  {"network", options.network},
                  {"batch", options.batch},
                  {"budget", options.budget},
                  {"seeds", options.seeds},
                  {"threads", options.threads},
                  {"target", task.target().value}},
                 trials);
  const std::string title = fmt::format("Update rules by time-to-target: {}, {}", task.name, options.network);
  ap::plot_metric(stem + "_steps", title, trials, ap::Against::steps);
  ap::plot_metric(stem + "_seconds", title, trials, ap::Against::training_seconds);
  fmt::print("\nWrote {0}.csv, {0}.json, {0}_steps.svg and .png, {0}_seconds.svg and .png\n", stem);
}

// Throws Error with the nearest known name if `name` is not in `known`.
void check_name(const char* what, const std::string& name, const std::vector<std::string>& known) {
  ap::require(std::find(known.begin(), known.end(), name) != known.end(), "unknown ", what, " '", name,
              "'; did you mean '", ap::nearest(name, known), "'? Known: ", fmt::format("{}", fmt::join(known, ", ")));
}

void check(const Options& options) {
  check_name("workload", options.workload, {"glyphs", "mnist"});
  check_name("network", options.network, {"mlp", "cnn"});
  for (const std::string& rule : options.rules) check_name("rule", rule, rule_names());
  ap::AtomicFile writable(options.out + "/.writable");  // reports an unwritable folder before training starts
}

void run(const Options& options) {
  check(options);
  const bool cnn = options.network == "cnn";
  if (options.workload == "mnist") return cnn ? compare(ap::MnistCnn{}, options) : compare(ap::Mnist{}, options);
  return cnn ? compare(ap::GlyphDigitsCnn{}, options) : compare(ap::GlyphDigits{}, options);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Compares update rules by time-to-target.\nALGOPERF_DATA=<folder that holds mnist/> switches from the "
      "embedded data to MNIST.");
  app.add_option("--workload", options.workload, "glyphs (embedded) or mnist");
  app.add_option("--network", options.network, "mlp (784-256-256-10) or cnn");
  app.add_option("--rules", options.rules, "rules to compare: " + fmt::format("{}", fmt::join(rule_names(), ", ")))
      ->delimiter(',');
  app.add_option("--batch", options.batch, "examples per step")
      ->capture_default_str()
      ->check(flags::whole(1, UINT32_MAX));
  app.add_option("--seeds", options.seeds, "trials per rule, with seeds 1, 2, ...")
      ->capture_default_str()
      ->check(flags::whole(1, 1000000));
  app.add_option("--target", options.target, "validation error to reach (default: that of the workload)")
      ->check(flags::real(0, 1, true));
  app.add_option("--budget", options.budget, "maximum steps per trial; also the length of the schedule")
      ->capture_default_str()
      ->check(flags::whole(1, UINT32_MAX));
  app.add_option("--every", options.every, "steps between evaluations")
      ->capture_default_str()
      ->check(flags::whole(1, UINT32_MAX));
  app.add_option("--threads", options.threads, "threads; results do not depend on their number")
      ->capture_default_str()
      ->check(flags::whole(1, ap::ThreadPool::max_threads));
  app.add_option("--out", options.out, "folder for CSV, JSON and plots")->capture_default_str();
  app.add_flag("--quick", options.quick, "a quick check: two rules, one seed, few steps");
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) flags.push_back(option->get_name());
  app.allow_extras();
  try {
    app.parse(argc, argv);
    for (const std::string& extra : app.remaining()) check_name("argument", extra, flags);
    if (options.quick) {
      options.seeds = 1;
      options.budget = 150;
      if (options.rules.empty()) options.rules = {"adamw", "muon"};
    }
    if (options.rules.empty()) options.rules = rule_names();
    mkdir(options.out.c_str(), 0777);
    run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "compare_rules: {}\n", error.what());
    return 1;
  }
}
