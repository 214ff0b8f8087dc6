#include <fmt/format.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/report/chart.hpp>
#include <algoperf/report/table.hpp>
#include <algoperf/scaling/all.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measured_curve.hpp"

namespace ap = algoperf;

namespace {

std::string text(const ap::Interval& interval) { return fmt::format("{:.4g} to {:.4g}", interval.low, interval.high); }

std::string text(const char* name, const ap::Boundary& boundary) {
  if (!boundary.found)
    return fmt::format("{} outside these shards ({:.0f} % of bootstraps agree)", name, 100 * boundary.confidence);
  return fmt::format("{} at {:.0f} examples ({:.0f} % of bootstraps find it, at {})", name, boundary.at,
                     100 * boundary.confidence, text(boundary.interval));
}

// Projects an error to data, parameters and time, with the intervals due to the noise of both laws.
template <class Law>
nlohmann::json project(const CurveOptions& options, const Family& family, double target, const ap::Fit<Law>& curve,
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

template <class Law>
bool report_law(const CurveOptions& options, const Family& family, const MeasuredCurve& found) {
  const std::vector<std::size_t>& shards = found.shards;
  const std::vector<const CurveCell*>& best = found.best;
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
    for (const CurveCell& cell : found.cells)
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

}  // namespace

bool report(const CurveOptions& options, const Family& family, const MeasuredCurve& found) {
  return found.regions.guessing_ends.found ? report_law<ap::BoundedPowerLaw>(options, family, found)
                                           : report_law<ap::PowerLawWithFloor>(options, family, found);
}
