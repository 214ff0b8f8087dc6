// Three findings of Dahl et al. 2023 in small, on the digits' MLP. Prints tables in Markdown.
//   1  A shorter schedule looks faster at equal error (their section 2.3.3).
//   2  A small change of the model changes the ranking of submissions (their tables 1 to 3).
//   3  A broad search space costs more than a narrow one, most of all with few trials (their table 6).
// bench_three_findings FOLDER [JOBS, default 1]
// The folder keeps every trial, so that a run that was interrupted continues.
#include <algoperf/algoperf.hpp>
#include <algoperf/core/median.hpp>
#include <algoperf/core/random.hpp>
#include <algoperf/tuning/baselines.hpp>
#include <algoperf/tuning/find_target.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <algoperf/workloads/mnist.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace ap = algoperf;

namespace {

struct Place {
  std::string folder;
  std::size_t jobs;
};

double best_metric(const ap::TrialResult& result) {
  double best = NAN;
  for (const ap::EvaluationReport& e : result.evaluations) best = std::fmin(best, e.metric);
  return best;
}

// The values of trials; those that failed have the value `failed`, by default the error of a trial that did not learn.
std::vector<double> values_of(const ap::Tuning& tuning, double failed = 1) {
  std::vector<double> values;
  for (const ap::TunedTrial& trial : tuning.trials) values.push_back(std::isnan(trial.value) ? failed : trial.value);
  return values;
}

// One tuned point, with schedules and budgets of three lengths, from ten seeds: the best error and the steps to `easy`.
void shorter_schedules(const Place& place, const ap::StudyEntry& entry, const ap::HyperPoint& point, double easy) {
  std::vector<ap::HyperPoint> seeds;
  for (int i = 1; i <= 10; ++i) seeds.push_back({{"seed", i}});
  for (const double factor : {0.6, 0.8, 1.0}) {
    const auto run = [&](const ap::HyperPoint& seed, std::uint64_t every) {
      return entry.run(point, {.seed = static_cast<std::uint64_t>(seed["seed"]),
                               .budget_factor = factor,
                               .step_hint_factor = factor,
                               .evaluate_every = every,
                               .stop_at_target = false});
    };
    const std::string journal =
        place.folder + "/schedule_" + entry.workload.name + "_" + std::to_string(static_cast<int>(100 * factor));
    const auto ten = [&](const std::string& name, double failed, const auto& function) {
      const ap::TuneOptions options{.trials = seeds.size(), .jobs = place.jobs, .journal = journal + name};
      return values_of(ap::tune(ap::SearchSpace(seeds), options, function), failed);
    };
    const std::vector<double> errors =
        ten(".jsonl", 1, [&](const ap::HyperPoint& seed) { return best_metric(run(seed, 0)); });
    const std::vector<double> steps = ten("_steps.jsonl", INFINITY, [&](const ap::HyperPoint& seed) -> double {
      for (const ap::EvaluationReport& e : run(seed, 20).evaluations)
        if (e.metric <= easy) return static_cast<double>(e.step);
      return NAN;
    });
    const auto [least, most] = std::minmax_element(errors.begin(), errors.end());
    std::printf("| %s | %.0f | %.2f %% | %.2f to %.2f %% | %.0f to %.1f %% |\n", entry.workload.name.c_str(),
                std::ceil(factor * static_cast<double>(entry.facts().step_hint)), 100 * ap::median(errors),
                100 * *least, 100 * *most, ap::median(steps), 100 * easy);
    std::fflush(stdout);
  }
}

// The error of each tuned submission on each workload: 10 points, then the median of three seeds of the best.
void changed_models(const Place& place, const std::vector<ap::StudyEntry>& entries) {
  std::string workload;
  for (const ap::StudyEntry& entry : entries) {
    if (entry.workload.name != workload)
      std::printf("%s| %s", workload.empty() ? "" : " |\n", entry.workload.name.c_str());
    workload = entry.workload.name;
    const ap::FoundTarget found = ap::find_target({entry}, {.points = 10,
                                                            .seeds = 3,
                                                            .trial = {.steps = entry.facts().step_hint},
                                                            .jobs = place.jobs,
                                                            .folder = place.folder + "/models"});
    const auto [least, most] = std::minmax_element(found.metrics.begin(), found.metrics.end());
    std::printf(" | %.2f (%.2f to %.2f)", 100 * found.target.value, 100 * *least, 100 * *most);
    std::fflush(stdout);
  }
  std::printf(" |\n");
}

// The median over 1000 simulated searches of the least of `trials` errors, drawn without replacement.
double error_of_search(std::vector<double> errors, std::size_t trials) {
  ap::RandomStream random(ap::RandomKey{1});
  std::vector<double> best;
  for (int repeat = 0; repeat < 1000; ++repeat) {
    double least = 1;
    for (std::size_t i = 0; i < trials; ++i) {
      const std::size_t left = errors.size() - i;
      std::swap(errors[i], errors[i + random.below(static_cast<std::uint32_t>(left))]);
      least = std::min(least, errors[i]);
    }
    best.push_back(least);
  }
  return ap::median(best);
}

void search_spaces(const Place& place, const ap::StudyEntry& entry) {
  const char* const narrow = R"({"learning_rate": {"min": 2e-4, "max": 5e-3, "scaling": "log"}, "one_minus_beta1": 0.1,
                                 "weight_decay": {"min": 0.02, "max": 0.5, "scaling": "log"}})";
  const char* const broad = R"({"learning_rate": {"min": 5e-6, "max": 2e-2, "scaling": "log"},
                                "one_minus_beta1": {"min": 1e-3, "max": 1, "scaling": "log"},
                                "weight_decay": {"min": 5e-6, "max": 2, "scaling": "log"}})";
  constexpr std::size_t points = 40;
  std::vector<double> errors[2];
  for (const bool is_broad : {false, true}) {
    const std::string journal = place.folder + (is_broad ? "/broad_" : "/narrow_") + entry.workload.name + ".jsonl";
    errors[is_broad] = values_of(ap::tune(ap::parse_search_space(is_broad ? broad : narrow),
                                          {.trials = points, .seed = 1, .jobs = place.jobs, .journal = journal},
                                          [&](const ap::HyperPoint& point) {
                                            return best_metric(entry.run(point, {.seed = 1, .stop_at_target = false}));
                                          }));
  }
  for (const std::size_t trials : {5u, 20u}) {
    const double a = error_of_search(errors[0], trials), b = error_of_search(errors[1], trials);
    std::printf("| %s | %zu | %.2f %% | %.2f %% | %.1f %% |\n", entry.workload.name.c_str(), trials, 100 * a, 100 * b,
                100 * (b / a - 1));
  }
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    std::fputs("usage: bench_three_findings FOLDER [JOBS]\n", stderr);
    return 2;
  }
  const Place place{words[1], count > 2 ? std::strtoul(words[2], nullptr, 10) : 1};
  std::filesystem::create_directories(place.folder);
  const ap::AdamWBaseline adamw;
  const ap::GlyphDigits glyphs;
  const ap::Mnist mnist;
  const ap::StudyEntry on_glyphs = ap::study_entry(glyphs, adamw), on_mnist = ap::study_entry(mnist, adamw);
  const ap::HyperPoint tuned{{"learning_rate", 9.666e-3}, {"one_minus_beta1", 0.1792}, {"weight_decay", 0.4111}};
  on_glyphs.load();
  on_mnist.load();

  std::puts(
      "| workload | steps of schedule and training | median error | ten seeds | median steps |\n"
      "| --- | ---: | ---: | ---: | ---: |");
  shorter_schedules(place, on_glyphs, tuned, 0.025);
  shorter_schedules(place, on_mnist, tuned, 0.025);

  std::vector<ap::StudyEntry> models =
      ap::study_entries(glyphs, adamw, ap::NesterovBaseline{}, ap::ScheduleFreeAdamWBaseline{});
  for (const ap::StudyEntry& entry :
       ap::variant_entries(glyphs, adamw, ap::NesterovBaseline{}, ap::ScheduleFreeAdamWBaseline{}))
    models.push_back(entry);
  std::puts("\n| workload | adamw | nesterov | schedule_free_adamw |\n| --- | ---: | ---: | ---: |");
  changed_models(place, models);

  std::puts("\n| workload | trials | narrow | broad | broad is worse by |\n| --- | ---: | ---: | ---: | ---: |");
  search_spaces(place, on_glyphs);
  search_spaces(place, on_mnist);
}
