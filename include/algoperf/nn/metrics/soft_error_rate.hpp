#pragma once

#include <cstddef>

#include "../../core/config.hpp"
#include "../../core/half.hpp"

namespace algoperf {

// The error rate for labels that are distributions over the classes (SoftCrossEntropy): the fraction of examples whose
// largest output is not that of the most probable class. Among equal values, the first counts as the largest. With a
// single output, the prediction is 1 if the output is above 0, and the label stands for 1 if it is above 0.5. Lower is
// better. ErrorRate is the metric for labels that are classes.
struct SoftErrorRate {
  static constexpr const char* name = "error";
  static constexpr bool lower_is_better = true;

  template <class S>
  struct Row {
    using T = Arithmetic<S>;
    std::size_t classes;
    const S* logits;
    const T* labels;
    T* scores;

    template <class Team>
    ALGOPERF_HD void operator()(const Team&, std::size_t r) const {
      const bool right = largest(logits + r * classes, T(0)) == largest(labels + r * classes, T(0.5));
      scores[r] = right ? T(0) : T(1);
    }

   private:
    // Returns the index of the largest of x; if there is one value, whether it is above `middle`.
    template <class X>
    ALGOPERF_HD std::size_t largest(const X* x, T middle) const {
      if (classes == 1) return x[0] > middle ? 1 : 0;
      std::size_t best = 0;
      for (std::size_t c = 1; c < classes; ++c)
        if (x[c] > x[best]) best = c;
      return best;
    }
  };

  // One score per example; the metric is their mean.
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t classes, const S* logits, const Arithmetic<S>* labels,
             Arithmetic<S>* scores) const {
    backend.for_each_row(batch, 2 * classes, Row<S>{classes, logits, labels, scores});
  }
};

}  // namespace algoperf
