// Estimates the best model size for a compute budget by the three approaches of Hoffmann et al. 2022, and compares the
// estimates with the exact exponents. The problem is one-pass SGD on least squares with a power-law spectrum, whose
// exponents are known in closed form (Paquette et al. 2024, phase I of its diagonal version).
//   x_j = j^-1 z_j,   y = sum_j j^-1/4 x_j over all j,   and the student uses x_1 ... x_N
// The risk scales as N^-3/2 + D^-3/4, and the best N as C^1/3.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/report/chart.hpp>
#include <algoperf/report/table.hpp>
#include <algoperf/scaling/all.hpp>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"
#include "in_parallel.hpp"

namespace ap = algoperf;

namespace {

constexpr double truth_n = 1.5, truth_d = 0.75, truth_size = 1.0 / 3, truth_risk = -0.5;

// Examples generated on demand: example i is the same on every access, and its first N inputs are the same for every
// N.
class PowerLawFeatures {
 public:
  using Input = float;
  using Label = float;

  PowerLawFeatures(std::size_t features, std::size_t examples, std::uint64_t seed)
      : features_(features), examples_(examples), key_{seed}, tail_(std::sqrt(tail(features))) {}

  std::size_t size() const { return examples_; }
  ap::Shape shape() const { return {features_}; }
  ap::Shape label_shape() const { return {1}; }

  template <class T, class L>
  void gather(const std::uint32_t* indices, std::size_t n, T* x, L* y) const {
    for (std::size_t i = 0; i < n; ++i) {
      ap::RandomStream random(key_.fold(indices[i]));
      double label = tail_ * random.normal();  // the contribution of all inputs that the student does not use
      for (std::size_t j = 0; j < features_; ++j) {
        const double input = random.normal() / static_cast<double>(j + 1);
        x[i * features_ + j] = static_cast<T>(input);
        label += target(j) * input;
      }
      y[i] = static_cast<L>(label);
    }
  }

  static double target(std::size_t j) { return std::pow(static_cast<double>(j + 1), -0.25); }
  // Returns the risk of the weights: sum_j lambda_j (w_j - target_j)^2. The student cannot reduce the tail of this
  // sum.
  double risk(const float* weights) const {
    double sum = tail_ * tail_;
    for (std::size_t j = 0; j < features_; ++j)
      sum += std::pow((static_cast<double>(weights[j]) - target(j)) / static_cast<double>(j + 1), 2);
    return sum;
  }

 private:
  // Returns the sum of j^-5/2 over j > n, by the Euler-Maclaurin formula.
  static double tail(std::size_t n) {
    const double m = static_cast<double>(n) + 1;
    return std::pow(m, -1.5) / 1.5 + 0.5 * std::pow(m, -2.5) + 2.5 / 12 * std::pow(m, -3.5);
  }

  std::size_t features_, examples_;
  ap::RandomKey key_;
  double tail_;
};

// An observer that records the risk after each of the given steps.
struct RiskAt {
  const PowerLawFeatures& data;
  const std::vector<std::size_t>& steps;
  std::vector<double>& risks;

  static bool reads_loss(const ap::StepReport&) { return false; }
  template <class Run>
  ap::Control after_step(Run& run, const ap::StepReport& report) {
    if (risks.size() < steps.size() && report.now.t == steps[risks.size()])
      risks.push_back(data.risk(run.loop().values()));
    return ap::Control::go_on;
  }
};

struct Options {
  std::size_t largest = 256, steps = 100000, sizes = 11;
  std::uint64_t seeds = 16;
  std::string out = "out";
  bool quick = false;
};

// Returns the mean risk over seeds after each of `steps`, against the FLOPs spent.
ap::TrainingCurve train(std::size_t features, const std::vector<std::size_t>& steps, std::uint64_t seeds) {
  const ap::Model model(ap::Shape{features}, ap::Dense{.units = 1, .init = ap::Init::zeros});
  std::vector<double> mean(steps.size(), 0);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const PowerLawFeatures data(features, steps.back(), seed);
    // A learning rate of 0.15 for the squared error equals 0.3 for half the squared error. The targets have mean
    // 0, so the bias is frozen.
    ap::TrainingLoop loop(model, ap::MeanSquaredError{},
                          ap::partition(ap::Named{"0.bias"}, ap::frozen(), ap::otherwise, ap::sgd()),
                          ap::Constant{0.15}, ap::ShuffledEpochs{.batch = 1, .seed = seed});
    std::vector<double> risks;
    loop.run(data, RiskAt{data, steps, risks}, ap::UntilStep{steps.back()});
    for (std::size_t k = 0; k < steps.size(); ++k) mean[k] += risks[k] / static_cast<double>(seeds);
  }
  ap::TrainingCurve curve{.parameters = static_cast<double>(features)};
  for (std::size_t k = 0; k < steps.size(); ++k)
    curve.points.push_back({static_cast<double>(model.cost().flops() * steps[k]), mean[k]});
  return curve;
}

// An exponent and its 90 % profile interval.
struct Exponent {
  double value = 0;
  ap::Interval interval;
};
Exponent exponent(const std::vector<ap::Observation<1>>& observations) {
  const auto line = ap::fit(ap::LogLine{}, observations);
  return {line.theta[1], ap::profile_interval(line, observations, 1, 0.9)};
}
std::string text(const Exponent& e) {
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", e.value, e.interval.low, e.interval.high);
}

bool run(const Options& options) {
  ap::require(options.largest >= 64, "--largest is ", options.largest, ", expected at least 64");
  ap::require(options.steps >= 2000, "--steps is ", options.steps, ", expected at least 2000");
  ap::require(options.sizes >= 6, "--sizes is ", options.sizes, ", expected at least 6");
  ap::require(options.seeds >= 1, "--seeds is 0, expected at least 1");
  mkdir(options.out.c_str(), 0777);

  std::vector<std::size_t> steps;
  for (const double step : ap::geometric(20, static_cast<double>(options.steps), 40))
    steps.push_back(static_cast<std::size_t>(std::lround(step)));
  std::vector<double> sizes;
  for (const double size : ap::geometric(8, static_cast<double>(options.largest), options.sizes))
    if (sizes.empty() || std::round(size) > sizes.back()) sizes.push_back(std::round(size));
  std::vector<ap::TrainingCurve> curves(sizes.size());
  in_parallel(sizes.size(),
              [&](std::size_t i) { curves[i] = train(static_cast<std::size_t>(sizes[i]), steps, options.seeds); });

  std::string csv = "N,D,flops,risk\n";
  for (const auto& curve : curves)
    for (std::size_t k = 0; k < steps.size(); ++k)
      csv += fmt::format("{:g},{},{:.9g},{:.9g}\n", curve.parameters, steps[k], curve.points[k].flops,
                         curve.points[k].loss);
  ap::write_file(options.out + "/compute_optimal.csv", csv);

  // Budgets covered by the curves of all models: from the first point of the largest model to the last of the
  // smallest.
  const std::vector<double> budgets =
      ap::geometric(curves.back().points.front().flops, curves.front().points.back().flops, 60);
  const auto envelope = ap::training_envelope(curves, budgets);

  std::vector<ap::Observation<1>> vertices, smooth, least;
  ap::Chart isoflops{
      .title = "Risk against size at equal compute", .x = "parameters", .y = "excess risk", .series = {}};
  for (std::size_t b = 2; b < budgets.size(); b += 4) {
    std::vector<ap::IsoflopRun> runs;
    for (const auto& curve : curves) runs.push_back({curve.parameters, curve.loss_at(budgets[b])});
    const auto best =
        std::min_element(runs.begin(), runs.end(), [](const auto& a, const auto& c) { return a.loss < c.loss; });
    if (best - runs.begin() < 3 || runs.end() - best < 4) continue;  // a parabola needs three points on each side
    std::vector<ap::IsoflopRun> around(best - 3, best + 4);
    for (auto& each : around) each.loss = std::log(each.loss);  // log loss is closer to a parabola
    vertices.push_back({{budgets[b]}, ap::isoflop_parabola(around)});
    smooth.push_back({{budgets[b]}, ap::isoflop_akima(runs)});
    least.push_back({{budgets[b]}, best->loss});
    ap::Chart::Series series{
        .name = fmt::format("{:.1e} FLOPs", budgets[b]), .points = {}, .color = isoflops.series.size()};
    for (const auto& each : runs) series.points.push_back({each.parameters, each.loss});
    isoflops.series.push_back(series);
  }

  std::vector<ap::Observation<2>> surface;
  for (const auto& curve : curves)
    for (std::size_t k = 8; k < steps.size(); k += 2)
      surface.push_back({{curve.parameters, static_cast<double>(steps[k])}, curve.points[k].loss});
  const auto joint = ap::fit(ap::Chinchilla{}, surface, ap::HuberResiduals{1e-2});
  const auto spread = ap::bootstrap(joint, surface, ap::HuberResiduals{1e-2}, {.count = 500});
  const auto [a, b, e, alpha, beta] = joint.parameters();
  std::vector<double> shares;
  for (const auto& theta : spread.thetas) shares.push_back(theta[4] / (theta[3] + theta[4]));
  const Exponent third{beta / (alpha + beta), ap::percentile_interval(shares, 0.9)};

  const Exponent first = exponent(envelope), second = exponent(vertices), risk = exponent(least);
  fmt::print("{}\n", ap::format_table({{"N as C^", "exponent (90 %, if points are independent)"},
                                       {"truth", fmt::format("{:.3f}", truth_size)},
                                       {"1, envelope of training curves", text(first)},
                                       {"2, parabolas at equal compute", text(second)},
                                       {"2, Akima curves at equal compute", text(exponent(smooth))},
                                       {"3, E + A / N^alpha + B / D^beta", text(third)}}));
  fmt::print("minimum risk as C^{} (truth {:.3f})\n\n", text(risk), truth_risk);
  fmt::print(
      "{}(truth: alpha {:g}, beta {:g}; the intervals assume independent points, but points on one training curve "
      "are dependent; those of approach 3 also ignore that its form is only asymptotic)\n",
      ap::describe(joint,
                   {.units = "N: parameters, D: examples, L: excess risk", .left_out = "each run's first steps"}),
      truth_n, truth_d);

  ap::Chart training{
      .title = "One-pass SGD on power-law least squares", .x = "FLOPs", .y = "excess risk", .series = {}};
  for (const auto& curve : curves) {
    ap::Chart::Series series{
        .name = fmt::format("N = {:g}", curve.parameters), .points = {}, .color = training.series.size()};
    for (const auto& point : curve.points) series.points.push_back({point.flops, point.loss});
    training.series.push_back(series);
  }
  ap::draw(options.out + "/compute_optimal_training", training);
  ap::draw(options.out + "/compute_optimal_isoflop", isoflops);
  ap::Chart best{.title = "Best size by budget", .x = "FLOPs", .y = "parameters", .series = {}};
  const auto series = [&](const char* name, const auto& observations, ap::Draw how) {
    ap::Chart::Series points{.name = name, .points = {}, .draw = how, .color = best.series.size()};
    for (const auto& o : observations) points.points.push_back({o.x[0], o.y});
    best.series.push_back(points);
  };
  series("approach 1", envelope, ap::Draw::dots);
  series("approach 2", vertices, ap::Draw::dots);
  std::vector<ap::Observation<1>> by_surface, by_truth;
  const double per_pair =
      curves.back().points.back().flops / curves.back().parameters / static_cast<double>(steps.back());
  for (const double budget : budgets) {
    by_surface.push_back({{budget}, ap::best_allocation(joint, budget, per_pair).parameters});
    by_truth.push_back({{budget}, vertices[0].y * std::pow(budget / vertices[0].x[0], truth_size)});
  }
  series("approach 3", by_surface, ap::Draw::line);
  series("C^(1/3)", by_truth, ap::Draw::dashes);
  ap::draw(options.out + "/compute_optimal_sizes", best);

  fmt::print("\nWrote {0}/compute_optimal.csv, {0}/compute_optimal_training, _isoflop and _sizes, .svg and .png\n",
             options.out);
  return joint.converged && joint.determined();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CommandLine line{"Approaches 1, 2 and 3 to compute-optimal sizes, on a problem with known exponents."};
  line.option("--largest", options.largest, "parameters of the largest model").shows_default().whole(8, 1 << 20);
  line.option("--sizes", options.sizes, "number of models, starting at 8 parameters").shows_default().whole(1, 64);
  line.option("--steps", options.steps, "steps per model, on one example each").shows_default().whole(1, UINT32_MAX);
  line.option("--seeds", options.seeds, "number of runs to average").shows_default().whole(1, 1000000);
  line.option("--out", options.out, "folder for the CSV file and the plots").shows_default();
  line.flag("--quick", options.quick, "a small run that checks that the program works");
  line.parse(argc, argv);
  if (options.quick) options.steps = 4000, options.largest = 128, options.seeds = 2;
  try {
    if (run(options)) return 0;
    fmt::print(stderr, "compute_optimal: the joint fit has no unique optimum: do not trust its values\n");
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "compute_optimal: {}\n", error.what());
    return 1;
  }
}
