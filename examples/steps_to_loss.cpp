// Checks the claims of a contest by steps against the logs of its runs: which are reproduced, which are significant,
// and which result beats which.
//   steps_to_loss claims.csv curves.csv --target 3.28
#include <algoperf/scoring/readers/claims.hpp>
#include <algoperf/scoring/significance.hpp>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"

namespace ap = algoperf;
using Json = nlohmann::ordered_json;

namespace {

void print_json(const ap::Significance& found) {
  Json rows = Json::array(), pairs = Json::array();
  for (const ap::CheckedClaim& row : found.claims)
    rows.push_back({{"result", row.claim.result},
                    {"steps", row.claim.steps},
                    {"mean", row.claim.mean},
                    {"runs", row.claim.runs},
                    {"reproduced", row.reproduced},
                    {"valid", row.valid},
                    {"why", row.why}});
  for (const ap::BetterPair& pair : found.pairs)
    pairs.push_back({{"better", found.claims[pair.better].claim.result},
                     {"worse", found.claims[pair.worse].claim.result},
                     {"statistic", pair.statistic}});
  const auto or_null = [](double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); };
  const Json json{{"rows", rows},
                  {"pooled_sd",
                   {{"value", or_null(found.deviation)},
                    {"low", or_null(found.deviation_interval.low)},
                    {"high", or_null(found.deviation_interval.high)},
                    {"df", found.freedom}}},
                  {"pairs", pairs}};
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_text(const ap::Significance& found, const ap::SignificanceOptions& options) {
  std::printf("%-8s %8s %10s %5s  %-10s %-10s beats\n", "result", "steps", "mean loss", "runs", "reproduced",
              "significant");
  std::size_t reproduced = 0, valid = 0;
  for (std::size_t i = 0; i < found.claims.size(); ++i) {
    const ap::CheckedClaim& row = found.claims[i];
    std::size_t beaten = 0;
    for (const ap::BetterPair& pair : found.pairs) beaten += pair.better == i;
    std::printf("%-8s %8g %10.6g %5zu  %-10s %-10s %5zu  %s\n", row.claim.result.c_str(), row.claim.steps,
                row.claim.mean, row.claim.runs, row.reproduced ? "yes" : "no", row.valid ? "yes" : "no", beaten,
                row.why.c_str());
    reproduced += row.reproduced;
    valid += row.valid;
  }
  std::printf("\n%zu of %zu results are reproduced, %zu are significant at a threshold of %.6g.\n", reproduced,
              found.claims.size(), valid, options.threshold);
  if (found.freedom > 0)
    std::printf("Runs of one result have a standard deviation of %.6f [%.6f, %.6f], from %zu degrees of freedom.\n",
                found.deviation, found.deviation_interval.low, found.deviation_interval.high, found.freedom);
}

}  // namespace

int main(int count, char** words) {
  std::string claims, curves;
  double sigma = 0;
  bool json = false;
  ap::SignificanceOptions options;
  CommandLine line("Checks the claims of a contest by steps against the logs of its runs.");
  line.option("claims", claims, "a CSV file: result, steps, mean_loss, runs").required();
  line.option("curves", curves, "a CSV file: result, run, step, validation_loss").required();
  line.option("--target", options.target, "the loss to reach").required().positive();
  line.option("--sigma", sigma, "the deviation between runs: both thresholds become 3.09 of it").positive();
  line.option("--threshold", options.threshold, "of both statistics").positive().shows_default();
  line.option("--slope", options.loss_of_100_steps, "how much 100 steps lower the loss at the target")
      .real(0, 1e300)
      .shows_default();
  line.option("--level", options.level, "of the deviation's interval").real(0.01, 0.999).shows_default();
  line.flag("--json", json, "print one JSON object");
  line.parse(count, words);
  if (sigma > 0) options.threshold = 3.09 * sigma;
  try {
    const ap::Significance found = ap::check_claims(ap::read_claims(claims), ap::read_loss_curves(curves), options);
    json ? print_json(found) : print_text(found, options);
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "steps_to_loss: %s\n", error.what()), 1;
  }
}
