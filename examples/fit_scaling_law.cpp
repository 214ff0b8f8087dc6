// Fits a scaling law to the columns of a CSV file, optionally with intervals and predictions.
//   fit_scaling_law runs.csv --form chinchilla --huber 1e-3 --bootstrap 1000 --predict 7e10 1.4e12
#include <algoperf/data/readers/csv.hpp>
#include <algoperf/scaling/all.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"

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

// What the program prints of a fit, whatever its law.
struct Found {
  const char* formula;
  std::string description;  // ap::describe(fit)
  std::string residuals;
  double objective;
  bool converged;
  std::size_t starts, reached, points;
  std::vector<std::string> undetermined;  // the names of parameters
  struct Value {
    std::string name;        // of a parameter
    std::vector<double> at;  // of a prediction
    double value;
    std::optional<ap::Interval> interval;
  };
  std::vector<Value> parameters, predictions;
  std::optional<std::size_t> not_converged;  // of the bootstrap's replicates; empty without a bootstrap
};

ap::FitNotes notes_of(const Options& options, std::size_t variables) {
  return {.units = variables == 1 ? options.x + ", " + options.y + ", as in " + options.file
                                  : options.n + ", " + options.d + ", " + options.loss + ", as in " + options.file,
          .left_out = options.drop_highest == 0 ? "none" : "the " + std::to_string(options.drop_highest) + " highest"};
}

// Checks the sizes to predict at, and returns those of each prediction.
std::vector<std::vector<double>> predicted_at(const Options& options, std::size_t variables) {
  ap::require(options.predict.size() % variables == 0, "--predict: there are ", options.predict.size(),
              " values, expected ", variables, " per prediction");
  for (const double x : options.predict)
    ap::require(x > 0 && x < HUGE_VAL, "--predict: a value is ", x, ", expected a positive number");
  std::vector<std::vector<double>> all;
  for (auto x = options.predict.begin(); x != options.predict.end(); x += static_cast<std::ptrdiff_t>(variables))
    all.emplace_back(x, x + static_cast<std::ptrdiff_t>(variables));
  return all;
}

template <ap::ScalingLaw Law>
Found find(const Options& options) {
  constexpr std::size_t variables = Law::variables;
  std::vector<ap::Observation<variables>> observations;
  if constexpr (variables == 1)
    observations = read<1>(options, {options.x}, options.y);
  else
    observations = read<2>(options, {options.n, options.d}, options.loss);
  ap::ResidualLoss residuals;
  if (options.lad) residuals = ap::AbsoluteResiduals{};
  if (options.huber > 0) residuals = ap::HuberResiduals{options.huber};
  const std::vector<std::vector<double>> sizes = predicted_at(options, variables);

  const ap::Fit<Law> fit = ap::fit(Law{}, observations, residuals);
  Found found{.formula = Law::formula,
              .description = ap::describe(fit, notes_of(options, variables)),
              .residuals = fit.residuals,
              .objective = fit.objective,
              .converged = fit.converged,
              .starts = fit.starts,
              .reached = fit.reached,
              .points = fit.points,
              .undetermined = {},
              .parameters = {},
              .predictions = {},
              .not_converged = {}};
  ap::Bootstrap<Law> spread;
  if (options.bootstrap > 0 && fit.converged) {
    spread = ap::bootstrap(fit, observations, residuals, {.count = options.bootstrap, .seed = options.seed});
    found.not_converged = spread.not_converged;
  }
  const auto interval = [&](const auto& of) { return found.not_converged ? std::optional(of()) : std::nullopt; };
  for (std::size_t i = 0; i < Law::parameters; ++i) {
    if (fit.undetermined[i]) found.undetermined.push_back(Law::names[i]);
    found.parameters.push_back(
        {Law::names[i], {}, fit.parameters()[i], interval([&] { return spread.interval(i, options.level); })});
  }
  for (const std::vector<double>& at : sizes) {
    std::array<double, variables> x;
    std::copy(at.begin(), at.end(), x.begin());
    found.predictions.push_back({"", at, fit(x), interval([&] { return spread.at(x, options.level); })});
  }
  return found;
}

// Bytes of names that are not UTF-8, which JSON cannot hold, are replaced by U+FFFD.
void print_json(const Options& options, const Found& found, const ap::FitNotes& notes) {
  nlohmann::json json{{"form", options.form},
                      {"objective", found.objective},
                      {"converged", found.converged},
                      {"determined", found.undetermined.empty()},
                      {"formula", found.formula},
                      {"units", notes.units},
                      {"residuals", found.residuals},
                      {"left_out", notes.left_out},
                      {"starts", found.starts},
                      {"reached_optimum", found.reached},
                      {"points", found.points},
                      {"parameters", nlohmann::json::object()},
                      {"intervals", nlohmann::json::object()},
                      {"predicted_at", nlohmann::json::array()},
                      {"predictions", nlohmann::json::array()},
                      {"prediction_intervals", nlohmann::json::array()}};
  for (const Found::Value& parameter : found.parameters) {
    json["parameters"][parameter.name] = parameter.value;
    if (parameter.interval) json["intervals"][parameter.name] = {parameter.interval->low, parameter.interval->high};
  }
  for (const Found::Value& prediction : found.predictions) {
    json["predicted_at"].push_back(prediction.at);
    json["predictions"].push_back(prediction.value);
    if (prediction.interval)
      json["prediction_intervals"].push_back({prediction.interval->low, prediction.interval->high});
  }
  if (found.not_converged)
    json["bootstrap"] = {{"count", options.bootstrap},
                         {"seed", options.seed},
                         {"level", options.level},
                         {"not_converged", *found.not_converged}};
  std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_text(const Options& options, const Found& found) {
  std::printf("%s", found.description.c_str());
  if (found.not_converged)
    std::printf("\n%g %% intervals of %zu pairs bootstraps, seed %llu, excluding %zu that did not converge\n",
                100 * options.level, options.bootstrap, static_cast<unsigned long long>(options.seed),
                *found.not_converged);
  for (const Found::Value& parameter : found.parameters)
    if (parameter.interval)
      std::printf("%-14s%.6g to %.6g\n", parameter.name.c_str(), parameter.interval->low, parameter.interval->high);
  for (const Found::Value& prediction : found.predictions) {
    std::printf("at");
    for (const double each : prediction.at) std::printf(" %g", each);
    std::printf(": %.6g", prediction.value);
    if (prediction.interval)
      std::printf(", %.6g to %.6g from noise alone", prediction.interval->low, prediction.interval->high);
    std::printf("\n");
  }
}

struct Form {
  std::size_t variables;
  Found (*find)(const Options&);
};
template <ap::ScalingLaw Law>
constexpr Form form_of{Law::variables, find<Law>};

const std::map<std::string, Form> forms{
    {"m1", form_of<ap::PowerLaw>},
    {"m2", form_of<ap::PowerLawWithFloor>},
    {"m3", form_of<ap::ShiftedPowerLaw>},
    {"m4", form_of<ap::SigmoidPowerLaw>},
    {"bnsl1", form_of<ap::BrokenPowerLaw<1>>},
    {"line", form_of<ap::LogLine>},
    {"critical_batch", form_of<ap::CriticalBatch>},
    {"amdahl", form_of<ap::Amdahl>},
    {"chinchilla", form_of<ap::Chinchilla>},
    {"kaplan", form_of<ap::Kaplan>},
};

int run(const Options& options) {
  const Form& form = forms.at(options.form);
  const Found found = form.find(options);
  if (options.json)
    print_json(options, found, notes_of(options, form.variables));
  else
    print_text(options, found);
  if (!found.converged) {
    std::fprintf(
        stderr,
        "fit_scaling_law: the fit did not converge: the objective keeps falling as parameters diverge, so this "
        "form has no optimum for these observations\n");
  } else if (!found.undetermined.empty()) {
    std::string names;
    for (const std::string& name : found.undetermined) names += (names.empty() ? "" : ", ") + name;
    std::fprintf(stderr, "fit_scaling_law: these observations do not determine %s: other values fit equally well\n",
                 names.c_str());
  }
  return found.converged && found.undetermined.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CommandLine line{"Fits a scaling law to the columns of a CSV file, in log y and from many starts."};
  line.option("file", options.file, "CSV file with a header line, plain or gzipped").required();
  std::vector<std::string> names;
  for (const auto& [name, form] : forms) names.push_back(name);
  line.option("--form", options.form, "the law").required().one_of(names);
  line.option("--x", options.x, "column of sizes").shows_default();
  line.option("--y", options.y, "column of the measured losses or errors").shows_default();
  line.option("--n", options.n, "column of parameters (chinchilla, kaplan)").shows_default();
  line.option("--d", options.d, "column of samples (chinchilla, kaplan)").shows_default();
  line.option("--loss", options.loss, "column of losses (chinchilla, kaplan)").shows_default();
  line.option("--weight", options.weight, "column of weights, 1 / variance of log y");
  const CommandLine::Option huber =
      line.option("--huber", options.huber, "sum Huber losses with this delta instead of squares").positive();
  line.flag("--lad", options.lad, "sum absolute values instead of squares").excludes(huber);
  line.option("--drop-highest", options.drop_highest, "number of rows with the highest y to leave out")
      .whole(0, UINT32_MAX);
  line.option("--bootstrap", options.bootstrap, "number of bootstrap replicates of the rows, for intervals")
      .whole(0, 10000000);
  line.option("--seed", options.seed, "seed of the bootstrap").shows_default().whole(0, UINT64_MAX);
  line.option("--level", options.level, "level of the intervals").shows_default().real(0.01, 0.999);
  line.option("--predict", options.predict, "sizes to predict at; for laws of two sizes, pairs: N D N D ...")
      .positive();
  line.flag("--json", options.json, "print one JSON object and nothing else");
  line.parse(argc, argv);
  try {
    return run(options);
  } catch (const ap::Error& error) {
    std::fprintf(stderr, "fit_scaling_law: %s\n", error.what());
    return 1;
  }
}
