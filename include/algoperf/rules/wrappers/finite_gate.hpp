// FiniteGate: runs a rule's step if the gradient is finite, skips it otherwise, and counts both cases. The wrappers
// apply_if_finite and mixed_precision use it. On an asynchronous backend, if the device can compute the rule's
// constants from the step count alone, the device decides, counts and adjusts the loss scale, and the host does not
// wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../backend/all_finite.hpp"
#include "../../core/require.hpp"
#include "../concept.hpp"
#include "loss_scale.hpp"

namespace algoperf::detail {

// The outcome of all steps so far: the number of steps run (`made`) and skipped (`left_out`), and the loss scale. It is
// stored in the backend's memory.
struct GateRecord {
  std::int64_t closed = 0;  // 1 if the last step was skipped
  std::uint64_t made = 0, left_out = 0;
  std::uint64_t quiet = 0;  // finite gradients since the scale last changed
  double scale = 1;         // of the next loss
  float unscale = 1;        // of the last gradients: 1 / (the scale of their loss)

  // Records whether a step's gradient is finite, and updates the loss scale.
  template <class LossScale>
  ALGOPERF_HD void judge(bool finite, const LossScale& scaling) {
    closed = finite ? 0 : 1;
    made += finite ? 1 : 0;
    left_out += finite ? 0 : 1;
    unscale = static_cast<float>(1 / scale);
    scaling.move(finite, scale, quiet);
  }
};

// Updates the record on a device, from the flags that count_bad() wrote for the chunks of the gradient.
template <class LossScale>
struct JudgeChunks {
  std::size_t chunks;
  const float* bad;
  LossScale scaling;
  GateRecord* record;
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t) const {
    GateRecord found = *record;
    const float* const from = bad;
    found.judge(team.template sum<float>(chunks, [from](std::size_t i) { return from[i]; }) == 0, scaling);
    *record = found;
  }
};

template <class Backend>
class FiniteGate {
 public:
  FiniteGate(const Backend& backend, std::size_t n, double scale) {
    if constexpr (!Backend::on_host) {
      record_ = backend.template array<GateRecord>(1);
      bad_ = backend.template array<float>(chunks_of(n));
    }
    set(backend, {.scale = scale});
  }

  // Returns the record. Waits for the backend.
  GateRecord record(const Backend& backend) const {
    if constexpr (Backend::on_host) {
      return record_;
    } else {
      GateRecord found;
      backend.read(1, record_.data(), &found);
      return found;
    }
  }
  void set(const Backend& backend, const GateRecord& record) {
    if constexpr (Backend::on_host)
      record_ = record;
    else
      backend.write(1, &record, record_.data());
  }
  // Returns the address of the record in the backend's memory.
  const GateRecord* place() const {
    if constexpr (Backend::on_host)
      return &record_;
    else
      return record_.data();
  }

  // If the n gradients are finite, calls make(now, guard, unscale), which must run the rule's step; now.t counts the
  // steps that were not skipped, including this one. If `deferred`, always calls make, with a guard that makes the
  // device skip the step if a gradient is not finite. Then now.t and `unscale` are placeholders: the actual values are
  // on the device, in the record at place().
  template <bool deferred, class T, class LossScale, class Make>
  void step_if_finite(const Backend& backend, std::size_t n, const T* gradients, const LossScale& scaling, Step now,
                      const Make& make) {
    require(now.learning_rate >= 0 && now.learning_rate <= __DBL_MAX__, "step: learning_rate is ", now.learning_rate,
            ", expected a finite number of at least 0");
    if constexpr (Backend::on_host) {
      record_.judge(all_finite(backend.threads, n, gradients), scaling);
    } else {
      count_bad(backend, n, gradients, bad_.data());
      backend.for_each_row(1, bad_.size(), JudgeChunks<LossScale>{bad_.size(), bad_.data(), scaling, record_.data()});
    }
    now.t = 1;
    if constexpr (deferred) return make(now, CountedUnless{&place()->closed, &place()->made}, 1.0f);
    const GateRecord found = record(backend);
    if (found.closed != 0) return;
    now.t = found.made;
    make(now, NoGuard{}, found.unscale);
  }

 private:
  std::conditional_t<Backend::on_host, GateRecord, typename Backend::template Array<GateRecord>> record_;
  typename Backend::template Array<float> bad_;  // per chunk; not used on the host
};

// Whether a device can compute the rule's constants from the step count alone (Chain::counts_on_device).
template <class Rule>
concept CountsOnDevice = requires {
  requires Rule::counts_on_device;
};
// Whether a rule's steps are `deferred` on a backend: the device decides whether to skip them.
template <class Backend, class Rule>
inline constexpr bool gate_defers = AsynchronousBackend<Backend>&& CountsOnDevice<Rule>;

// Sets the step count of a rule's state to the count of a gate, if the state has recount().
template <class State>
void recount(State& state, std::uint64_t t) {
  if constexpr (requires { state.recount(t); }) state.recount(t);
}

}  // namespace algoperf::detail
