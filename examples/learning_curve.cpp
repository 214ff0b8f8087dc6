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
#include <algoperf/report/table.hpp>
#include <algoperf/scaling/all.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"
#include "in_parallel.hpp"
#include "learning_curve/measured_curve.hpp"

namespace ap = algoperf;

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

// Trains every size on every shard. Cells are ordered by shard, then by size.
std::vector<CurveCell> measure(const CurveOptions& options, const Family& family,
                               const std::vector<std::size_t>& shards) {
  std::vector<CurveCell> cells;
  for (const std::size_t shard : shards)
    for (const std::size_t width : options.widths) cells.push_back({.shard = shard, .width = width, .errors = {}});
  for (CurveCell& cell : cells) cell.errors.resize(options.seeds);
  in_parallel(cells.size() * options.seeds, [&](std::size_t task) {
    const std::size_t i = cells.size() - 1 - task / options.seeds, seed = task % options.seeds;  // longest first
    CurveCell& cell = cells[i];
    const Trial trial = family.train(cell.shard, cell.width, options.seed + seed);
    cell.errors[seed] = trial.error;
    if (seed == 0) cell.flops = trial.flops;
  });
  for (CurveCell& cell : cells) {
    cell.error = median(cell.errors);
    cell.parameters = family.parameters(cell.width);
  }
  return cells;
}

bool run(CurveOptions options) {
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
  MeasuredCurve found;
  found.shards = shards;
  found.cells = measure(options, family, shards);
  const std::vector<CurveCell>& cells = found.cells;

  std::string csv = "examples,width,parameters,flops,error,errors\n";
  for (const CurveCell& cell : cells)
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
                                        [](const CurveCell& a, const CurveCell& b) { return a.error < b.error; });
    const double most = least->error + family.tolerance(least->error);
    const auto enough = std::find_if(first, least, [&](const CurveCell& cell) { return cell.error <= most; });
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
                                     [&](const CurveCell* cell) { return cell->width == options.widths.back(); });
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
  const bool determined = report(options, family, found);
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
  CurveOptions options;
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
