// FiniteGate: makes a rule's steps where their gradient is finite, leaves them out whole where it is not, and counts
// both (apply_if_finite, mixed_precision). Where a device's work goes on while the host does, and the rule needs no
// more than the count of its steps, the device decides, counts and moves the loss scale: the host waits for none of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../backend/all_finite.hpp"
#include "concept.hpp"
#include "loss_scale.hpp"

namespace algoperf::detail {

// What became of the steps asked for. In the backend's memory.
struct GateRecord {
  std::int64_t closed = 0;  // the last
  std::uint64_t made = 0, left_out = 0, quiet = 0;
  double scale = 1;   // of the next loss
  float unscale = 1;  // of the last gradients

  template <class LossScale>
  ALGOPERF_HD void judge(bool finite, const LossScale& moved) {
    closed = finite ? 0 : 1;
    made += finite ? 1 : 0;
    left_out += finite ? 0 : 1;
    unscale = static_cast<float>(1 / scale);
    moved.move(finite, scale, quiet);
  }
};

template <class LossScale>
struct JudgeChunks {
  std::size_t chunks;
  const float* bad;
  LossScale moved;
  GateRecord* record;
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t) const {
    GateRecord found = *record;  // before the team meets in the sum: afterwards one may have written
    const float* const from = bad;
    found.judge(team.template sum<float>(chunks, [from](std::size_t i) { return from[i]; }) == 0, moved);
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

  // step(t, guard), by which the rule makes step t of those made, if the n gradients are finite; in any case if
  // `deferred`, where t is not yet known and the guard tells the device.
  template <bool deferred, class T, class LossScale, class MakeStep>
  void pass(const Backend& backend, std::size_t n, const T* gradients, const LossScale& moved, const MakeStep& step) {
    if constexpr (Backend::on_host) {
      record_.judge(all_finite(backend.threads, n, gradients), moved);
    } else {
      count_bad(backend, n, gradients, bad_.data());
      backend.for_each_row(1, bad_.size(), JudgeChunks<LossScale>{bad_.size(), bad_.data(), moved, record_.data()});
    }
    if constexpr (deferred) {
      step(std::uint64_t{1}, CountedUnless{&place()->closed, &place()->made});
    } else {
      const GateRecord found = record(backend);
      if (found.closed == 0) step(found.made, NoGuard{});
    }
  }

 private:
  std::conditional_t<Backend::on_host, GateRecord, typename Backend::template Array<GateRecord>> record_;
  typename Backend::template Array<float> bad_;  // of each chunk, elsewhere than on the host
};

// Whether a backend defers what becomes of a rule's steps.
template <class Backend, class Rule>
inline constexpr bool gate_defers = AsynchronousBackend<Backend>&& Rule::counts_on_device;

}  // namespace algoperf::detail
