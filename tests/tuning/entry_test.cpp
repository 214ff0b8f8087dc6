#include "algoperf/tuning/entry.hpp"

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "small_study.hpp"

namespace ap = algoperf;

namespace {

struct TwoVariants : SmallDigits {
  std::string name = "small", base = "small";
  template <class Visit>
  void each_variant(const Visit& visit) const {
    for (const char* const variant : {"small_a", "small_b"}) {
      TwoVariants made;
      made.name = variant;
      visit(made);
    }
  }
};

std::string names_of(const std::vector<ap::StudyEntry>& entries) {
  std::string names;
  for (const ap::StudyEntry& entry : entries)
    names += entry.submission + " on " + entry.workload.name + " of " + entry.workload.base + ", ";
  return names;
}

}  // namespace

TEST_CASE("an entry runs its submission on its workload") {
  const ap::StudyEntry entry = ap::study_entry(SmallDigits{}, SgdSubmission{});
  CHECK(entry.workload.metric == "error");
  CHECK(entry.workload.target.value == 0.7);
  CHECK(entry.workload.base == "small_digits");
  CHECK(entry.facts().step_hint == 40);
  const ap::HyperPoint point{{"rate", 0.1}};
  const ap::TrialOptions options{.seed = 3, .steps = 10};
  const ap::TrialResult found = entry.run(point, options),
                        expected = ap::run_trial(SmallDigits{}, SgdSubmission{}, point, options);
  CHECK(found.steps == 10);
  CHECK(found.evaluations.back().loss == expected.evaluations.back().loss);
}

TEST_CASE("the default point is the centre of a search space, or the first of a list") {
  CHECK(ap::study_entry(SmallDigits{}, SgdSubmission{}).default_point()["rate"] ==
        doctest::Approx(std::sqrt(1e-3 * 0.5)));
  CHECK(ap::study_entry(SmallDigits{}, CrashingSubmission{}).default_point() ==
        ap::HyperPoint{{"rate", 0.01}, {"decay", 0.0}});
  struct Own : SgdSubmission {
    ap::HyperPoint default_point() const { return {{"rate", 0.125}}; }
  };
  ap::StudyEntry own = ap::study_entry(SmallDigits{}, Own{}), other = ap::study_entry(SmallDigits{}, SgdSubmission{});
  own.space = other.space = ap::SearchSpace({{.name = "rate", .min = 1, .max = 3}});
  CHECK(own.default_point()["rate"] == 0.125);
  CHECK(other.default_point()["rate"] == 2);
}

TEST_CASE("held-out workloads: one variant of each base, drawn by the seed") {
  const TwoVariants workload;
  const std::vector<ap::StudyEntry> variants = ap::variant_entries(workload, SgdSubmission{}, HeavyBallSubmission{});
  CHECK(names_of(variants) ==
        "sgd on small_a of small, heavy_ball on small_a of small, sgd on small_b of small, heavy_ball on small_b of "
        "small, ");
  CHECK(ap::variant_entries(SmallDigits{}, SgdSubmission{}).empty());
  std::set<std::string> draws;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<ap::StudyEntry> drawn = ap::draw_held_out(variants, seed);
    REQUIRE(drawn.size() == 2);
    CHECK(drawn[0].workload.name == drawn[1].workload.name);
    CHECK(names_of(drawn) == names_of(ap::draw_held_out(variants, seed)));
    draws.insert(drawn[0].workload.name);
  }
  CHECK(draws == std::set<std::string>{"small_a", "small_b"});
}
