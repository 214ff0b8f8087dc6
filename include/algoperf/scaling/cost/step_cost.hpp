// cost(model, batch): the FLOPs, bytes, memory and input of a training step, summed over the operations that the
// model's layers, the loss and the rule report. It is a constant expression if the model is.
//
//   constexpr auto step = cost(mlp, 128);                                  // forward, loss and backward
//   const auto whole = cost(mlp, 128, {.update = update_cost(adamw())});   // and the update
//   cost(line, 128, StepOptions<MeanSquaredError>{});                      // a loss other than softmax cross-entropy
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../core/cost.hpp"
#include "../../nn/graph/graph_cost.hpp"
#include "../../nn/graph/objective.hpp"
#include "../../nn/losses/softmax_cross_entropy.hpp"
#include "../../rules/chain/describe.hpp"
#include "../../rules/chain/stage_traits.hpp"
#include "accelerator.hpp"
#include "quantities.hpp"

namespace algoperf {

// The cost of a rule per parameter: FLOPs, and elements read and written.
struct UpdateCost {
  std::uint64_t flops = 0, read = 0, written = 0;
  std::uint64_t state = 0;  // elements of optimiser state
};

// Returns the update cost of a chain. Its stages must be element-wise or sums.
template <class... Stages>
UpdateCost update_cost(const Chain<Stages...>& chain) {
  static_assert((!detail::is_matrix<Stages> && ...),
                "algoperf: update_cost counts operations per parameter; this chain has a stage that works on whole "
                "matrices, whose cost depends on their shapes");
  UpdateCost cost{.flops = flops_per_parameter(chain)};
  for_each_index<PassList<Stages...>{}.pass_count>([&](auto i) {
    const PassTraffic moved = traffic<i>(chain);
    cost.read += std::uint64_t{moved.reads_u} + moved.reads_p + moved.slots;
    cost.written += std::uint64_t{moved.writes_u} + moved.writes_p + moved.slots;
    cost.state += moved.slots;
  });
  return cost;
}

// What counts as FLOPs and as parameters. Published counts differ in this (Porian et al. 2024 found that it changed
// an exponent by 0.13), so state which you use. Bytes, memory and for_each_operation always cover everything.
struct Counting {
  bool products_only = false;  // count only FLOPs of matrix products and convolutions
  bool multiply_adds = false;  // count a multiply-add of a product as one FLOP, not two
  bool embedding = true;       // count parameters and operations of embeddings
  bool output_layer = true;    // count those of the output layer

  constexpr bool includes(ModelPart part) const {
    return (embedding || part != ModelPart::embedding) && (output_layer || part != ModelPart::output);
  }
  constexpr std::uint64_t flops(const Operation& o) const {
    if (!includes(o.part) || (products_only && !o.is_product())) return 0;
    if (!multiply_adds || !o.is_product()) return o.flops;
    return o.flops - o.m * o.n * o.k;
  }
};

template <class Loss = SoftmaxCrossEntropy>
struct StepOptions {
  Loss loss = {};
  UpdateCost update = {};
  Counting counting = {};
  AxisLengths lengths = {};  // the rows per example of the model's ragged axes
};

// FLOPs, and elements read and written: each operand of each operation once, because no data is assumed to stay in a
// cache between operations.
struct PhaseCost {
  std::uint64_t flops = 0, read = 0, written = 0;
  constexpr std::uint64_t moved() const { return read + written; }
};

struct StepCost {
  PhaseCost forward, loss, backward, update;
  std::uint64_t parameters = 0;
  std::uint64_t input = 0;  // elements of the batch and its labels
  // The peak number of elements that are live at one time, and the operation that needs them. Live elements are:
  //   - throughout: trained parameters, optimiser state and the batch (parameters of layers in StopGradient are not
  //     counted);
  //   - from where they are computed to where they are last read: activations, what layers keep, gradients of
  //     activations, and losses;
  //   - from where they are computed on: gradients of parameters.
  // Ops that work in place need no memory of their own, and scratch memory does not count.
  std::uint64_t footprint = 0;
  Phase footprint_phase = Phase::forward;
  const char* footprint_at = "";

  constexpr std::uint64_t total_flops() const { return forward.flops + loss.flops + backward.flops + update.flops; }
  constexpr std::uint64_t total_moved() const {
    return forward.moved() + loss.moved() + backward.moved() + update.moved();
  }
  constexpr Flops flops() const { return Flops(static_cast<double>(total_flops())); }
  constexpr Bytes bytes(Bytes number = Bytes(4)) const { return static_cast<double>(total_moved()) * number; }
  constexpr Bytes memory(Bytes number = Bytes(4)) const { return static_cast<double>(footprint) * number; }
  constexpr FlopsPerByte intensity(Bytes number = Bytes(4)) const { return flops() / bytes(number); }
};

namespace detail {

// Reports every operation of a step except the update to a tally. Returns the number of elements of the batch and its
// labels.
template <class ModelFunction, class Loss, class Tally>
constexpr std::uint64_t count_step(const ModelFunction& model, std::uint64_t batch, const StepOptions<Loss>& options,
                                   std::uint64_t parameters, Tally& tally) {
  tally.hold(parameters * (1 + options.update.state));
  const std::uint64_t fields =
      algoperf::count_step(Objective<ModelFunction, Loss>{model, options.loss}, batch, tally, options.lengths);
  tally.phase(Phase::update);
  return fields;
}

// Returns the update of `parameters` parameters as an operation. FLOPs are those of `counted` parameters.
constexpr Operation update_of(const UpdateCost& update, std::uint64_t parameters, std::uint64_t counted) {
  return {"update", counted * update.flops, parameters * update.read, parameters * update.written};
}

class StepTally {
 public:
  constexpr explicit StepTally(const Counting& counting) : counting_(counting) {}

  constexpr void phase(Phase phase) { phase_ = phase; }
  constexpr void operation(const Operation& o) {
    PhaseCost& sum = phase_ == Phase::forward    ? cost_.forward
                     : phase_ == Phase::loss     ? cost_.loss
                     : phase_ == Phase::backward ? cost_.backward
                                                 : cost_.update;
    sum.flops += counting_.flops(o);
    sum.read += o.read;
    sum.written += o.written;
    if (live_ <= cost_.footprint) return;
    cost_.footprint = live_;
    cost_.footprint_phase = phase_;
    cost_.footprint_at = o.name;
  }
  constexpr void hold(std::uint64_t n) { live_ += n; }
  constexpr void release(std::uint64_t n) { live_ -= n; }
  constexpr void gradient(std::uint64_t n, ModelPart part) {
    live_ += n;
    if (counting_.includes(part)) cost_.parameters += n;
  }
  constexpr StepCost& cost() { return cost_; }

 private:
  Counting counting_;
  StepCost cost_;
  Phase phase_ = Phase::forward;
  std::uint64_t live_ = 0;
};

template <class F>
class OperationTally {
 public:
  explicit OperationTally(const F& f) : f_(f) {}
  void phase(Phase phase) { phase_ = phase; }
  void operation(const Operation& o) { f_(phase_, o); }
  void hold(std::uint64_t) {}
  void release(std::uint64_t) {}
  void gradient(std::uint64_t, ModelPart) {}

 private:
  const F& f_;
  Phase phase_ = Phase::forward;
};

}  // namespace detail

// Returns the cost of a step on `batch` examples. The cost is exact: the operations of the layers as core/cost.hpp
// counts them, not a fit. Only parameters that have gradients are counted. Memory is the minimum for this order of
// operations. Throws Error if the counts of the batch do not fit 64 bits.
template <class Model, class Loss = SoftmaxCrossEntropy>
constexpr StepCost cost(const Model& model, std::uint64_t batch, const StepOptions<Loss>& options = {}) {
  const std::uint64_t parameters = parameters_of(model);
  const auto of = [&](std::uint64_t examples) {
    detail::StepTally tally(options.counting);
    const std::uint64_t input = detail::count_step(model, examples, options, parameters, tally);
    tally.operation(detail::update_of(options.update, parameters, tally.cost().parameters));
    tally.cost().input = input;
    return tally.cost();
  };
  const StepCost one = of(1);  // no cost grows faster than linearly in the batch
  const double most = one.flops().value + one.bytes(Bytes(1)).value + one.memory(Bytes(1)).value;
  if (!(most * static_cast<double>(batch) < 0x1p63))
    fail("cost: a step of ", batch, " examples exceeds what 64 bits can count");
  return of(batch);
}

// Calls f(Phase, Operation) for each operation of the step, in order.
template <class Model, class F, class Loss = SoftmaxCrossEntropy>
void for_each_operation(const Model& model, std::uint64_t batch, const F& f, const StepOptions<Loss>& options = {}) {
  detail::OperationTally<F> tally(f);
  const std::uint64_t parameters = parameters_of(model);
  detail::count_step(model, batch, options, parameters, tally);
  tally.operation(detail::update_of(options.update, parameters, parameters));
}

// Returns the time of a step by the roofline model, summed over operations: each takes the longer of the times for
// its FLOPs and for its bytes. With `caches`, matrix products that do not fit the accelerator's cache read their
// operands more than once.
template <class Model, class Loss = SoftmaxCrossEntropy>
Seconds step_time(const Model& model, std::uint64_t batch, const Accelerator& accelerator,
                  const StepOptions<Loss>& options = {}, bool caches = false, Bytes number = Bytes(4)) {
  accelerator.check();
  Seconds time;
  const auto add = [&](Phase, const Operation& o) {
    Bytes bytes = static_cast<double>(o.read + o.written) * number;
    if (caches && o.is_product()) {
      const Bytes tiled = accelerator.product_bytes(static_cast<double>(o.m), static_cast<double>(o.n),
                                                    static_cast<double>(o.k), number);
      if (bytes < tiled) bytes = tiled;
    }
    time += accelerator.time(Flops(static_cast<double>(o.flops)), bytes);
  };
  for_each_operation(model, batch, add, options);
  return time;
}

}  // namespace algoperf
