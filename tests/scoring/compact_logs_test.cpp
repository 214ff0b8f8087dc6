#include "algoperf/scoring/readers/compact_logs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "../support/folder.hpp"
#include "../support/sentence.hpp"
#include "algoperf/scoring/missing_logs.hpp"

namespace ap = algoperf;
using Sentences = std::vector<std::string>;

namespace {

// The four files of a small benchmark. Setting one of them to other bytes must change what is read.
struct CompactFolder {
  Folder folder;
  CompactFolder() {
    folder.write("workloads.csv",
                 "workload,base_workload,metric,direction,val_target,max_runtime_s_v05\n"
                 "a,a,loss,min,0.5,100\n"
                 "a_wide,a,loss,min,0.25,\n"
                 "b,b,accuracy,max,0.75,200\n");
    folder.write("datasets.csv",
                 "dataset,ruleset,n_studies,n_trials,base_workloads,held_out_workloads,submissions\n"
                 "one,external,2,1,a b,a_wide,*\n"
                 "two,self,1,1,b,,t\n");
    folder.write("trials.csv",
                 "trial_id,dataset,submission,workload,study,trial,n_rows\n"
                 "7,one,s,a,0,1,2\n"
                 "8,one,t,b,1,3,1\n"
                 "9,two,t,b,0,1,1\n"
                 "10,two,s,b,0,1,1\n");
    folder.write("curves.csv",
                 "trial_id,eval_idx,global_step,time_s,metric\n"
                 "7,0,1,2.5,nan\n"
                 "8,0,1,1,0.5\n"
                 "7,3,10,25,0.5\n"
                 "9,1,2,3,0.75\n"
                 "10,0,1,1,1\n");
  }
  std::string change(const std::string& name, const std::string& from, const std::string& to) const {
    const std::string before = bytes_of(folder / name);
    REQUIRE(before.find(from) != std::string::npos);
    std::string bytes = before;
    folder.write(name, bytes.replace(bytes.find(from), from.size(), to));
    const std::string error = sentence([&] { ap::read_compact_logs(folder.path()); });
    folder.write(name, before);
    return error.starts_with(folder.path()) ? error.substr(folder.path().size() + 1) : error;
  }
};

}  // namespace

TEST_CASE("compact logs: data sets, suites, budgets and evaluations") {
  const CompactFolder files;
  const std::vector<ap::ScoredDataset> datasets = ap::read_compact_logs(files.folder.path());
  REQUIRE(datasets.size() == 2);
  const ap::ScoredDataset &one = datasets[0], &two = datasets[1];
  CHECK(one.suite.name == "one");
  CHECK_FALSE(one.self_tuning);
  CHECK(two.self_tuning);
  CHECK(one.suite.studies == 2);
  CHECK(one.suite.base_count() == 2);
  REQUIRE(one.suite.workloads.size() == 3);
  CHECK(one.suite.workloads[1].name == "b");
  CHECK(one.suite.workloads[1].metric == "accuracy");
  CHECK(one.suite.workloads[1].target == ap::Target{.value = 0.75, .lower_is_better = false});
  CHECK(one.suite.workloads[2].base == "a");
  CHECK(one.max_seconds[1] == 200);
  CHECK(std::isnan(one.max_seconds[2]));
  REQUIRE(one.logs.size() == 2);
  CHECK(one.logs[0].submission == "s");
  CHECK(one.logs[1].study == 1);
  CHECK(one.logs[1].trial == 3);
  REQUIRE(one.logs[0].evaluations.size() == 2);
  CHECK(std::isnan(one.logs[0].evaluations[0].metric));
  CHECK(one.logs[0].evaluations[1].index == 3);
  CHECK(one.logs[0].evaluations[1].step == 10);
  CHECK(one.logs[0].evaluations[1].seconds == 25);
  REQUIRE(two.logs.size() == 1);  // only the submission t
  CHECK(two.logs[0].submission == "t");
  CHECK(ap::missing_logs(two.suite, two.logs).empty());
  CHECK(ap::missing_logs(one.suite, one.logs) ==
        Sentences{"s on a: studies with logs: 1, expected 2", "s on b: there are no logs, which counts as a miss",
                  "s on a_wide: there are no logs, which counts as a miss",
                  "t on a: there are no logs, which counts as a miss", "t on b: studies with logs: 1, expected 2",
                  "t on a_wide: there are no logs, which counts as a miss"});
}

TEST_CASE("the number of trials of each study is compared with the expected one") {
  ap::Suite suite{.name = "suite", .workloads = {{.name = "a", .base = "a", .metric = "loss"}}, .trials = 2};
  std::vector<ap::TrialLog> logs;
  for (const std::uint64_t study : {0u, 1u, 1u, 2u, 2u, 2u, 5u}) logs.push_back({"s", "a", study, logs.size()});
  CHECK(ap::missing_logs(suite, logs) ==
        Sentences{"s on a: trials with logs: 1, expected 2, in each of the studies 0 5",
                  "s on a: trials with logs: 3, expected 2, in each of the studies 2"});
}

TEST_CASE("compact logs: malformed and contradictory fields are refused, naming file, line and column") {
  const CompactFolder files;
  CHECK(files.change("workloads.csv", "0.5,100", "nan,100") ==
        "workloads.csv:2: column \"val_target\" is \"nan\", expected a finite number");
  CHECK(files.change("workloads.csv", "min,0.5", "less,0.5") ==
        "workloads.csv:2: column \"direction\" is \"less\", expected min or max");
  CHECK(files.change("workloads.csv", "b,b,", "a,a,") ==
        "workloads.csv:4: column \"workload\" is \"a\", expected each workload once");
  CHECK(files.change("workloads.csv", "0.75,200", "0.75,-1") ==
        "workloads.csv:4: column \"max_runtime_s_v05\" is \"-1\", expected a finite number of at least 0");
  CHECK(files.change("workloads.csv", "direction", "way") == "workloads.csv:1: there is no column \"direction\"");
  CHECK(files.change("workloads.csv", "direction", "metric") == "workloads.csv:1: two columns are named \"metric\"");
  CHECK(files.change("datasets.csv", "a b,", "a c,") ==
        "datasets.csv:2: column \"base_workloads\" is \"a c\", expected names of workloads.csv, which does not list "
        "'c'");
  CHECK(files.change("datasets.csv", "a b,a_wide", "a_wide b,") ==
        "datasets.csv:2: column \"base_workloads\" is \"a_wide b\", expected base workloads only");
  CHECK(files.change("datasets.csv", "a b,a_wide", "b,a") ==
        "datasets.csv:2: column \"held_out_workloads\" is \"a\", expected variants only");
  CHECK(files.change("datasets.csv", "1,a b,", "1,b,") ==
        "one: workload 'a_wide' is a variant of 'a', which is not a base workload of the suite");
  CHECK(files.change("datasets.csv", "two,self", "one,self") ==
        "datasets.csv:3: column \"dataset\" is \"one\", expected each data set once");
  CHECK(files.change("datasets.csv", "self", "none") ==
        "datasets.csv:3: column \"ruleset\" is \"none\", expected external or self");
  CHECK(files.change("datasets.csv", ",t\n", ",\n") ==
        "datasets.csv:3: column \"submissions\" is \"\", expected names of submissions, or *");
  CHECK(files.change("datasets.csv", ",t\n", ",u\n") ==
        "datasets.csv: 'two' lists the submission 'u', of which trials.csv has no trial");
  CHECK(files.change("trials.csv", "8,one", "8,six") ==
        "trials.csv:3: column \"dataset\" is \"six\", expected a data set of datasets.csv");
  CHECK(files.change("trials.csv", "8,one,t,b", "8,one,t,z") ==
        "trials.csv:3: column \"workload\" is \"z\", expected a workload of workloads.csv");
  CHECK(files.change("trials.csv", "8,one", "7,one") ==
        "trials.csv:3: column \"trial_id\" is \"7\", expected each trial once");
  CHECK(files.change("trials.csv", "8,one", "-8,one") ==
        "trials.csv:3: column \"trial_id\" is \"-8\", expected a whole number");
  CHECK(files.change("trials.csv", "8,one,t", "8,one,") ==
        "trials.csv:3: column \"submission\" is \"\", expected a name");
  CHECK(files.change("trials.csv", "1,3,1", "1,3") == "trials.csv:3: there are 6 fields, expected 7 as in the header");
  CHECK(files.change("curves.csv", "8,0", "6,0") ==
        "curves.csv:3: column \"trial_id\" is \"6\", expected a trial of trials.csv");
  CHECK(files.change("curves.csv", "10,25,0.5", "10,nan,0.5") ==
        "curves.csv:4: column \"time_s\" is \"nan\", expected a finite number of at least 0");
  CHECK(files.change("curves.csv", "10,25,0.5", "10,2,0.5") ==
        "curves.csv:4: column \"time_s\" is \"2\", expected no less time than in the trial's row before");
  CHECK(files.change("curves.csv", "10,25,0.5", "0,25,0.5") ==
        "curves.csv:4: column \"global_step\" is \"0\", expected no fewer steps than in the trial's row before");
  CHECK(files.change("curves.csv", "7,3", "7,0") ==
        "curves.csv:4: column \"eval_idx\" is \"0\", expected more than 0, that of the trial's row before");
  CHECK(files.change("curves.csv", "25,0.5", "25,half") ==
        "curves.csv:4: column \"metric\" is \"half\", expected a number");
  CHECK(files.change("curves.csv", "8,0,1,1", "7,1,2,3") ==
        "curves.csv:4: column \"trial_id\" is \"7\", expected as many rows per trial as trials.csv states, 2");
  CHECK(files.change("curves.csv", "8,0,1,1,0.5\n", "") == "curves.csv: trial 8 has 0 rows, but trials.csv states 1");
  CHECK(files.change("curves.csv", bytes_of(files.folder / "curves.csv"), "") ==
        "curves.csv: is empty, expected a header line");
}
