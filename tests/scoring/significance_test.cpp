#include "algoperf/scoring/significance.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "../support/near.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

ap::LossCurve curve(const char* result, const char* run, double loss, double end = 0) {
  ap::LossCurve found{result, run, {{1, 9}, {10, loss}}};
  if (end > 0) found.losses[end] = 1;
  return found;
}

ap::CheckedClaim checked(const ap::Claim& claim, const std::vector<ap::LossCurve>& curves) {
  return ap::check_claims({claim}, curves, {.target = 3}).claims[0];
}

}  // namespace

TEST_CASE("tail probabilities of chi-square are those of scipy") {
  CHECK(ap::chi_square_above(3.841458820694124, 1) == near(0.05, 1e-12));
  CHECK(ap::chi_square_above(5, 2) == near(0.0820849986238988, 1e-12));
  CHECK(ap::chi_square_above(12.5, 7) == near(0.08526927515826925, 1e-11));
  CHECK(ap::chi_square_above(400, 369) == near(0.1281821479892159, 1e-9));
  CHECK(ap::chi_square_above(0, 3) == 1);
  CHECK(ap::chi_square_quantile(0.025, 369) == near(424.112959987694, 1e-9));
  CHECK(ap::chi_square_quantile(0.975, 369) == near(317.67417249173826, 1e-9));
  CHECK(ap::chi_square_quantile(0.5, 1) == near(0.4549364231195724, 1e-9));
  CHECK(sentence([] { ap::chi_square_quantile(0, 1); }) ==
        "chi_square_quantile: the probability is 0, expected (0, 1)");
  CHECK(sentence([] { ap::chi_square_quantile(0.5, 0); }) == "chi_square_quantile: freedom is 0, expected at least 1");
}

TEST_CASE("a claim is valid from the threshold on") {
  const auto valid = [](double mean, std::size_t runs) { return checked({"r", 10, mean, runs}, {}).valid; };
  CHECK(valid(2.996, 1));
  CHECK_FALSE(valid(2.9961, 1));
  CHECK(valid(2.999, 16));
  CHECK_FALSE(valid(2.999, 15));
}

TEST_CASE("a claim is reproduced by all runs, by different runs, or by those with one end") {
  const ap::Claim claim{"r", 10, 2.5, 2};
  const std::vector<ap::LossCurve> both = {curve("r", "1", 2.4), curve("r", "2", 2.6), curve("q", "1", 7)};
  CHECK(checked(claim, both).as_it_stands);
  CHECK(checked(claim, both).why.empty());
  CHECK(checked({"r", 10, 2.5001, 2}, both).reproduced);
  CHECK_FALSE(checked({"r", 10, 2.50011, 2}, both).reproduced);

  const ap::CheckedClaim twice = checked(claim, {both[0], both[1], curve("r", "3", 2.4), {"r", "4", {{1, 9}}}});
  CHECK(twice.reproduced);
  CHECK_FALSE(twice.as_it_stands);
  CHECK(twice.why == "by the 2 different runs with a loss at step 10, of 4 logged");

  const std::vector<ap::LossCurve> ends = {both[0], both[1], curve("r", "3", 2.4, 20), curve("r", "4", 2.7, 20)};
  CHECK(checked(claim, ends).why == "by the 2 runs that end at step 10, of 4 logged");
  CHECK(checked({"r", 10, 2.55, 2}, ends).why == "by the 2 runs that end at step 20, of 4 logged");
  const ap::CheckedClaim other = checked({"r", 10, 2.5, 3}, ends);
  CHECK_FALSE(other.reproduced);
  CHECK(other.why ==
        "4 runs with a loss at step 10, the claim says 3; their mean loss is 2.525000, the claim says 2.5");
  CHECK(checked({"r", 12, 2.5, 2}, ends).why == "no logged run has a loss at step 12");
}

TEST_CASE("deviations are pooled over the results that are reproduced as they stand") {
  const std::vector<ap::Claim> claims = {{"a", 10, 2.5, 2}, {"b", 10, 3, 3}, {"c", 10, 1, 1}, {"d", 10, 5, 2}};
  const std::vector<ap::LossCurve> curves = {curve("a", "1", 2.4), curve("a", "2", 2.6), curve("b", "1", 2.8),
                                             curve("b", "2", 3),   curve("b", "3", 3.2), curve("c", "1", 1),
                                             curve("d", "1", 5),   curve("d", "2", 7)};
  const ap::Significance found = ap::check_claims(claims, curves, {.target = 3});
  CHECK(found.freedom == 3);
  CHECK(found.deviation == near(std::sqrt((0.02 + 0.08) / 3), 1e-12));
  CHECK(found.deviation_interval.low == near(std::sqrt(0.1 / 9.348403604496147), 1e-9));
  CHECK(found.deviation_interval.high == near(std::sqrt(0.1 / 0.21579528262389797), 1e-9));
  CHECK(std::isnan(ap::check_claims(claims, {}, {.target = 3}).deviation));
}

TEST_CASE("a result beats another from the threshold on, at a price per step") {
  const auto statistic = [](const ap::Claim& better, const ap::Claim& worse) {
    for (const ap::BetterPair& pair : ap::check_claims({worse, better}, {}, {.target = 3}).pairs)
      if (pair.better == 1 && pair.worse == 0) return pair.statistic;
    return 0.0;
  };
  CHECK(statistic({"b", 1000, 2.9, 4}, {"w", 1000, 2.91, 4}) == near(0.01 / std::sqrt(0.5), 1e-12));
  CHECK(statistic({"b", 900, 2.9, 4}, {"w", 1000, 2.9, 1}) == near(0.0045 / std::sqrt(1.25), 1e-12));
  CHECK(statistic({"b", 900, 2.9, 1}, {"w", 1000, 2.9, 1}) == 0);  // 0.0045 / sqrt(2) is below the threshold
  CHECK(statistic({"b", 1100, 2.9, 4}, {"w", 1000, 2.9, 4}) == 0);
}

TEST_CASE("claims that contradict themselves are refused") {
  CHECK(sentence([] {
          ap::check_claims({{"r", 1, 2, 3}, {"r", 1, 2, 3}}, {}, {.target = 3});
        }) == "check_claims: result 'r' is claimed twice");
  CHECK(sentence([] { ap::check_claims({}, {}, {.target = NAN}); }) ==
        "check_claims: target is nan, expected a finite number");
  CHECK(sentence([] { ap::check_claims({}, {}, {.target = 3, .threshold = 0}); }) ==
        "check_claims: threshold is 0, expected a positive, finite number");
}
