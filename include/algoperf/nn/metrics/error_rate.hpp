#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../core/config.hpp"
#include "../../core/half.hpp"

namespace algoperf {

// The fraction of examples whose largest output is not that of the label. Among equal outputs, the first counts as the
// largest. A single output predicts label 1 if it is above 0, else label 0. A label that is a distribution
// (SoftCrossEntropy) stands for its most probable class, the first among equals (for a single output: class 1 if it is above
// 0.5). Lower is better.
struct ErrorRate {
  static constexpr const char* name = "error";
  static constexpr bool lower_is_better = true;

  template <class S, class Label>
  struct Row {
    std::size_t classes;
    const S* logits;
    const Label* labels;
    Arithmetic<S>* scores;
    template <class Team>
    ALGOPERF_HD void operator()(const Team&, std::size_t r) const {
      const S* const z = logits + r * classes;
      std::size_t best = classes == 1 && z[0] > Arithmetic<S>(0);
      for (std::size_t c = 1; c < classes; ++c)
        if (z[c] > z[best]) best = c;
      scores[r] = best == label(r) ? Arithmetic<S>(0) : Arithmetic<S>(1);
    }

   private:
    ALGOPERF_HD std::size_t label(std::size_t r) const {
      if constexpr (std::is_same_v<Label, std::int32_t>) {
        return static_cast<std::size_t>(labels[r]);
      } else {
        const Label* const q = labels + r * classes;
        std::size_t best = classes == 1 && q[0] > Label(0.5);
        for (std::size_t c = 1; c < classes; ++c)
          if (q[c] > q[best]) best = c;
        return best;
      }
    }
  };

  // One score per example; the metric is their mean. Labels are classes, or distributions of type Arithmetic<S>.
  template <class B, class S, class Label>
  void write(const B& backend, std::size_t batch, std::size_t classes, const S* logits, const Label* labels,
             Arithmetic<S>* scores) const {
    backend.for_each_row(batch, classes, Row<S, Label>{classes, logits, labels, scores});
  }
};

}  // namespace algoperf
