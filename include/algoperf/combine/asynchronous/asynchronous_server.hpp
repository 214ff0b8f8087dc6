// AsynchronousServer: the combiner of a simulated parameter server, to which workers send gradients without waiting for
// each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../state/archive.hpp"
#include "../../state/visit_option.hpp"
#include "../concept.hpp"
#include "arrivals.hpp"
#include "asynchronous_log.hpp"
#include "stale.hpp"

namespace algoperf {

// Each step of the loop is one gradient that arrives at the server: a worker has computed it on the batch of this step,
// at the parameters that it received when it began. The server applies it with the rule, and sends the new parameters
// to a worker, which begins its next step. The order of arrivals follows from the speeds, and is the same in every run.
//   TrainingLoop(model, loss, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 32},
//                AsynchronousServer{{.workers = 8, .spread = 0.3}, Stale::shrink})
// A gradient's delay tau is the number of updates since its worker began. Gradients with tau <= tau_C are applied as
// they are. Later ones are applied, too (Stale::apply), or multiplied by tau_C / tau, or dropped: the delay-adaptive
// step sizes of the paper. With SGD, scaling the gradient scales the step size.
// If `concurrency` is less than the number of workers, only as many compute at a time. When one finishes, the next is
// drawn uniformly from the idle workers, as clients are sampled in federated learning (Algorithm 2 of the paper).
// A worker computes the change of a buffer, such as a running average of batch norm, from its stale copy. The server
// applies 1 / tau_C of this change: about tau_C workers compute changes from similarly old copies, so whole changes
// would overshoot again and again, and diverge.
// The loss of a step is that of the worker's batch at the worker's parameters. The group of the loop is InProcess{1}.
// Source: Koloskova, Stich & Jaggi 2022 (arXiv:2206.08307), Algorithms 1 and 2.
// Memory in addition: a copy of the parameters for each worker that computes. Backend Host, one rank.
struct AsynchronousServer {
  static constexpr bool is_combiner = true;
  static constexpr std::size_t max_workers = 1;
  WorkerSpeeds speeds = {};
  Stale stale = Stale::apply;
  std::size_t concurrency = 0;     // 0: all workers compute at the same time
  double latency = 0;              // seconds that a gradient and the new parameters are under way, together
  AsynchronousLog* log = nullptr;  // must outlive the loop

  template <class Context>
  struct State {
    typename Context::RuleState rule;
    typename Context::Backend backend;
    std::size_t size;                             // of the parameters
    std::vector<typename Context::Array> copies;  // of the parameters, by slot: as many as compute at a time
    std::vector<std::uint64_t> slots = {},
                               versions = {};  // the slot of each worker; by worker, the updates when it began
    detail::Arrivals arrivals = {};
    detail::Delays delays = {};
    std::uint64_t updates = 0, dropped = 0;
    double stale = 0;  // the combiner's option
    template <class Archive>
    void visit(Archive& archive) {
      rule.visit(archive);
      const ArchiveScope scope(archive, "asynchronous");
      visit_option(archive, "AsynchronousServer", "stale", stale);
      archive.number("updates", updates);
      archive.number("dropped", dropped);
      archive.array("slots", slots.data(), slots.size());
      archive.array("versions", versions.data(), versions.size());
      if constexpr (Archive::reading)
        for (std::size_t w = 0; w < slots.size(); ++w)
          require(slots[w] < copies.size() && versions[w] <= updates, "AsynchronousServer: in the archive, worker ", w,
                  " has slot ", slots[w], " of ", copies.size(), " and version ", versions[w], " of ", updates);
      visit_scoped(archive, "arrivals", arrivals);
      visit_scoped(archive, "delays", delays);
      for (std::size_t i = 0; i < copies.size(); ++i)
        archive.array(("copy_" + std::to_string(i)).c_str(), backend, copies[i].data(), size);
    }
  };

  void check() const {
    speeds.check();
    require_at_least(0, "AsynchronousServer", "latency", latency);
    require(concurrency <= speeds.workers, "AsynchronousServer: concurrency is ", concurrency, ", but there are ",
            speeds.workers, " workers");
  }
  // Returns tau_C.
  std::size_t at_once() const { return concurrency == 0 ? speeds.workers : concurrency; }

  template <class Context>
  State<Context> state(const Context& context) const {
    static_assert(Context::Backend::on_host, "algoperf: AsynchronousServer needs the backend Host");
    check();
    State<Context> state{context.make_rule_state(), context.backend(), context.layout().size(), {}};
    for (std::size_t i = 0; i < at_once(); ++i)
      state.copies.push_back(context.backend().template array<typename Context::Scalar>(state.size));
    state.slots.assign(speeds.workers, 0);
    state.versions.assign(speeds.workers, 0);
    state.arrivals = detail::Arrivals(speeds, at_once(), latency);
    state.stale = static_cast<double>(stale);
    return state;
  }

  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    if (state.delays.count == 0) {
      std::uint64_t slot = 0;
      for (const std::size_t worker : state.arrivals.first()) begin(context, state, worker, slot++);
    }
    const detail::Arrival arrival = state.arrivals.next();
    const std::uint64_t slot = state.slots[arrival.worker];
    const double loss = context.gradient(0, state.copies[static_cast<std::size_t>(slot)].data(), context.gradients());
    const std::uint64_t delay = state.updates - state.versions[arrival.worker], bound = at_once();
    state.delays.add(delay);
    const bool applied = detail::apply_stale(context, state.rule, stale, delay, bound, [&] {
      return context.gradient(0, context.values(), context.gradients());
    });
    ++(applied ? state.updates : state.dropped);
    begin(context, state, arrival.next, slot);
    if (log != nullptr) *log = log_of(state, arrival.time);
    return loss;
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rule;
  }

 private:
  template <class Context>
  void begin(Context& context, State<Context>& state, std::size_t worker, std::uint64_t slot) const {
    context.backend().copy(state.size, static_cast<const typename Context::Scalar*>(context.values()),
                           state.copies[static_cast<std::size_t>(slot)].data());
    state.slots[worker] = slot;
    state.versions[worker] = state.updates;
  }
  template <class State>
  AsynchronousLog log_of(const State& state, double now) const {
    double sum = static_cast<double>(state.delays.sum), count = static_cast<double>(state.delays.count);
    for (std::size_t w = 0; w < speeds.workers; ++w)
      if (state.arrivals.computes(w)) sum += static_cast<double>(state.updates - state.versions[w]), ++count;
    return {now, state.updates, state.dropped, state.delays.largest, sum / count};
  }
};

}  // namespace algoperf
