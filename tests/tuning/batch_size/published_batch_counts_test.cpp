#include "algoperf/tuning/batch_size/published_batch_counts.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "../../support/data_path.hpp"
#include "../../support/folder.hpp"
#include "../../support/sentence.hpp"

namespace ap = algoperf;

namespace {

const ap::PublishedWorkload toy{"toy", "linear", "sgd"};

// A study of one batch size: trial k has the error 1 / (k step). Trial 3 diverged.
void write_study(const Folder& folder, std::size_t batch) {
  const std::string path = "toy/linear/sgd/" + std::to_string(batch);
  for (std::size_t k = 1; k <= 3; ++k) {
    const std::string trial = path + "/" + std::to_string(k), id = std::to_string(k);
    std::filesystem::create_directories(folder / trial);
    folder.write(trial + "/metadata.json", "{\"trial_id\": " + id + ", \"parameters\": {}, \"status\": \"" +
                                               (k == 3 ? "INFEASIBLE" : "COMPLETE") + "\"}");
    std::string csv = "step,val/error\n";
    for (std::size_t step = 1; step <= 64; step *= 2)
      csv += std::to_string(step) + "," + std::to_string(1.0 / static_cast<double>(k * step)) + "\n";
    folder.write(trial + "/measurements.csv", csv);
  }
  folder.write(path + "/study.json", "{\"batch_size\": " + std::to_string(batch) + "}");
}

std::string refused(const std::string& text) {
  const Folder folder;
  folder.write("goals.csv", text);
  return sentence([&] { (void)ap::read_study_goals(folder / "goals.csv"); }).substr(folder.path().size() + 1);
}

}  // namespace

TEST_CASE("the published numbers of trials and goals are read") {
  const std::string folder = data_path("batch-science");
  if (folder.empty()) return;
  const std::vector<ap::TrialCounts> counts = ap::read_trial_counts(folder + "/trials_per_study.csv");
  CHECK(counts.size() == 454);
  std::set<std::string> workloads;
  std::size_t complete = 0, incomplete = 0, infeasible = 0;
  for (const ap::TrialCounts& each : counts) {
    workloads.insert(each.workload.folder());
    complete += each.complete, incomplete += each.incomplete, infeasible += each.infeasible;
  }
  CHECK(workloads.size() == 35);
  CHECK(complete == 108194);
  CHECK(incomplete == 43508);
  CHECK(infeasible == 42697);

  const std::vector<ap::StudyGoal> goals = ap::read_study_goals(folder + "/fig1_goals.csv");
  REQUIRE(goals.size() == 9);
  CHECK(goals[0].panel == "Simple CNN on MNIST");
  CHECK(goals[0].metric == "val/classification_error");
  CHECK(goals[0].goal.reached_by(0.0099));
  CHECK_FALSE(goals[0].goal.reached_by(0.01));
  CHECK(goals[4].goal.reached_by(0.32));  // average precision
  // Each study has the complete trials that the figure uses.
  for (const ap::StudyGoal& goal : goals) {
    std::size_t studies = 0;
    for (const ap::TrialCounts& each : counts)
      if (each.workload == goal.workload) {
        CHECK(each.complete >= goal.trials);
        ++studies;
      }
    CHECK(studies >= 6);
  }
}

TEST_CASE("steps to a goal of a figure, and studies with other numbers of trials than the table") {
  const Folder folder;
  write_study(folder, 8);
  write_study(folder, 16);
  const ap::StudyGoal goal{"toy", toy, 2, "val/error", {.value = 0.05}};
  const std::vector<ap::BatchResult> found = ap::steps_to_goal(folder.path(), goal);
  REQUIRE(found.size() == 2);
  CHECK(found[1].batch == 16);
  CHECK(found[1].step == 16);  // 1 / (2 16) of trial 2
  CHECK(found[1].trial == 2);
  ap::StudyGoal first = goal;
  first.trials = 1;
  CHECK(ap::steps_to_goal(folder.path(), first)[0].step == 32);
  first.goal.value = 0.001;
  CHECK(ap::steps_to_goal(folder.path(), first).empty());
  first.trials = 3;
  CHECK(sentence([&] { (void)ap::steps_to_goal(folder.path(), first); }) ==
        "the study of batch size 8 has 2 complete trials, expected at least 3");

  const auto studies = ap::read_batch_studies(folder / "toy/linear/sgd", "val/error");
  const auto differs = [&](const std::vector<ap::TrialCounts>& table) {
    return sentence([&] { ap::require_counts(studies, toy, table); });
  };
  const ap::PublishedWorkload other{"toy", "linear", "adam"};
  CHECK_NOTHROW(ap::require_counts(studies, toy, {{toy, 16, 2, 0, 1}, {other, 4, 9, 9, 9}, {toy, 8, 2, 0, 1}}));
  CHECK(differs({{toy, 8, 2, 0, 1}, {toy, 16, 2, 1, 0}}) ==
        "toy/linear/sgd: the study of batch size 16 has 2 complete, 0 incomplete and 1 infeasible trials, expected 2, "
        "1 and 0");
  for (const ap::TrialCounts& wrong : {ap::TrialCounts{toy, 8, 3, 0, 1}, {toy, 8, 2, 1, 1}, {toy, 8, 2, 0, 0}})
    CHECK(differs({wrong, {toy, 16, 2, 0, 1}}).find("batch size 8") != std::string::npos);
  CHECK(differs({{toy, 8, 2, 0, 1}}) == "toy/linear/sgd: there are 2 studies, expected 1");
  CHECK(differs({{toy, 4, 2, 0, 1}}) == "toy/linear/sgd: there is no study of batch size 4");
}

TEST_CASE("malformed tables of goals are refused with the line and the column") {
  const std::string header = "panel,dataset,model,optimizer,trials_used,metric,goal,comparison\n";
  CHECK(refused(header + "a,b,c,d,5,e,0.1,=\n") == "goals.csv:2: column \"comparison\" is \"=\", expected < or >");
  CHECK(refused(header + "a,b,,d,5,e,0.1,<\n") == "goals.csv:2: column \"model\" is \"\", expected a name");
  CHECK(refused(header + "a,b,c,d,-5,e,0.1,<\n") ==
        "goals.csv:2: column \"trials_used\" is \"-5\", expected a whole number");
  CHECK(refused("panel\na\n") == "goals.csv:1: there is no column \"comparison\"");
}
