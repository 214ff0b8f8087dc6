// Measures the processor time of fits to 234 of Chinchilla's runs (ALGOPERF_DATA/scaling) on one thread. With --turns
// it alternates with peers/scipy_fits.py instead: it reads lines "values|huber|bootstrap repetitions" and prints
// seconds.
#include <algoperf/data/readers/csv.hpp>
#include <algoperf/scaling/all.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "paired.hpp"

namespace ap = algoperf;

namespace {

constexpr ap::HuberResiduals huber{1e-3};

std::vector<ap::Observation<2>> load() {
  const char* const root = std::getenv("ALGOPERF_DATA");
  const ap::Table table =
      ap::load_csv(std::string(root == nullptr ? "data" : root) + "/scaling/chinchilla_subset_apache2.csv",
                   {.numeric = {"N", "D", "loss"}});
  const auto number = [&](std::size_t row, const char* name) {
    std::size_t column = 0;
    while (table.columns()[column].name != name) ++column;
    return table.value(row, column);
  };
  std::vector<ap::Observation<2>> runs;
  for (std::size_t row = 0; row < table.rows(); ++row)
    runs.push_back({{number(row, "N"), number(row, "D")}, number(row, "loss")});
  return runs;
}

class Fits {
 public:
  explicit Fits(const std::vector<ap::Observation<2>>& runs)
      : runs_(runs), known_(ap::fit(ap::Chinchilla{}, runs, huber)) {}

  double seconds(const std::string& what, std::size_t repetitions) {
    const double start = bench::now(bench::Clock::thread);
    double last = 0;
    if (what == "bootstrap")
      last = ap::bootstrap(known_, runs_, huber, {.count = repetitions}).thetas[0][0];
    else
      for (std::size_t i = 0; i < repetitions; ++i)
        last = what == "values" ? ap::fit_values(ap::Chinchilla{}, runs_).objective
                                : ap::fit(ap::Chinchilla{}, runs_, huber).objective;
    const double taken = bench::now(bench::Clock::thread) - start;
    result_ = last;
    return taken;
  }
  // Returns the seconds of one repetition, the median of nine samples.
  double median(const std::string& what, std::size_t repetitions) {
    std::vector<double> samples;
    for (int i = 0; i < 9; ++i) samples.push_back(seconds(what, repetitions) / static_cast<double>(repetitions));
    return bench::quartiles(samples).median;
  }

 private:
  std::vector<ap::Observation<2>> runs_;
  ap::Fit<ap::Chinchilla> known_;
  volatile double result_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    Fits fits(load());
    if (argc > 1 && std::string(argv[1]) == "--turns") {
      std::string what;
      for (std::size_t repetitions; std::cin >> what >> repetitions;)
        std::cout << fits.seconds(what, repetitions) << std::endl;
      return 0;
    }
    bench::Report report;
    report.at_most("Chinchilla to 234 runs, least squares by projection, ms", 1, 1e3 * fits.median("values", 20));
    report.at_most("Chinchilla to 234 runs, sum of Huber losses, cold, ms", 50, 1e3 * fits.median("huber", 2));
    report.at_most("Chinchilla to 234 runs, 4000 bootstraps, s", 4, 4000 * fits.median("bootstrap", 400));
    return report.status();
  } catch (const ap::Error& error) {
    std::fprintf(stderr, "bench_scaling_fits: %s\n", error.what());
    return 2;
  }
}
