#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/config.hpp"
#include "../../core/half.hpp"

namespace algoperf {

// The fraction of examples whose largest output is not that of the label. Among equal outputs, the first counts as the
// largest. A single output predicts label 1 if it is above 0, else label 0. Lower is better.
struct ErrorRate {
  static constexpr const char* name = "error";
  static constexpr bool lower_is_better = true;

  template <class S>
  struct Row {
    std::size_t classes;
    const S* logits;
    const std::int32_t* labels;
    Arithmetic<S>* scores;
    template <class Team>
    ALGOPERF_HD void operator()(const Team&, std::size_t r) const {
      const S* const z = logits + r * classes;
      std::size_t best = classes == 1 && z[0] > Arithmetic<S>(0);
      for (std::size_t c = 1; c < classes; ++c)
        if (z[c] > z[best]) best = c;
      scores[r] = best == static_cast<std::size_t>(labels[r]) ? Arithmetic<S>(0) : Arithmetic<S>(1);
    }
  };

  // One score per example; the metric is their mean.
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t classes, const S* logits, const std::int32_t* labels,
             Arithmetic<S>* scores) const {
    backend.for_each_row(batch, classes, Row<S>{classes, logits, labels, scores});
  }
};

}  // namespace algoperf
