#include "algoperf/tuning/batch_size/report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../../support/folder.hpp"
#include "../../support/near.hpp"
#include "../../support/sentence.hpp"

namespace ap = algoperf;

namespace {

// S = 128 (1 + 48 / B) for SGD and 64 (1 + 480 / B) for momentum, reached by the second of three trials, at best
// rates 0.01 B and 0.02 B.
ap::BatchScaling made_up_scaling(const std::string& submission, double least, double critical, double rate) {
  ap::BatchScaling scaling{submission, {"digits", "digits", "error", {0.1, true}},
                           10000,      ap::SearchSpace({{.name = "learning_rate", .min = 1e-3, .max = 1}}),
                           {},         {},
                           {},         {}};
  for (std::size_t batch = 2; batch <= 512; batch *= 4) {
    const double b = static_cast<double>(batch);
    const auto steps = static_cast<std::uint64_t>(least * (1 + critical / b));
    const auto trial = [&](std::uint64_t id, ap::TrialStatus status, double factor, std::uint64_t at, double metric) {
      ap::BatchTrial made{.id = id, .status = status, .point = {{"learning_rate", factor * rate * b}}};
      made.measurements = {{1, 0.9}, {at / 2, 0.3}, {at, metric}};
      return made;
    };
    scaling.studies.push_back(
        {batch,
         {trial(0, ap::TrialStatus::complete, 0.5, 9 * steps, 0.2), trial(1, ap::TrialStatus::complete, 1, steps, 0.1),
          trial(2, ap::TrialStatus::infeasible, 9, 1, 0.0)}});
    scaling.budgets.push_back(9 * steps);
  }
  return scaling;
}
std::vector<ap::BatchScaling> two_scalings() {
  std::vector<ap::BatchScaling> all{made_up_scaling("sgd", 128, 48, 0.01), made_up_scaling("momentum", 64, 480, 0.02)};
  all[0].widenings = {{8, "learning_rate", 0.99, 1, 5, true}, {32, "learning_rate", 0.98, 1, 5, false}};
  all[1].failures = {"batch size 2: a <fault>"};
  return all;
}
const ap::BatchSizeReportOptions batch_report_options{.easier_goals = {0.3},
                                                      .noise = {{"sgd", "digits", {{10, 2, 30}, {20, 1, 24}}}}};

bool any_starts_with(const std::vector<std::string>& all, const std::string& start) {
  return std::any_of(all.begin(), all.end(), [&](const std::string& each) { return each.starts_with(start); });
}

}  // namespace

TEST_CASE("the findings of a study of batch sizes") {
  const std::vector<std::string> found = ap::batch_size_findings(two_scalings(), batch_report_options);
  CHECK(found[0] ==
        "digits, sgd: scaling is perfect up to a batch size of 8; the largest batch size that reached the target, 512, "
        "still saves steps (within 20 %).");
  CHECK(found[1].starts_with("digits, sgd: S = Smin (1 + Bcrit / B) has Smin = 128 ("));
  CHECK(found[1].find("Bcrit = 48 (") != std::string::npos);
  CHECK(found[2] ==
        "digits, sgd: the gradient noise scale is 15 examples over the first 10 steps and 24 examples before step 20; "
        "Bcrit is 2 times the latter.");
  CHECK(found[3].starts_with("digits, sgd: the best learning rate grows as the batch size to the power of 1 (1 to 1)"));
  CHECK(
      found[4] ==
      "digits, sgd: from batch size 2 to 512, steps fall by a factor of 22.9 and epochs grow by a factor of 11.2, from "
      "0.64 to 7.17.");
  CHECK(any_starts_with(found, "digits, momentum: scaling is perfect up to a batch size of 32"));
  CHECK(any_starts_with(found,
                        "digits, momentum needs 4.82 times the steps of sgd at batch size 2, and 0.886 times at batch "
                        "size 512."));
  CHECK(
      any_starts_with(found,
                      "digits, sgd at batch size 8: the best learning_rate, 0.99, was at the edge of the search space, "
                      "so 1 to 5 was searched as well; the best point is there."));
  CHECK(any_starts_with(
      found,
      "digits, sgd at batch size 32: the best learning_rate, 0.98, was at the edge of the search space, "
      "so 1 to 5 was searched as well; the best point did not move there."));
  CHECK(any_starts_with(found, "digits, momentum, batch size 2: a <fault>. Such trials do not count."));

  std::vector<ap::BatchScaling> flat = two_scalings();  // as many steps at 512 as at 128
  flat[0].studies[4].trials = flat[0].studies[3].trials;
  // The plateau does not count for the exponent of the best rate.
  CHECK(ap::scaling_curve(flat[0], flat[0].goal()).rate_exponent->value == near(1, 1e-9));
  CHECK(
      ap::batch_size_findings(flat)[0] ==
      "digits, sgd: scaling is perfect up to a batch size of 8; larger batches than 128 save no steps (within 20 %).");

  std::vector<ap::BatchScaling> missed = two_scalings();
  missed[0].studies[4].trials.erase(missed[0].studies[4].trials.begin() + 1);
  CHECK(ap::batch_size_findings(missed)[0] ==
        "digits, sgd: scaling is perfect up to a batch size of 8; the largest batch size that reached the target, 128, "
        "still saves steps (within 20 %). No trial reached the target at these batch sizes: 512.");
  ap::BatchSizeReportOptions hidden;
  hidden.noise = {{"sgd", "digits", {{10, 2, 30}, {20, -1, 24}}}};
  CHECK(ap::batch_size_findings(two_scalings(), hidden)[2] ==
        "digits, sgd: the gradient noise scale is 15 examples over the first 10 steps and hidden by the noise before "
        "step "
        "20.");
  std::vector<ap::BatchScaling> unequal = two_scalings();
  unequal[1].studies.pop_back(), unequal[1].budgets.pop_back();
  CHECK(sentence([&] { (void)ap::batch_size_findings(unequal); }) ==
        "the studies of momentum and sgd on digits have other batch sizes");

  // Without a result, there is one sentence.
  std::vector<ap::BatchScaling> none{two_scalings()[0]};
  none[0].widenings.clear();
  none[0].workload.target.value = 0.01;
  CHECK(ap::batch_size_findings(none) ==
        std::vector<std::string>{"digits, sgd: fewer than two batch sizes reach the target."});
}

TEST_CASE("the table and the CSV file of a study of batch sizes") {
  const std::string text = ap::format_batch_scaling(two_scalings(), batch_report_options);
  CHECK(text.starts_with("Steps to error 0.1 on digits\n"));
  CHECK(text.find("512          140    7.17   2 + 1       124    6.35   2 + 1") != std::string::npos);
  std::vector<ap::BatchScaling> missed = two_scalings();
  missed[0].studies[4].trials.erase(missed[0].studies[4].trials.begin() + 1);
  CHECK(ap::format_batch_scaling(missed).find("512         missed           1 + 1       124    6.35   2 + 1") !=
        std::string::npos);

  const std::string csv = ap::batch_scaling_csv(missed, batch_report_options);
  CHECK(
      csv.starts_with("workload,submission,batch_size,goal,steps,metric,trial,point\n"
                      "digits,sgd,2,0.1,3200,0.1,1,\"{\"\"learning_rate\"\":0.02}\"\n"));
  CHECK(csv.find("\ndigits,sgd,512,0.1,,,,\n") != std::string::npos);
  CHECK(csv.find("\ndigits,sgd,2,0.3,1600,0.3,1,") != std::string::npos);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 2 * 2 * 5);
}

TEST_CASE("the page of a study of batch sizes has its six kinds of charts") {
  const Folder folder;
  ap::write_batch_size_report(folder / "report.html", "Batch < sizes", two_scalings(), batch_report_options);
  const std::string page = bytes_of(folder / "report.html");
  const auto count = [&](const std::string& piece) {
    std::size_t found = 0;
    for (std::size_t at = page.find(piece); at != std::string::npos; at = page.find(piece, at + 1)) ++found;
    return found;
  };
  CHECK(count("<h1>Batch &lt; sizes</h1>") == 1);
  CHECK(count("a &lt;fault&gt;") == 1);
  for (const char* const heading :
       {"Findings", "Steps and epochs to the target", "Several goals", "Best effective learning rate", "Search of sgd",
        "Search of momentum", "Best metric within a budget"})
    CHECK(count("<h2>" + std::string(heading) + "</h2>") == 1);
  CHECK(count("<svg ") == 3 + 2 + 2 + 2 * 5 + 4);
  CHECK(count("<polygon") == 2 * 5);  // a star for each search
  CHECK(count("stroke-dasharray=\"5 4\"") > 8);
  CHECK(count("nan") == 0);
}
