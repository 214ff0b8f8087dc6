// Measures a learning curve as in Hestness et al. 2017. Networks of several sizes are trained on shards of the data
// that double in size, and the best network size is found for each shard. Laws are fitted to the best errors and
// sizes, and checked on the largest shards, which the fits exclude. On Glyphs, 5 % of the labels are wrong, so the
// irreducible error is known. The families of networks are in learning_curve/families.cpp: MLPs on digits, Transformers
// on text, Transformers that translate, Conformers on speech, and residual networks on images.
//   learning_curve --workload translation --seeds 2 --out out/translation
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/report/chart.hpp>
#include <algoperf/report/table.hpp>
#include <algoperf/scaling/all.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"
#include "in_parallel.hpp"
#include "learning_curve/family.hpp"

namespace ap = algoperf;

namespace {

struct Options {
  std::string workload = std::getenv("ALGOPERF_DATA") != nullptr ? "mnist" : "glyphs";
  double label_noise = 0.05;
  std::size_t smallest = 0, largest = 0, held_out = 2;
  std::vector<std::size_t> widths;
  std::uint64_t seeds = 3, seed = 1;
  double target = 0;
  std::string out = "out";
  bool quick = false;
};

// The results of one network size on one shard.
struct Cell {
  std::size_t shard = 0, width = 0;
  double parameters = 0, flops = 0;  // of the network, and of one training run
  std::vector<double> errors;        // the best validation error for each seed
  double error = 0;                  // their median
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

// Trains every size on every shard. Cells are ordered by shard, then by size.
std::vector<Cell> measure(const Options& options, const Family& family, const std::vector<std::size_t>& shards) {
  std::vector<Cell> cells;
  for (const std::size_t shard : shards)
    for (const std::size_t width : options.widths) cells.push_back({.shard = shard, .width = width, .errors = {}});
  for (Cell& cell : cells) cell.errors.resize(options.seeds);
  in_parallel(cells.size() * options.seeds, [&](std::size_t task) {
    const std::size_t i = cells.size() - 1 - task / options.seeds, seed = task % options.seeds;  // longest first
    Cell& cell = cells[i];
    const Trial trial = family.train(cell.shard, cell.width, options.seed + seed);
    cell.errors[seed] = trial.error;
    if (seed == 0) cell.flops = trial.flops;
  });
  for (Cell& cell : cells) {
    cell.error = median(cell.errors);
    cell.parameters = family.parameters(cell.width);
  }
  return cells;
}

std::string text(const ap::Interval& interval) { return fmt::format("{:.4g} to {:.4g}", interval.low, interval.high); }

std::string text(const char* name, const ap::Boundary& boundary) {
  if (!boundary.found)
    return fmt::format("{} outside these shards ({:.0f} % of bootstraps agree)", name, 100 * boundary.confidence);
  return fmt::format("{} at {:.0f} examples ({:.0f} % of bootstraps find it, at {})", name, boundary.at,
                     100 * boundary.confidence, text(boundary.interval));
}

// The results of training, by shard.
struct Found {
  std::vector<std::size_t> shards;
  std::vector<Cell> cells;
  std::vector<const Cell*> best, enough;               // per shard: the lowest error, and the smallest size whose
                                                       // error is within the family's tolerance of it
  std::vector<ap::Observation<1>> errors, all_errors;  // of the best sizes: fitted, and including held-out
  std::vector<ap::Observation<1>> sizes;
  ap::Regions regions;
};

// Projects an error to data, parameters and time, with the intervals due to the noise of both laws.
template <class Law>
nlohmann::json project(const Options& options, const Family& family, double target, const ap::Fit<Law>& curve,
                       const ap::Bootstrap<Law>& curves, const ap::Fit<ap::PowerLaw>& size,
                       const std::vector<ap::Observation<1>>& sizes) {
  const ap::Requirements needs = family.requirements(options.widths);
  const ap::Accelerator accelerator;
  const ap::ProjectionOptions way{.batch = ap::Samples(static_cast<double>(family.batch))};
  const auto at = ap::project(target, curve, size, needs, accelerator, way);
  const auto spread = ap::bootstrap(size, sizes, {}, {.count = 1000, .resample = ap::Resample::residuals});
  const auto between = ap::project(target, curves, spread, needs, accelerator, way);
  nlohmann::json json{{"error", target}};
  std::vector<std::vector<std::string>> rows{{fmt::format("an error of {:.4g}", target), "needs", "90 %, noise alone"}};
  const auto row = [&](const char* name, const char* key, auto member) {
    const double value = (at.*member).value, low = (between.low.*member).value, high = (between.high.*member).value;
    rows.push_back({name, fmt::format("{:.3g}", value), fmt::format("{:.3g} to {:.3g}", low, high)});
    json[key] = {{"value", value}, {"interval", {low, high}}};
  };
  row("examples", "examples", &ap::Projection::data);
  row("parameters", "parameters", &ap::Projection::parameters);
  row("FLOPs per epoch", "flops", &ap::Projection::flops);
  row("bytes of memory", "memory", &ap::Projection::memory);
  row("seconds per epoch", "seconds", &ap::Projection::time);
  fmt::print("\n{}in batches of {}, on an accelerator of {:.3g} FLOP/s and {:.3g} B/s\n", ap::format_table(rows),
             family.batch, accelerator.peak.value, accelerator.bandwidth.value);
  return json;
}

// Fits the law of errors, compares it with the held-out shards, and draws charts. Returns whether the fit has a
// unique optimum.
template <class Law>
bool report(const Options& options, const Family& family, const Found& found) {
  const std::vector<std::size_t>& shards = found.shards;
  const std::vector<const Cell*>& best = found.best;
  const std::vector<ap::Observation<1>>&errors = found.errors, &all_errors = found.all_errors, &sizes = found.sizes;
  const ap::Regions& regions = found.regions;
  const bool glyphs = options.workload == "glyphs";
  constexpr std::size_t exponent_at = Law::parameters - 1;  // e is the first
  const auto envelope = ap::fit(Law{}, errors);
  const auto spread = ap::bootstrap(envelope, errors, {}, {.count = 1000, .resample = ap::Resample::residuals});
  fmt::print(
      "The best error by examples, of {} shards:\n{}", errors.size(),
      ap::describe(envelope, {.units = "x: training examples, y: " + family.error, .left_out = "the largest shards"}));
  for (const std::size_t width : options.widths) {  // the law of each size; its floor is the limit of that size
    std::vector<ap::Observation<1>> of_width;
    for (std::size_t i = 0; i < found.cells.size() && of_width.size() < errors.size(); ++i)
      if (found.cells[i].width == width)
        of_width.push_back({{static_cast<double>(found.cells[i].shard)}, found.cells[i].error});
    const auto of_size = ap::fit(Law{}, of_width);
    fmt::print("width {:<8}e {:.4f}, c {:.3f}{}\n", width, of_size.parameters()[0], of_size.parameters()[exponent_at],
               of_size.converged ? "" : ", NOT CONVERGED");
  }
  const ap::Interval floor = ap::profile_interval(envelope, errors, 0, 0.9);
  const ap::Interval exponent = ap::profile_interval(envelope, errors, exponent_at, 0.9);
  fmt::print("90 % profiles: e {}, c {}\n", text(floor), text(exponent));
  if (glyphs) fmt::print("the rate of wrong labels is {:g}, a lower bound on e\n", options.label_noise);
  fmt::print("{}\n{}\n\n", text("guessing ends", regions.guessing_ends),
             text("the floor begins", regions.floor_begins));

  const auto past = ap::backtest(Law{}, errors);
  nlohmann::json held_out = nlohmann::json::array();
  for (std::size_t s = errors.size(); s < shards.size(); ++s) {
    const double m = static_cast<double>(shards[s]);
    const ap::Extrapolation said = past.at(m);
    fmt::print("held out: {} examples, error {:.4f}; predicted {:.4f} ({}, 90 %)\n", shards[s], best[s]->error,
               said.value, text(said.interval));
    held_out.push_back({{"examples", shards[s]},
                        {"error", best[s]->error},
                        {"predicted", said.value},
                        {"interval", {said.interval.low, said.interval.high}}});
  }

  // The sufficient size is a noisy choice among a few widths, so a line is fitted to all shards together.
  const bool sizes_differ = std::any_of(sizes.begin(), sizes.end(), [&](const auto& o) { return o.y != sizes[0].y; });
  nlohmann::json size_law, projection;
  std::vector<std::array<double, 2>> size_line;
  if (sizes_differ) {
    const auto law = ap::fit(ap::PowerLaw{}, sizes);
    const ap::Interval beta = ap::profile_interval(law, sizes, 1, 0.9);
    fmt::print("\nSufficient size by examples: {:.4g} m^{:.3f} parameters ({}, 90 %)\n", law.parameters()[0],
               law.parameters()[1], text(beta));
    size_law = {{"sigma", law.parameters()[0]}, {"beta_p", law.parameters()[1]}, {"interval", {beta.low, beta.high}}};
    const double target = options.target > 0 ? options.target : envelope(4 * all_errors.back().x[0]);
    if (target > envelope.parameters()[0] && target < errors[0].y) {
      projection = project(options, family, target, envelope, spread, law, sizes);
      const double first = regions.guessing_ends.found ? regions.guessing_ends.at : errors.front().x[0];
      const double reach = ap::size_for(envelope, target) / errors.back().x[0], seen = errors.back().x[0] / first;
      if (reach > seen)
        fmt::print(
            "this is {:.3g} times the largest fitted shard; the power law was observed over a factor of {:.3g}\n",
            reach, seen);
    } else {
      fmt::print("An error of {:.4g} is below the floor or above the measured range\n", target);
    }
    for (const auto& o : all_errors) size_line.push_back({o.x[0], law(o.x[0])});
  } else {
    fmt::print("\nThe same size suffices on every shard, so no law of sizes is fitted\n");
  }

  ap::Chart curve{
      .title = "Learning curve: " + options.workload, .x = "training examples", .y = family.error, .series = {}};
  for (const std::size_t width : options.widths) {
    ap::Chart::Series series{.name = fmt::format("width {}", width), .points = {}, .color = 7, .width = 1};
    for (const Cell& cell : found.cells)
      if (cell.width == width) series.points.push_back({static_cast<double>(cell.shard), cell.error});
    curve.series.push_back(series);
  }
  ap::Chart::Series fitted{.name = "best, fitted", .points = {}, .draw = ap::Draw::dots, .color = 0};
  ap::Chart::Series checked{.name = "best, held out", .points = {}, .draw = ap::Draw::dots, .color = 1};
  for (std::size_t s = 0; s < shards.size(); ++s)
    (s < errors.size() ? fitted : checked).points.push_back({all_errors[s].x[0], all_errors[s].y});
  ap::Chart::Series law{.name = Law::formula, .points = {}, .color = 0};
  ap::Chart::Band noise{.name = "noise, 90 %", .points = {}, .color = 0};
  ap::Chart::Band beyond{.name = "beyond, calibrated 90 %", .points = {}, .color = 1};
  const double last = errors.back().x[0];
  for (const double m : ap::geometric(errors[0].x[0], 4 * all_errors.back().x[0], 60)) {
    law.points.push_back({m, envelope(m)});
    const ap::Interval interval = spread.at({m}, 0.9);
    noise.points.push_back({m, interval.low, interval.high});
    if (m < last) continue;
    const ap::Interval held = past.at(m).interval;
    beyond.points.push_back({m, held.low, held.high});
  }
  curve.series.push_back(law), curve.series.push_back(fitted), curve.series.push_back(checked);
  curve.bands = {beyond, noise};
  if (regions.guessing_ends.found) curve.marks.push_back({"guessing ends", regions.guessing_ends.at});
  if (regions.floor_begins.found) curve.marks.push_back({"the floor begins", regions.floor_begins.at});
  ap::draw(options.out + "/learning_curve", curve);

  ap::Chart growth{
      .title = "Sufficient size: " + options.workload, .x = "training examples", .y = "parameters", .series = {}};
  ap::Chart::Series chosen{.name = "large enough", .points = {}, .draw = ap::Draw::dots, .color = 0};
  for (std::size_t s = 0; s < shards.size(); ++s)
    chosen.points.push_back({all_errors[s].x[0], found.enough[s]->parameters});
  growth.series.push_back(chosen);
  if (!size_line.empty()) growth.series.push_back({.name = "sigma m^beta", .points = size_line, .color = 0});
  ap::draw(options.out + "/learning_curve_sizes", growth);

  const auto boundary = [](const ap::Boundary& b) -> nlohmann::json {
    if (!b.found) return {{"found", false}, {"confidence", b.confidence}};
    return {
        {"found", true}, {"at", b.at}, {"confidence", b.confidence}, {"interval", {b.interval.low, b.interval.high}}};
  };
  nlohmann::json parameters;
  for (std::size_t i = 0; i < Law::parameters; ++i) parameters[Law::names[i]] = envelope.parameters()[i];
  const nlohmann::json json{{"workload", options.workload},
                            {"label_noise", glyphs ? nlohmann::json(options.label_noise) : nlohmann::json()},
                            {"seeds", options.seeds},
                            {"curve",
                             {{"form", Law::formula},
                              {"parameters", parameters},
                              {"e_interval", {floor.low, floor.high}},
                              {"c_interval", {exponent.low, exponent.high}},
                              {"objective", envelope.objective},
                              {"converged", envelope.converged}}},
                            {"sizes", size_law},
                            {"projection", projection},
                            {"guessing_ends", boundary(regions.guessing_ends)},
                            {"floor_begins", boundary(regions.floor_begins)},
                            {"held_out", held_out}};
  ap::write_file(options.out + "/learning_curve.json",
                 json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  fmt::print("\nWrote {0}/learning_curve.csv and .json, {0}/learning_curve and _sizes, .svg and .png\n", options.out);
  return envelope.converged && envelope.determined();
}

bool run(Options options) {
  FamilyOptions drawn{.label_noise = options.label_noise, .seed = options.seed};
  if (options.largest > 0) drawn.largest = options.largest;
  const Family family = family_of(options.workload, drawn);
  if (options.smallest == 0) options.smallest = family.smallest;
  if (options.largest == 0) options.largest = family.largest;
  if (options.widths.empty()) options.widths = family.widths;
  ap::require(options.seeds >= 1, "--seeds is 0, expected at least 1");
  ap::require(!options.widths.empty() && options.widths.front() > 0 &&
                  std::is_sorted(options.widths.begin(), options.widths.end()),
              "--widths: expected one or more positive widths in ascending order");
  std::vector<std::size_t> shards;
  for (std::size_t m = options.smallest; m > 0 && m <= options.largest; m *= 2) shards.push_back(m);
  ap::require(shards.size() >= options.held_out + 8, "from --smallest ", options.smallest, " to --largest ",
              options.largest, " there are ", shards.size(), " shards, expected at least ", options.held_out + 8,
              ": 8 to fit and ", options.held_out, " to hold out");
  mkdir(options.out.c_str(), 0777);
  ap::require(family.examples >= shards.back(), "--largest is ", options.largest, ", but there are ", family.examples,
              " training examples");
  Found found;
  found.shards = shards;
  found.cells = measure(options, family, shards);
  const std::vector<Cell>& cells = found.cells;

  std::string csv = "examples,width,parameters,flops,error,errors\n";
  for (const Cell& cell : cells)
    csv += fmt::format("{},{},{:g},{:g},{:.9g},{:.9g}\n", cell.shard, cell.width, cell.parameters, cell.flops,
                       cell.error, fmt::join(cell.errors, " "));
  ap::write_file(options.out + "/learning_curve.csv", csv);

  // The best size for each shard.
  std::vector<std::vector<std::string>> rows{{"shard"}};
  for (const std::size_t width : options.widths) rows[0].push_back(fmt::format("width {}", width));
  rows[0].push_back("best");
  rows[0].push_back("enough");
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const auto first = cells.begin() + static_cast<std::ptrdiff_t>(s * options.widths.size());
    const auto least = std::min_element(first, first + static_cast<std::ptrdiff_t>(options.widths.size()),
                                        [](const Cell& a, const Cell& b) { return a.error < b.error; });
    const double most = least->error + family.tolerance(least->error);
    const auto enough = std::find_if(first, least, [&](const Cell& cell) { return cell.error <= most; });
    found.best.push_back(&*least);
    found.enough.push_back(&*enough);
    rows.push_back({fmt::format("{}", shards[s])});
    for (std::size_t w = 0; w < options.widths.size(); ++w)
      rows.back().push_back(fmt::format("{:.4f}", (first + static_cast<std::ptrdiff_t>(w))->error));
    rows.back().push_back(fmt::format("{}", least->width));
    rows.back().push_back(fmt::format("{}", enough->width));
  }
  fmt::print("best {}, median over {} seeds\n{}", family.error, options.seeds, ap::format_table(rows));
  const auto largest = std::count_if(found.best.begin(), found.best.end(),
                                     [&](const Cell* cell) { return cell->width == options.widths.back(); });
  fmt::print("{}\n",
             largest == 0
                 ? ""
                 : fmt::format("the largest size is best on {} shards, so a larger one may be better\n", largest));

  for (std::size_t s = 0; s < shards.size(); ++s) {
    const double m = static_cast<double>(shards[s]);
    found.all_errors.push_back({{m}, found.best[s]->error});
    if (s + options.held_out >= shards.size()) continue;
    found.errors.push_back({{m}, found.best[s]->error});
    found.sizes.push_back({{m}, found.enough[s]->parameters});
  }
  found.regions = ap::find_regions(found.errors);
  const bool determined = found.regions.guessing_ends.found ? report<ap::BoundedPowerLaw>(options, family, found)
                                                            : report<ap::PowerLawWithFloor>(options, family, found);
  std::vector<std::vector<std::string>> costs{{"width", "parameters", "GFLOPs per step", "MB per step"}};
  for (const std::size_t width : options.widths) {
    const ap::MeanStepCost step = family.step_cost(width);
    costs.push_back({fmt::format("{}", width), fmt::format("{:.0f}", family.parameters(width)),
                     fmt::format("{:.4g}", step.flops.value / 1e9), fmt::format("{:.4g}", step.bytes.value / 1e6)});
  }
  fmt::print("\nA step of AdamW on {} examples, mean over 200 steps\n{}", family.batch, ap::format_table(costs));
  return determined;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CommandLine line{
      "Trains networks of several sizes on doubling shards and fits the laws of their errors and best sizes.\n"
      "ALGOPERF_DATA names the folder of data; glyphs, which need no files, is the default without it."};
  line.option("--workload", options.workload, "family of networks").shows_default().one_of(family_names());
  line.option("--label-noise", options.label_noise, "fraction of wrong labels in Glyphs").shows_default().real(0, 0.8);
  line.option("--smallest", options.smallest, "examples in the first shard; default: the family's")
      .whole(1, UINT32_MAX);
  line.option("--largest", options.largest, "maximum examples in the last shard; default: the family's")
      .whole(1, UINT32_MAX);
  line.option("--held-out", options.held_out, "number of the largest shards to use for checking only")
      .shows_default()
      .whole(0, 64);
  line.option("--widths", options.widths, "widths of the networks; default: the family's")
      .separated_by_commas()
      .whole(1, 1 << 20);
  line.option("--seeds", options.seeds, "number of trials per size and shard").shows_default().whole(1, 1000000);
  line.option("--seed", options.seed, "the first seed, and the seed of the data").shows_default().whole(0, UINT64_MAX);
  line.option("--target", options.target, "error to project to; default: the predicted error at four times the data")
      .positive();
  line.option("--out", options.out, "folder for CSV, JSON and plots").shows_default();
  line.flag("--quick", options.quick, "two widths, small shards, one seed: checks that the program works");
  line.parse(argc, argv);
  if (options.quick) {
    options.smallest = 4, options.largest = 2048, options.seeds = 1, options.widths = {16, 32};
    options.workload = "glyphs";
  }
  try {
    if (run(options)) return 0;
    fmt::print(stderr, "learning_curve: the law of errors has no unique optimum: do not trust its values\n");
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "learning_curve: {}\n", error.what());
    return 1;
  }
}
