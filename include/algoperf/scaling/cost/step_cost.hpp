// cost(model, batch): the FLOPs, bytes, memory and input of a training step, counted from what the model's layers, the
// loss and the rule say they do; in constant evaluation where the model is a constant.
//
//   constexpr auto step = cost(mlp, 128);                                  // forward, loss and backward
//   const auto whole = cost(mlp, 128, {.update = update_cost(adamw())});   // and the update
//   cost(line, 128, StepOptions<MeanSquaredError>{});                      // another loss than softmax cross-entropy
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../core/cost.hpp"
#include "../../nn/losses/softmax_cross_entropy.hpp"
#include "../../rules/chain/describe.hpp"
#include "../../rules/chain/stage_traits.hpp"
#include "accelerator.hpp"
#include "quantities.hpp"

namespace algoperf {

enum class Phase { forward, loss, backward, update };

// What a rule does to each parameter, in numbers read and written.
struct UpdateCost {
  std::uint64_t flops = 0, read = 0, written = 0;
  std::uint64_t state = 0;  // numbers kept
};

// Of a chain's passes; of stages for elements and sums alone.
template <class... Stages>
UpdateCost update_cost(const Chain<Stages...>& chain) {
  static_assert(
      (!detail::is_matrix<Stages> && ...),
      "algoperf: update_cost counts what is done to each parameter; this chain has a stage that works on whole "
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

// What is counted as FLOPs and as parameters. Published counts differ in this (Porian et al. 2024 found an exponent to
// move by 0.13): say which it was. Bytes, memory and single operations are of all, whatever is counted.
struct Counting {
  bool products_only = false;  // FLOPs of matrix products and convolutions alone
  bool multiply_adds = false;  // a multiply-add of a product as one, not two
  bool embedding = true;       // embeddings' parameters and operations
  bool output_layer = true;    // and the output layer's

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
};

// Numbers read and written, each operand of each operation once: nothing stays in a cache from one to the next.
struct PhaseCost {
  std::uint64_t flops = 0, read = 0, written = 0;
  constexpr std::uint64_t moved() const { return read + written; }
};

struct StepCost {
  PhaseCost forward, loss, backward, update;
  std::uint64_t parameters = 0;
  std::uint64_t input = 0;  // numbers of the batch and its labels
  // The most numbers that are needed at one time, and for what: parameters that are trained, state and the batch
  // always (a layer in StopGradient has its parameters besides); activations
  // from the way forward to the way back; losses and the outputs' gradient until the end of that; another gradient from
  // where it is written to where it is read last.
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

// Numbers of a batch and its labels.
template <class Model, class Loss>
constexpr std::uint64_t numbers_in(const Model& model, const Loss&, std::uint64_t batch) {
  const bool regression = !std::is_same_v<LossLabel<Loss, float>, std::int32_t>;
  return batch * (model.input().size() + (regression ? model.output().size() : 1));
}

// Tells a tally everything of a step but the update, and to which phase it belongs.
template <class Model, class Loss, class Tally>
constexpr void count_step(const Model& model, std::uint64_t batch, const StepOptions<Loss>& options, Tally& tally) {
  const std::uint64_t parameters = model.parameters(), outputs = model.output().size();
  tally.hold(parameters * (1 + options.update.state) + numbers_in(model, options.loss, batch));
  tally.phase(Phase::forward);
  model.count_forward(batch, tally);
  tally.phase(Phase::loss);
  tally.hold(batch * (1 + outputs));
  options.loss.count(batch, outputs, tally);
  tally.phase(Phase::backward);
  model.count_backward(batch, tally);
  tally.release(batch * (1 + outputs));
  tally.phase(Phase::update);
}

// Of so many parameters, of which `counted` count.
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

// Of a step on `batch` examples. Exact: what the layers do, as core/cost.hpp counts it, not a fit. Parameters are those
// with gradients. Memory is the least that this order of operations needs; what the library plans for is
// Model::memory(). Throws Error for a batch whose step 64 bits cannot count.
template <class Model, class Loss = SoftmaxCrossEntropy>
constexpr StepCost cost(const Model& model, std::uint64_t batch, const StepOptions<Loss>& options = {}) {
  const auto of = [&](std::uint64_t examples) {
    detail::StepTally tally(options.counting);
    detail::count_step(model, examples, options, tally);
    tally.operation(detail::update_of(options.update, model.parameters(), tally.cost().parameters));
    tally.cost().input = detail::numbers_in(model, options.loss, examples);
    return tally.cost();
  };
  const StepCost one = of(1);  // no part of a step grows faster than the batch
  const double most = one.flops().value + one.bytes(Bytes(1)).value + one.memory(Bytes(1)).value;
  if (!(most * static_cast<double>(batch) < 0x1p63))
    fail("cost: a step of ", batch, " examples is too much to be counted in 64 bits");
  return of(batch);
}

// f(Phase, Operation) for each operation of the step, in order.
template <class Model, class F, class Loss = SoftmaxCrossEntropy>
void for_each_operation(const Model& model, std::uint64_t batch, const F& f, const StepOptions<Loss>& options = {}) {
  detail::OperationTally<F> tally(f);
  detail::count_step(model, batch, options, tally);
  tally.operation(detail::update_of(options.update, model.parameters(), model.parameters()));
}

// The time of a step on a roofline, operation by operation, each as long as its FLOPs or its bytes take. With `caches`
// products that do not fit the accelerator's cache read their operands more than once.
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
