// The losses that a fit sums over residuals r = log law(x) - log y, each multiplied by its observation's weight. Sums
// are used instead of means, because optimisers with an absolute tolerance stop too early on a mean of small
// losses (Besiroglu et al. 2024, arXiv:2404.10102).
#pragma once

#include <cmath>
#include <string>

#include "../../core/error.hpp"

namespace algoperf {

// r^2, without the factor 1/2, so that the sum divided by the total weight is the mean square. The factor does not
// change where the minimum is.
struct SquaredResiduals {
  double value(double r) const { return r * r; }
  double slope(double r) const { return 2 * r; }
  double curvature(double) const { return 2; }
};

// r^2 / 2 for |r| <= delta, delta (|r| - delta / 2) beyond (Huber 1964), as in Hoffmann et al. 2022 and torch's
// huber_loss.
struct HuberResiduals {
  double delta = 1e-3;

  double value(double r) const {
    const double size = std::fabs(r);
    return size <= delta ? 0.5 * r * r : delta * (size - 0.5 * delta);
  }
  double slope(double r) const { return std::fabs(r) <= delta ? r : std::copysign(delta, r); }
  double curvature(double r) const { return std::fabs(r) <= delta ? 1 : 0; }
  void check() const {
    require(delta > 0 && delta < HUGE_VAL, "HuberResiduals: delta is ", delta, ", expected (0, inf)");
  }
};

// |r|: least absolute deviations. Huber losses with a shrinking delta identify the observations that the law passes
// through (least_absolute.hpp).
struct AbsoluteResiduals {
  double value(double r) const { return std::fabs(r); }
};

// One of these losses, chosen at run time.
class ResidualLoss {
 public:
  ResidualLoss(SquaredResiduals = {}) : kind_(Kind::squared) {}
  ResidualLoss(HuberResiduals huber) : kind_(Kind::huber), huber_(huber) {}
  ResidualLoss(AbsoluteResiduals) : kind_(Kind::absolute) {}

  // Throws Error for an invalid option, naming it.
  void check() const {
    if (kind_ == Kind::huber) huber_.check();
  }
  bool is_absolute() const { return kind_ == Kind::absolute; }
  double value(double r) const {
    return kind_ == Kind::squared ? SquaredResiduals{}.value(r)
           : kind_ == Kind::huber ? huber_.value(r)
                                  : AbsoluteResiduals{}.value(r);
  }
  // The derivatives of a loss other than AbsoluteResiduals.
  double slope(double r) const { return kind_ == Kind::huber ? huber_.slope(r) : SquaredResiduals{}.slope(r); }
  double curvature(double r) const {
    return kind_ == Kind::huber ? huber_.curvature(r) : SquaredResiduals{}.curvature(r);
  }
  std::string text() const {
    return kind_ == Kind::squared ? "sum of squares"
           : kind_ == Kind::huber ? "sum of Huber losses, delta = " + detail::text(huber_.delta)
                                  : "sum of absolute values";
  }

 private:
  enum class Kind { squared, huber, absolute } kind_;
  HuberResiduals huber_;
};

}  // namespace algoperf
