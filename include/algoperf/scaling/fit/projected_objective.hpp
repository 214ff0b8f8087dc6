#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <vector>

#include "fit_objective.hpp"
#include "jet.hpp"
#include "solve.hpp"

namespace algoperf::detail {

template <class Law>
concept LawOfTerms = requires(const std::array<double, Law::variables>& logs,
                              const std::array<double, Law::parameters>& theta) {
  { Law::log_terms(logs, theta) } -> std::same_as<std::array<double, Law::linear>>;
};
// A law whose first `linear` coordinates are logarithms of coefficients:  y = sum_k exp(theta_k) f_k(x; shape),
// where shape are the other coordinates.
template <class Law>
concept SeparableLaw = Law::linear < Law::parameters && (Law::linear == 1 || LawOfTerms<Law>);

// The objective of variable projection (Golub & Pereyra 1973):
//   F(shape) = min over c >= 0 of sum w (sum_k c_k f_k(x; shape) - y)^2
// The coefficients c are solved for at each shape.
template <SeparableLaw Law>
class ProjectedObjective {
 public:
  static constexpr std::size_t linear = Law::linear, shapes = Law::parameters - linear;
  using Point = FitPoint<Law::variables>;
  using Shape = std::array<double, shapes>;
  using Coefficients = std::array<double, linear>;

  explicit ProjectedObjective(const std::vector<Point>& points) : points_(points) {
    for (const Point& p : points) y_.push_back(std::exp(p.log_y));
  }

  double operator()(const Shape& shape) const {
    Coefficients c;
    return solve_for(shape, c);
  }
  // Writes the optimal coefficients for a shape, and returns F; HUGE_VAL if there are none.
  double solve_for(const Shape& shape, Coefficients& c) const {
    Normal normal;
    return best(terms_of(shape), normal, c);
  }

  // F's derivatives are those of the full sum of squares with respect to the shape, minus the effect of c, which
  // changes with the shape (Schur complement).
  Jet<shapes> derivatives(const Shape& at, std::array<double, Jet<shapes>::pairs>& bound) const {
    std::array<Jet<shapes>, shapes> shape;
    for (std::size_t a = 0; a < shapes; ++a) shape[a] = Jet<shapes>::variable(at[a], a);
    const auto terms = terms_of(shape);
    Coefficients c;
    Normal normal;
    Jet<shapes> f(best(terms, normal, c));
    bound = {};
    if (!std::isfinite(f.value)) return f;
    std::array<std::array<double, shapes>, linear> mixed = {}, squares = {};  // d^2 / dc dshape, full and Gauss-Newton
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double w = 2 * points_[i].weight;
      Jet<shapes> r(-y_[i]);
      for (std::size_t k = 0; k < linear; ++k) r += c[k] * terms[i][k];
      std::size_t pair = 0;
      for (std::size_t a = 0; a < shapes; ++a) {
        f.first[a] += w * r.value * r.first[a];
        for (std::size_t b = 0; b <= a; ++b, ++pair) {
          bound[pair] += w * r.first[a] * r.first[b];
          f.second[pair] += w * (r.first[a] * r.first[b] + r.value * r.second[pair]);
        }
        for (std::size_t k = 0; k < linear; ++k) {
          squares[k][a] += w * terms[i][k].value * r.first[a];
          mixed[k][a] += w * (terms[i][k].value * r.first[a] + r.value * terms[i][k].first[a]);
        }
      }
    }
    take_off(f.second, normal, c, mixed);
    take_off(bound, normal, c, squares);
    return f;
  }

 private:
  // The normal equations: sums of w f f^T and w f y.
  struct Normal {
    std::array<Coefficients, linear> matrix = {};
    Coefficients right = {};

    void add(double w, const Coefficients& f, double y) {
      for (std::size_t k = 0; k < linear; ++k) {
        right[k] += w * f[k] * y;
        for (std::size_t j = 0; j < linear; ++j) matrix[k][j] += w * f[k] * f[j];
      }
    }
    // Solves for the coefficients whose bits are set in `in`, scaled to a diagonal of 1. The others are 0.
    bool solve_among(unsigned in, const Coefficients& b, Coefficients& x) const {
      std::array<Coefficients, linear> a = {};
      Coefficients scale = {}, scaled = {};
      for (std::size_t k = 0; k < linear; ++k) scale[k] = (in >> k & 1) != 0 ? 1 / std::sqrt(matrix[k][k]) : 0;
      for (std::size_t k = 0; k < linear; ++k) {
        scaled[k] = b[k] * scale[k];
        for (std::size_t j = 0; j < linear; ++j) a[k][j] = matrix[k][j] * scale[k] * scale[j];
        if ((in >> k & 1) == 0) a[k][k] = 1;
      }
      if (!algoperf::solve(a, scaled, x)) return false;
      for (std::size_t k = 0; k < linear; ++k) x[k] *= scale[k];
      return true;
    }
    // Finds the optimal c >= 0. Tries every subset of the coefficients as the non-zero ones, since there are few.
    bool solve(Coefficients& c) const {
      double most = 0;
      for (unsigned in = 1; in < 1u << linear; ++in) {
        Coefficients x;
        if (!solve_among(in, right, x)) continue;
        double explained = 0;
        bool positive = true;
        for (std::size_t k = 0; k < linear; ++k) {
          explained += x[k] * right[k];
          positive = positive && ((in >> k & 1) == 0 || x[k] > 0);
        }
        if (positive && explained > most) most = explained, c = x;
      }
      return most > 0;
    }
  };

  // Returns f_k at every point: the law's terms with coefficients of 1.
  template <class T>
  std::vector<std::array<T, linear>> terms_of(const std::array<T, shapes>& shape) const {
    std::array<T, Law::parameters> theta = {};
    for (std::size_t a = 0; a < shapes; ++a) theta[linear + a] = shape[a];
    std::vector<std::array<T, linear>> terms;
    terms.reserve(points_.size());
    for (const Point& p : points_) {
      if constexpr (linear == 1)
        terms.push_back({Law::template log_value<T>(p.log_x, theta)});
      else
        terms.push_back(Law::template log_terms<T>(p.log_x, theta));
      for (T& each : terms.back()) each = jets::exp(each);
    }
    return terms;
  }
  template <class Terms>
  double best(const std::vector<Terms>& terms, Normal& normal, Coefficients& c) const {
    const auto numbers = [](const Terms& all) {
      Coefficients values;
      for (std::size_t k = 0; k < linear; ++k) values[k] = jets::value(all[k]);
      return values;
    };
    for (std::size_t i = 0; i < points_.size(); ++i) normal.add(points_[i].weight, numbers(terms[i]), y_[i]);
    if (!normal.solve(c)) return HUGE_VAL;
    double sum = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Coefficients f = numbers(terms[i]);
      double r = -y_[i];
      for (std::size_t k = 0; k < linear; ++k) r += c[k] * f[k];
      sum += points_[i].weight * r * r;
    }
    return sum;
  }

  // Subtracts the effect of c from `second`. `normal` is half of d^2 / dc dc.
  static void take_off(std::array<double, Jet<shapes>::pairs>& second, const Normal& normal, const Coefficients& c,
                       const std::array<std::array<double, shapes>, linear>& mixed) {
    unsigned in = 0;
    for (std::size_t k = 0; k < linear; ++k) in |= c[k] > 0 ? 1u << k : 0;
    for (std::size_t a = 0; a < shapes; ++a) {
      Coefficients column, follows;
      for (std::size_t k = 0; k < linear; ++k) column[k] = 0.5 * mixed[k][a];
      if (!normal.solve_among(in, column, follows)) return;
      for (std::size_t b = 0; b <= a; ++b)
        for (std::size_t k = 0; k < linear; ++k) second[a * (a + 1) / 2 + b] -= mixed[k][b] * follows[k];
    }
  }

  const std::vector<Point>& points_;
  std::vector<double> y_;
};

}  // namespace algoperf::detail
