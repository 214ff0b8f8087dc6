#include "algoperf/tuning/batch_size/published_batch_study.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../../support/folder.hpp"
#include "../../support/near.hpp"
#include "../../support/sentence.hpp"

namespace ap = algoperf;

namespace {

// The made-up measurements of tests/golden/make_batch_study.py, in the published layout.
struct Published {
  Folder folder;

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder / path).parent_path());
    folder.write(path, text);
  }
  static std::string metadata(std::uint64_t trial, const char* status) {
    return "{\"parameters\": {\"learning_rate\": 0." + std::to_string(trial) +
           ", \"label_smoothing\": 0}, \"status\": \"" + status +
           "\", \"steps\": 120, \"trial_id\": " + std::to_string(trial) + "}";
  }
  Published() {
    for (const std::uint64_t batch : {8u, 32u, 128u}) {
      const std::string study = std::to_string(batch) + "/";
      write(study + "study.json", "{\"batch_size\": " + std::to_string(batch) +
                                      ", \"dataset\": \"none\", \"train_steps\": 100, \"parameter_configs\": {}}");
      for (std::uint64_t trial = 1; trial < 10; ++trial) {
        std::string csv = "step,train/error,val/error\n";
        for (std::uint64_t k = 0; k < 12; ++k) {
          const double error =
              static_cast<double>((trial * 37 + k * k * 11 + batch * 7) % 100) / 100 * static_cast<double>(12 - k) / 12;
          char text[40];
          std::snprintf(text, sizeof text, ",,%.17g\n", error);
          csv += std::to_string(10 * k + trial % 3) + text;
        }
        const std::string place = study + std::to_string(trial);
        write(place + "/metadata.json", metadata(trial, trial % 4 == 0   ? "INCOMPLETE"
                                                        : trial % 7 == 0 ? "INFEASIBLE"
                                                                         : "COMPLETE"));
        write(place + "/measurements.csv", csv);
      }
    }
  }
  std::vector<ap::BatchStudy> read() const { return ap::read_batch_studies(folder.path(), "val/error"); }
};

void check(const std::optional<ap::BatchResult>& found, std::uint64_t step, std::uint64_t trial, double metric) {
  REQUIRE(found.has_value());
  CHECK(found->step == step);
  CHECK(found->trial == trial);
  CHECK(found->metric == near(metric, 1e-12));
}

}  // namespace

TEST_CASE("published studies of batch sizes are read, and agree with pandas") {
  const Published published;
  const auto studies = published.read();
  REQUIRE(studies.size() == 3);
  CHECK(studies[0].batch == 8);
  CHECK(studies[1].batch == 32);
  CHECK(studies[2].batch == 128);
  for (const ap::BatchStudy& study : studies) {
    CHECK(study.trials.size() == 9);
    CHECK(study.count(ap::TrialStatus::complete) == 6);
    CHECK(study.count(ap::TrialStatus::incomplete) == 2);
    CHECK(study.count(ap::TrialStatus::infeasible) == 1);
    CHECK_FALSE(ap::steps_to_result(study, {0}).has_value());  // a metric of 0 is not below 0
  }
  check(ap::steps_to_result(studies[0], {0.2}), 10, 9, 0);
  check(ap::steps_to_result(studies[0], {0.2}, 3), 11, 1, 0.03666666666666667);
  check(ap::steps_to_result(studies[1], {0.2}), 2, 5, 0.09);
  check(ap::steps_to_result(studies[1], {0.02}), 20, 9, 0.008333333333333333);
  check(ap::steps_to_result(studies[1], {0.2}, 3), 12, 2, 0.0825);
  check(ap::steps_to_result(studies[2], {0.2}), 0, 3, 0.07);
  check(ap::steps_to_result(studies[2], {0.02}), 60, 3, 0.015);
  CHECK(ap::steps_to_result(studies[1], {0.2})->point["learning_rate"] == 0.5);

  check(ap::best_result(studies[1], true), 71, 1, 0);
  check(ap::best_result(studies[1], true, {.steps = 45}), 20, 9, 0.008333333333333333);
  check(ap::best_result(studies[2], true), 112, 2, 0.0008333333333333334);
  check(ap::best_result(studies[2], true, {.steps = 45}), 40, 9, 0.03333333333333333);
  check(ap::best_result(studies[2], true, {.examples = 1000}), 0, 3, 0.07);
  check(ap::best_result(studies[2], false), 12, 5, 0.8433333333333334);
  CHECK(sentence([&] { (void)ap::steps_to_result(studies[0], {0.2}, 7); }) ==
        "the study of batch size 8 has 6 complete trials, expected at least 7");
}

TEST_CASE("equal steps go to the lower id, and NaN reaches no goal") {
  const double nan = std::nan("");
  const ap::BatchStudy study{16,
                             {{.id = 7, .measurements = {{1, nan}, {5, 0.1}}},
                              {.id = 3, .measurements = {{1, 0.4}, {5, 0.2}}},
                              {.id = 1, .status = ap::TrialStatus::infeasible, .measurements = {{1, 0.0}}}}};
  CHECK(ap::steps_to_result(study, {0.3})->trial == 3);
  CHECK(ap::steps_to_result(study, {0.15})->trial == 7);
  CHECK(ap::steps_to_result(study, {0.3, false})->step == 1);
  CHECK(ap::best_result(study, true)->metric == 0.1);
  CHECK(ap::best_result(study, true, {.examples = 16})->metric == 0.4);
  CHECK_FALSE(ap::best_result(study, true, {.steps = 0}).has_value());
}

TEST_CASE("malformed studies are refused with the file and the field") {
  const auto refused = [](const std::string& path, const std::string& text) {
    const Published published;
    published.write(path, text);
    std::string found = sentence([&] { (void)published.read(); });
    if (const std::size_t at = found.find(published.folder.path()); at != std::string::npos)
      found.erase(at, published.folder.path().size() + 1);
    return found;
  };
  CHECK(refused("8/study.json", "{\"batch_size\": -8}") == "8/study.json: 'batch_size' is not a whole number");
  CHECK(refused("8/study.json", "[8]") == "8/study.json: is not a JSON object");
  CHECK(refused("8/2/metadata.json", "{\"trial_id\": 2, \"status\": \"DONE\", \"parameters\": {}}") ==
        "8/2/metadata.json: 'status' is not COMPLETE, INCOMPLETE or INFEASIBLE");
  CHECK(refused("8/2/metadata.json", "{\"trial_id\": 2, \"status\": \"COMPLETE\", \"parameters\": {\"a\": [1]}}") ==
        "8/2/metadata.json: the parameter 'a' is not a number, a text, true or false");
  CHECK(refused("8/2/metadata.json", Published::metadata(3, "COMPLETE")).find("8: two trials have the trial_id 3") !=
        std::string::npos);
  CHECK(refused("8/2/measurements.csv", "step,val/error\n5,0.1\n4,0.1\n") ==
        "8/2/measurements.csv:3: column \"step\" is \"4\", expected no fewer steps than in the row before");
  CHECK(refused("8/2/measurements.csv", "step,loss\n5,0.1\n") ==
        "8/2/measurements.csv:1: there is no column \"val/error\"");
  CHECK(refused("last/study.json", "{}") == "last: is ignored, expected <number>");
}

TEST_CASE("the regimes of steps against batch sizes") {
  // S = 100 (1 + 64 / B), with intervals of a factor of two.
  std::vector<std::pair<double, double>> points;
  for (double batch = 1; batch <= 4096; batch *= 2) points.push_back({batch, 100 * (1 + 64 / batch)});
  const ap::ScalingRegimes found = ap::find_regimes(points, 0.2);
  CHECK(found.perfect_until == 8);   // B + 64 <= 1.2 * 65
  CHECK(found.maximal_from == 512);  // 1 + 64 / B <= 1.2 * (1 + 64 / 4096)
  const ap::ScalingRegimes strict = ap::find_regimes(points, 0);
  CHECK(strict.perfect_until == 1);
  CHECK(strict.maximal_from == 4096);
  CHECK(sentence([] { (void)ap::find_regimes({}); }) == "find_regimes: there are no points");
  CHECK(sentence([] {
          (void)ap::find_regimes({{8, 0}});
        }) == "find_regimes: batch size 8 has 0 steps, expected positive numbers");
}
