// Fits a scaling law to the columns of a CSV file, optionally with intervals and predictions.
//   fit_scaling_law runs.csv --form chinchilla --huber 1e-3 --bootstrap 1000 --predict 7e10 1.4e12
#include <CLI/CLI.hpp>
#include <algoperf/data/readers/csv.hpp>
#include <algoperf/scaling/all.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "flags.hpp"

namespace ap = algoperf;

namespace {

struct Options {
  std::string file, form;
  std::string x = "x", y = "y", n = "N", d = "D", loss = "loss", weight;
  double huber = 0;
  bool lad = false, json = false;
  std::size_t drop_highest = 0, bootstrap = 0;
  std::uint64_t seed = 1;
  double level = 0.95;
  std::vector<double> predict;
};

// Reads the named columns of the file, row by row, and leaves out the options.drop_highest rows with the highest y.
template <std::size_t Variables>
std::vector<ap::Observation<Variables>> read(const Options& options, const std::array<std::string, Variables>& sizes,
                                             const std::string& y) {
  std::vector<std::string> numeric(sizes.begin(), sizes.end());
  numeric.push_back(y);
  if (!options.weight.empty()) numeric.push_back(options.weight);
  const ap::Table table = ap::load_csv(options.file, {.numeric = numeric, .only = numeric});
  const auto place = [&](const std::string& name) {
    std::size_t c = 0;
    while (table.columns()[c].name != name) ++c;
    return c;
  };
  std::vector<ap::Observation<Variables>> all;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto number = [&](const std::string& name) {
      const double value = table.value(row, place(name));
      ap::require(value > 0, options.file, ": row ", row + 1, " below the header: ", name, " is ", value,
                  ", expected a positive number");
      return value;
    };
    ap::Observation<Variables> o{.x = {}, .y = number(y)};
    for (std::size_t i = 0; i < Variables; ++i) o.x[i] = number(sizes[i]);
    if (!options.weight.empty()) o.weight = number(options.weight);
    all.push_back(o);
  }
  for (std::size_t i = 0; i < options.drop_highest && !all.empty(); ++i)
    all.erase(std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.y < b.y; }));
  return all;
}

template <ap::ScalingLaw Law, class Residuals>
int run(const Options& options, const std::vector<ap::Observation<Law::variables>>& observations,
        const Residuals& residuals) {
  constexpr std::size_t variables = Law::variables;
  ap::require(options.predict.size() % variables == 0, "--predict: there are ", options.predict.size(),
              " values, expected ", variables, " per prediction");
  for (const double x : options.predict)
    ap::require(x > 0 && x < HUGE_VAL, "--predict: a value is ", x, ", expected a positive number");

  const ap::Fit<Law> fit = ap::fit(Law{}, observations, residuals);
  std::vector<std::array<double, variables>> points(options.predict.size() / variables);
  for (std::size_t i = 0; i < options.predict.size(); ++i) points[i / variables][i % variables] = options.predict[i];
  const bool sound = fit.converged && fit.determined();
  const ap::FitNotes notes{
      .units = variables == 1 ? options.x + ", " + options.y + ", as in " + options.file
                              : options.n + ", " + options.d + ", " + options.loss + ", as in " + options.file,
      .left_out = options.drop_highest == 0 ? "none" : "the " + std::to_string(options.drop_highest) + " highest"};
  ap::Bootstrap<Law> spread;
  const bool with_intervals = options.bootstrap > 0 && fit.converged;
  if (with_intervals)
    spread = ap::bootstrap(fit, observations, residuals, {.count = options.bootstrap, .seed = options.seed});

  if (options.json) {  // bytes of names that are not UTF-8, which JSON cannot hold, are replaced by U+FFFD
    nlohmann::json json{{"form", options.form},
                        {"objective", fit.objective},
                        {"converged", fit.converged},
                        {"determined", fit.determined()},
                        {"formula", Law::formula},
                        {"units", notes.units},
                        {"residuals", fit.residuals},
                        {"left_out", notes.left_out},
                        {"starts", fit.starts},
                        {"reached_optimum", fit.reached},
                        {"points", fit.points},
                        {"parameters", nlohmann::json::object()},
                        {"intervals", nlohmann::json::object()},
                        {"predicted_at", points},
                        {"predictions", nlohmann::json::array()},
                        {"prediction_intervals", nlohmann::json::array()}};
    for (std::size_t i = 0; i < Law::parameters; ++i) {
      json["parameters"][Law::names[i]] = fit.parameters()[i];
      if (!with_intervals) continue;
      const ap::Interval interval = spread.interval(i, options.level);
      json["intervals"][Law::names[i]] = {interval.low, interval.high};
    }
    for (const auto& x : points) {
      json["predictions"].push_back(fit(x));
      if (!with_intervals) continue;
      const ap::Interval interval = spread.at(x, options.level);
      json["prediction_intervals"].push_back({interval.low, interval.high});
    }
    if (with_intervals)
      json["bootstrap"] = {{"count", options.bootstrap},
                           {"seed", options.seed},
                           {"level", options.level},
                           {"not_converged", spread.not_converged}};
    std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    std::printf("%s", ap::describe(fit, notes).c_str());
    if (with_intervals) {
      std::printf("\n%g %% intervals of %zu pairs bootstraps, seed %llu, excluding %zu that did not converge\n",
                  100 * options.level, options.bootstrap, static_cast<unsigned long long>(options.seed),
                  spread.not_converged);
      for (std::size_t i = 0; i < Law::parameters; ++i) {
        const ap::Interval interval = spread.interval(i, options.level);
        std::printf("%-14s%.6g to %.6g\n", Law::names[i], interval.low, interval.high);
      }
    }
    for (const auto& x : points) {
      std::printf("at");
      for (const double each : x) std::printf(" %g", each);
      std::printf(": %.6g", fit(x));
      if (with_intervals) {
        const ap::Interval interval = spread.at(x, options.level);
        std::printf(", %.6g to %.6g from noise alone", interval.low, interval.high);
      }
      std::printf("\n");
    }
  }
  if (!fit.converged) {
    std::fprintf(
        stderr,
        "fit_scaling_law: the fit did not converge: the objective keeps falling as parameters diverge, so this "
        "form has no optimum for these observations\n");
  } else if (!sound) {
    std::string names;
    for (std::size_t i = 0; i < Law::parameters; ++i)
      if (fit.undetermined[i]) names += std::string(names.empty() ? "" : ", ") + Law::names[i];
    std::fprintf(stderr, "fit_scaling_law: these observations do not determine %s: other values fit equally well\n",
                 names.c_str());
  }
  return sound ? 0 : 1;
}

template <ap::ScalingLaw Law>
int run(const Options& options) {
  std::vector<ap::Observation<Law::variables>> observations;
  if constexpr (Law::variables == 1)
    observations = read<1>(options, {options.x}, options.y);
  else
    observations = read<2>(options, {options.n, options.d}, options.loss);
  if (options.lad) return run<Law>(options, observations, ap::AbsoluteResiduals{});
  if (options.huber > 0) return run<Law>(options, observations, ap::HuberResiduals{options.huber});
  return run<Law>(options, observations, ap::SquaredResiduals{});
}

const std::map<std::string, int (*)(const Options&)> forms{
    {"m1", run<ap::PowerLaw>},
    {"m2", run<ap::PowerLawWithFloor>},
    {"m3", run<ap::ShiftedPowerLaw>},
    {"m4", run<ap::SigmoidPowerLaw>},
    {"bnsl1", run<ap::BrokenPowerLaw<1>>},
    {"line", run<ap::LogLine>},
    {"critical_batch", run<ap::CriticalBatch>},
    {"amdahl", run<ap::Amdahl>},
    {"chinchilla", run<ap::Chinchilla>},
    {"kaplan", run<ap::Kaplan>},
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Fits a scaling law to the columns of a CSV file, in log y and from many starts."};
  app.add_option("file", options.file, "CSV file with a header line, plain or gzipped")->required();
  std::vector<std::string> names;
  for (const auto& [name, form] : forms) names.push_back(name);
  app.add_option("--form", options.form, "the law")->required()->check(CLI::IsMember(names));
  app.add_option("--x", options.x, "column of sizes")->capture_default_str();
  app.add_option("--y", options.y, "column of the measured losses or errors")->capture_default_str();
  app.add_option("--n", options.n, "column of parameters (chinchilla, kaplan)")->capture_default_str();
  app.add_option("--d", options.d, "column of samples (chinchilla, kaplan)")->capture_default_str();
  app.add_option("--loss", options.loss, "column of losses (chinchilla, kaplan)")->capture_default_str();
  app.add_option("--weight", options.weight, "column of weights, 1 / variance of log y");
  auto* huber = app.add_option("--huber", options.huber, "sum Huber losses with this delta instead of squares")
                    ->check(flags::positive());
  app.add_flag("--lad", options.lad, "sum absolute values instead of squares")->excludes(huber);
  app.add_option("--drop-highest", options.drop_highest, "number of rows with the highest y to leave out")
      ->check(flags::whole(0, UINT32_MAX));
  app.add_option("--bootstrap", options.bootstrap, "number of bootstrap replicates of the rows, for intervals")
      ->check(flags::whole(0, 10000000));
  app.add_option("--seed", options.seed, "seed of the bootstrap")
      ->capture_default_str()
      ->check(flags::whole(0, UINT64_MAX));
  app.add_option("--level", options.level, "level of the intervals")
      ->capture_default_str()
      ->check(flags::real(0.01, 0.999));
  app.add_option("--predict", options.predict, "sizes to predict at; for laws of two sizes, pairs: N D N D ...")
      ->check(flags::positive());
  app.add_flag("--json", options.json, "print one JSON object and nothing else");
  CLI11_PARSE(app, argc, argv);
  try {
    return forms.at(options.form)(options);
  } catch (const ap::Error& error) {
    std::fprintf(stderr, "fit_scaling_law: %s\n", error.what());
    return 1;
  }
}
