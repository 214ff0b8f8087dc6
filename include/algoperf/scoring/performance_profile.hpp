// Performance profiles and the benchmark score.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "score_grid.hpp"

namespace algoperf {

// How the area under a performance profile is computed.
enum class Integral {
  exact,     // of the step function
  trapezoid  // by the trapezoidal rule at 100 equally spaced ratios, as AlgoPerf's code does; differs by up to 0.002
};

// The performance profile of submission s is the share of the base workloads on which s takes at most tau times the
// smallest time of all submissions:
//   rho_s(tau) = |{w: r_s(w) <= tau}| / n,   r_s(w) = t_s(w) / min over q of t_q(w).
// The benchmark score is the mean of rho_s over [1, max_ratio]; exactly,
//   B_s = sum over w of max(0, max_ratio - r_s(w)) / (n (max_ratio - 1)).
// Scores are relative to the set of submissions. A missing time is a miss, and a miss never counts.
// Source: Dolan & More 2002; Dahl et al. 2023, section 4.4, with max_ratio = 4.
class PerformanceProfile {
 public:
  // Throws Error if max_ratio is not more than 1 or a time is not positive.
  explicit PerformanceProfile(const TimeTable& times, double max_ratio = 4)
      : submissions_(times.submissions), max_ratio_(max_ratio), ratios_(times.submissions.size()) {
    require(max_ratio > 1 && std::isfinite(max_ratio), "PerformanceProfile: max_ratio is ", max_ratio,
            ", expected a finite number above 1");
    for (std::size_t w = 0; w < times.suite.workloads.size(); ++w) {
      if (!times.suite.workloads[w].is_base()) continue;
      double least = INFINITY;
      for (std::size_t s = 0; s < submissions_.size(); ++s) {
        const double time = times.at(s, w);
        require(!(time <= 0), times.suite.name, ": the time of ", submissions_[s], " on ",
                times.suite.workloads[w].name, " is ", time, ", expected more than 0");
        least = std::fmin(least, time);
      }
      for (std::size_t s = 0; s < submissions_.size(); ++s) {
        const double time = times.at(s, w);
        ratios_[s].push_back(time < INFINITY ? time / least : INFINITY);
      }
    }
  }

  const std::vector<std::string>& submissions() const { return submissions_; }
  double max_ratio() const { return max_ratio_; }
  // Returns r_s of each base workload, in the order of the suite; infinity for a miss.
  const std::vector<double>& ratios(std::size_t submission) const { return ratios_[submission]; }

  // Returns rho_s(tau).
  double at(std::size_t submission, double tau) const {
    const std::vector<double>& r = ratios_[submission];
    const auto within = std::count_if(r.begin(), r.end(), [&](double ratio) { return ratio <= tau; });
    return static_cast<double>(within) / static_cast<double>(r.size());
  }

  // Returns B_s.
  double score(std::size_t submission, Integral integral = Integral::exact) const {
    if (integral == Integral::trapezoid) return trapezoid(submission);
    double sum = 0;
    for (const double ratio : ratios_[submission]) sum += std::fmax(0, max_ratio_ - ratio);
    return sum / (static_cast<double>(ratios_[submission].size()) * (max_ratio_ - 1));
  }

 private:
  double trapezoid(std::size_t submission) const {
    constexpr std::size_t points = 100;
    const double step = (max_ratio_ - 1) / (points - 1);
    double sum = 0, before = at(submission, 1);
    for (std::size_t i = 1; i < points; ++i) {
      const double now = at(submission, i + 1 < points ? 1 + static_cast<double>(i) * step : max_ratio_);
      sum += (before + now) / 2;
      before = now;
    }
    return sum / (points - 1);
  }

  std::vector<std::string> submissions_;
  double max_ratio_;
  std::vector<std::vector<double>> ratios_;  // by submission
};

}  // namespace algoperf
