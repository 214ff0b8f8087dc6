#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../core/error.hpp"
#include "../concept.hpp"

namespace algoperf {

// Multiplies another loss of class labels, and its gradient, by a weight per class: w[label_i] loss_i.
//   ClassWeights(SoftmaxCrossEntropy{}, {1.0, 1.0, 8.0})   // three classes, the last one rare
// The number of weights must be that of the classes. Weights are finite and >= 0; a class of weight 0 is ignored. On a
// device the weights are arguments of the kernel, which limits them to about 900 floats.
// Departs from torch's `weight`, which divides by the sum of the batch's weights: here a batch's loss is the mean of
// w[label_i] loss_i over its examples, so that the step of an example does not depend on the others of its batch.
template <class Loss, std::size_t classes>
class ClassWeights {
  static_assert(std::is_same_v<LossLabel<Loss, float>, std::int32_t>,
                "algoperf: ClassWeights needs a loss whose labels are classes, such as SoftmaxCrossEntropy");

 public:
  constexpr ClassWeights(const Loss& loss, const double (&weights)[classes]) : loss_(loss) {
    for (std::size_t c = 0; c < classes; ++c) weights_[c] = weights[c];
  }

  void check() const {
    if constexpr (requires { loss_.check(); }) loss_.check();
    for (std::size_t c = 0; c < classes; ++c)
      require(weights_[c] >= 0 && weights_[c] <= __DBL_MAX__, "ClassWeights: the weight of class ", c, " is ",
              weights_[c], ", expected [0, inf)");
  }
  // Returns the number of classes that a model with this number of outputs distinguishes.
  constexpr std::size_t classes_of(std::size_t outputs) const {
    const std::size_t found = detail::classes_of(loss_, outputs);
    require(found == classes, "ClassWeights: there are ", classes, " weights for ", found, " classes");
    return found;
  }

  // Reports the operations on the outputs of a batch to a tally.
  template <class Tally>
  constexpr void count(std::uint64_t batch, std::uint64_t outputs, Tally& tally) const {
    loss_.count(batch, outputs, tally);
    tally.operation({"class weights", batch * (outputs + 1), batch * (outputs + 2), batch * (outputs + 1)});
  }

  template <class S>
  struct Row {
    using T = Arithmetic<S>;
    std::size_t outputs;
    const std::int32_t* labels;
    T* losses;
    S* d_outputs;  // null if only losses are required
    T weights[classes];

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const T weight = weights[labels[r]];
      T* const loss = losses + r;
      team.each(1, [loss, weight](std::size_t) { *loss = weight * *loss; });  // by one thread of the team
      if (d_outputs == nullptr) return;
      S* const d = d_outputs + r * outputs;
      team.each(outputs, [d, weight](std::size_t c) { d[c] = S(weight * d[c]); });
    }
  };

  // d_outputs may be null. weights, those of the examples, may be null only when d_outputs is.
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t outputs, const S* z, const std::int32_t* labels,
             const Arithmetic<S>* weights, Arithmetic<S>* losses, S* d_outputs) const {
    loss_.write(backend, batch, outputs, z, labels, weights, losses, d_outputs);
    Row<S> row{outputs, labels, losses, d_outputs, {}};
    for (std::size_t c = 0; c < classes; ++c) row.weights[c] = static_cast<Arithmetic<S>>(weights_[c]);
    backend.for_each_row(batch, outputs, row);
  }

 private:
  Loss loss_;
  double weights_[classes] = {};
};

}  // namespace algoperf
