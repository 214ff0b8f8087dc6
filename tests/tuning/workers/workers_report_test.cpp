#include "algoperf/tuning/workers/report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../../support/folder.hpp"
#include "../../support/sentence.hpp"

namespace ap = algoperf;

namespace {

// Runs that reach an error of 0.1 in these steps; 0: in none.
ap::WorkerMeasurement made_up_runs(std::size_t workers, const std::vector<std::uint64_t>& steps) {
  ap::WorkerMeasurement measurement{workers, {{"learning_rate", 0.25}}};
  for (const std::uint64_t step : steps) {
    ap::TrialResult run;
    for (const auto& [at, metric] :
         {std::pair{std::uint64_t{1}, 0.9}, std::pair{step == 0 ? 7 : step, step == 0 ? 0.3 : 0.1}}) {
      ap::TrialEvaluation evaluation;
      evaluation.step = at, evaluation.metric = metric;
      run.evaluations.push_back(evaluation);
    }
    measurement.runs.push_back(run);
  }
  return measurement;
}
// Untuned, the mean misses the target with 4 workers, and the sum from 2 on. Tuned, Adasum needs half of the mean's
// steps.
std::vector<ap::WorkerCurve> made_up_curves() {
  const ap::ScoredWorkload workload{"digits", "digits", "error", {0.1, true}};
  std::vector<ap::WorkerCurve> curves;
  for (const char* const combiner : {"mean", "sum", "adasum"}) curves.push_back({"rule <1>", combiner, workload});
  for (const std::size_t workers : {1u, 2u, 4u}) {
    const std::uint64_t steps = 400 / workers;
    curves[0].tuned.push_back(made_up_runs(workers, {steps, steps, steps}));
    curves[1].tuned.push_back(made_up_runs(workers, {steps, steps + 2, 0}));
    curves[2].tuned.push_back(made_up_runs(workers, {steps / 2, steps / 2, steps / 2}));
    curves[0].untuned.push_back(made_up_runs(workers, {workers < 4 ? 400u : 0u, 400, 0}));
    curves[1].untuned.push_back(made_up_runs(workers, {workers < 2 ? 400u : 0u, 400, 0}));
    curves[2].untuned.push_back(made_up_runs(workers, {200, 200, 200}));
  }
  return curves;
}
ap::WorkerReportOptions made_up_vectors() {
  ap::WorkerReportOptions options;
  options.orthogonality.push_back({"rule <1>", "digits", {4, {"w <a>", "b"}, {{10, {0.3, 0.5}}, {20, {0.7, 0.9}}}}});
  options.sequential.push_back({"digits", 0.5, 4, 32, {{1, 0.75, 0.5, 0.25}, {2, 0.7, 0.4, 0.2}, {3, 0.9, 0.6, 0.3}}});
  return options;
}

}  // namespace

TEST_CASE("the findings of a study of workers") {
  const std::vector<std::string> expected{
      "Untuned (at the point that is best for 1 worker), most runs reach the target: the mean with up to 2, the sum "
      "with up to 1, Adasum with up to 4 (the most tried).",
      "Untuned, with 2 workers, Adasum needs 0.5 (0 to 0.5) times the steps of the mean (90 % interval over 3 "
      "seeds).",
      "Untuned, there is no number of workers above 1 with which both Adasum and the sum reach the target.",
      "Tuned, with 4 workers, Adasum needs 0.5 (0.5 to 0.5) times the steps of the mean (90 % interval over 3 seeds).",
      "Tuned, with 4 workers, Adasum needs 0.49 (0 to 0.5) times the steps of the sum (90 % interval over 3 seeds).",
      "Tuned, the mean needs 400 (400 to 400) steps with 1 worker, and 100 (100 to 100) with 4: a factor of 4.",
      "Tuned, the sum needs 402 (400 to missed) steps with 1 worker, and 102 (100 to missed) with 4: a factor of 3.94.",
      "Tuned, Adasum needs 200 (200 to 200) steps with 1 worker, and 50 (50 to 50) with 4: a factor of 4.",
      "The orthogonality of 4 workers, averaged over tensors, is 0.4 at step 10 and 0.8 at step 20; equal vectors have "
      "0.25, orthogonal ones 1."};
  const std::vector<std::string> found = ap::worker_findings(made_up_curves(), made_up_vectors());
  REQUIRE(found.size() == expected.size() + 1);
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(found[i] == "rule <1> on digits: " + expected[i]);
  auto failed = made_up_curves();
  failed[1].failures = {"2 workers: killed"};
  const std::vector<std::string> with_failure = ap::worker_findings(failed);
  CHECK(std::find(with_failure.begin(), with_failure.end(),
                  "rule <1> on digits: sum, 2 workers: killed. Such runs count as missing the target; run the study "
                  "again.") != with_failure.end());
  CHECK(found.back() ==
        "SGD on digits at rate 0.5: against 4 sequential steps, the median relative error of one step is 0.75 for the "
        "mean, 0.5 for the sum and 0.25 for Adasum.");
}

TEST_CASE("the tables, the CSV file and the page of a study of workers") {
  const std::string text = ap::format_worker_scaling(made_up_curves(), made_up_vectors());
  CHECK(text.starts_with("rule <1> on digits: steps to error 0.1, median (range)\n"));
  CHECK(text.find("mean, tuned") != std::string::npos);
  CHECK(text.find("102 (100 to missed)") != std::string::npos);
  const std::string csv = ap::worker_scaling_csv(made_up_curves());
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 3 * 2 * 3 * 3);  // combiners, points, workers, runs
  CHECK(
      csv.starts_with("workload,submission,combiner,workers,tuned,run,steps,metric,point\n"
                      "digits,rule <1>,mean,1,1,0,400,0.1,\"{\"\"learning_rate\"\":0.25}\"\n"));
  CHECK(csv.find("digits,rule <1>,sum,4,0,2,,0.3,") != std::string::npos);

  const Folder folder;
  ap::write_worker_report(folder / "report.html", "A <study>", made_up_curves(), made_up_vectors());
  const std::string page = bytes_of(folder / "report.html");
  for (const char* const part :
       {"A &lt;study&gt;", "<h2>rule &lt;1&gt; on digits</h2>", "Orthogonality", "Against sequential steps",
        "w &lt;a&gt;", "steps to the target", "best error", "tuned for the fewest workers"}) {
    CAPTURE(part);
    CHECK(page.find(part) != std::string::npos);
  }
  CHECK(page.find("<1>") == std::string::npos);
  // Without measurements of vectors, their sections are missing.
  ap::write_worker_report(folder / "report.html", "A", made_up_curves());
  CHECK(bytes_of(folder / "report.html").find("Orthogonality") == std::string::npos);
}
