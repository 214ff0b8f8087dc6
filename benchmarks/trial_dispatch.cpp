// Measures what tune() adds to a trial: the time of a search beyond that of its trials, which keep a processor busy for
// one millisecond each.
//   bench_trial_dispatch [trials, default 10000]
#include <algoperf/tuning/tune.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace ap = algoperf;

namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double busy_for_a_millisecond(const ap::HyperPoint& point) {
  for (const double end = seconds() + 1e-3; seconds() < end;) {
  }
  return point["x"];
}

void measure(const char* name, std::size_t trials, std::size_t jobs, bool journal, bool sync) {
  const std::string path = std::filesystem::temp_directory_path() / "trial_dispatch.jsonl";
  std::filesystem::remove(path);
  const ap::SearchSpace space(std::vector<ap::Hyperparameter>{{.name = "x", .max = 1}});
  const double start = seconds();
  const ap::Tuning found = ap::tune(
      space,
      {.trials = trials, .search = ap::Search::random, .jobs = jobs, .journal = journal ? path : "", .sync = sync},
      busy_for_a_millisecond);
  double busy = 0;
  for (const ap::TunedTrial& trial : found.trials) busy += trial.seconds;
  const double spent = static_cast<double>(jobs) * (seconds() - start) - busy;
  std::printf("%-24s %zu jobs: %7.4f ms per trial\n", name, jobs, 1e3 * spent / static_cast<double>(trials));
  std::filesystem::remove(path);
}

}  // namespace

int main(int count, char** words) {
  const std::size_t trials = count > 1 ? std::strtoull(words[1], nullptr, 10) : 10000;
  for (const std::size_t jobs : {std::size_t{1}, std::size_t{2}}) {
    measure("no journal", trials, jobs, false, false);
    measure("journal", trials, jobs, true, false);
    measure("journal with fsync", trials / 10, jobs, true, true);
  }
}
