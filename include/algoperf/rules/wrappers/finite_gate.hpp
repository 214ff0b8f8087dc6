// FiniteGate: makes a rule's steps where their gradient is finite, leaves them out whole where it is not, and counts
// both (apply_if_finite, mixed_precision). Where a device's work goes on while the host does, and the rule needs no
// more than the count of its steps, the device decides, counts and moves the loss scale: the host waits for none of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../backend/all_finite.hpp"
#include "../../core/require.hpp"
#include "../concept.hpp"
#include "loss_scale.hpp"

namespace algoperf::detail {

// What became of the steps asked for. In the backend's memory.
struct GateRecord {
  std::int64_t closed = 0;  // 1 where the last was left out
  std::uint64_t made = 0, left_out = 0;
  std::uint64_t quiet = 0;  // made since the scale last changed
  double scale = 1;         // of the next loss
  float unscale = 1;        // of the last gradients: 1 / their loss's scale

  template <class LossScale>
  ALGOPERF_HD void judge(bool finite, const LossScale& scaling) {
    closed = finite ? 0 : 1;
    made += finite ? 1 : 0;
    left_out += finite ? 0 : 1;
    unscale = static_cast<float>(1 / scale);
    scaling.move(finite, scale, quiet);
  }
};

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

  // A backend is waited for.
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
  // In the backend's memory.
  const GateRecord* place() const {
    if constexpr (Backend::on_host)
      return &record_;
    else
      return record_.data();
  }

  // Where the n gradients are finite, make(now, guard, unscale), by which the rule makes step `now` of those made. If
  // `deferred`, in any case: the guard tells the device, which alone knows now.t and what `place()` tells of the scale.
  template <bool deferred, class T, class LossScale, class Make>
  void step_if_finite(const Backend& backend, std::size_t n, const T* gradients, const LossScale& scaling, Step now,
                      const Make& make) {
    require(now.learning_rate - now.learning_rate == 0, "step: learning_rate is ", now.learning_rate,
            ", expected a finite number");
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
  typename Backend::template Array<float> bad_;  // of each chunk, elsewhere than on the host
};

// Whether a backend defers what becomes of a rule's steps.
template <class Rule>
concept CountsOnDevice = requires {
  requires Rule::counts_on_device;
};
template <class Backend, class Rule>
inline constexpr bool gate_defers = AsynchronousBackend<Backend>&& CountsOnDevice<Rule>;

// Tells a rule's state what a gate has counted, if the rule does not count by itself.
template <class State>
void recount(State& state, std::uint64_t t) {
  if constexpr (requires { state.recount(t); }) state.recount(t);
}

}  // namespace algoperf::detail
