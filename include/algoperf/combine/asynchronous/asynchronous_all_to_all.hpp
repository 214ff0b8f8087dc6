// AsynchronousAllToAll: the combiner of simulated workers without a server, each of which trains its own parameters and
// sends its updates to all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../core/map_kernels.hpp"
#include "../../state/archive.hpp"
#include "../../state/visit_option.hpp"
#include "../concept.hpp"
#include "arrivals.hpp"
#include "asynchronous_log.hpp"
#include "changing_step.hpp"

namespace algoperf {

// Each step of the loop is one step of one worker: it computes a gradient of its own parameters on the batch of this
// step, applies the rule to them, and sends the change to all other workers, which arrives `latency` seconds later.
// Before its next step, a worker adds all changes that have arrived. Workers never wait. The order of steps follows
// from the speeds, and is the same in every run.
// The loop's parameters, which evaluations see, are those at which all changes have arrived: the initial ones and all
// changes so far. All workers would agree on them, up to rounding, if training stopped. Each worker has its own state
// of the rule. Tensors that are not trained, such as the running averages of batch norm, change by 1 / W of what a
// worker's step changes. The delay of a gradient is the number of the others' changes that its worker has not added
// when its step ends.
// The group of the loop is InProcess{1}.
// Source: DASGD of Tosi & Theobald 2023 (arXiv:2309.03754), of which only the abstract was read. A worker receives
// changes between its steps; whether theirs also receives them during a step is not known.
// Memory in addition: W copies of the parameters, and one for each change that some worker has not added yet: those
// under way, and those made during a step of the slowest worker. Backend Host, one rank.
struct AsynchronousAllToAll {
  static constexpr bool is_combiner = true;
  static constexpr std::size_t max_workers = 1;
  WorkerSpeeds speeds = {};
  double latency = 0;              // seconds
  AsynchronousLog* log = nullptr;  // must outlive the loop

  // A change that some workers have not received yet.
  template <class Array>
  struct Change {
    std::uint64_t worker = 0;  // that made it
    double arrival = 0;
    Array values = {};
  };

  template <class Context>
  struct State {
    std::vector<typename Context::RuleState> rules;  // by worker
    typename Context::Backend backend;
    std::size_t size;                                           // of the parameters
    std::vector<typename Context::Array> own;                   // the parameters of each worker
    std::vector<Change<typename Context::Array>> changes = {};  // in the order in which they were made
    std::uint64_t first = 0;                                    // the number of the first of `changes`
    std::vector<std::uint64_t> received = {};  // by worker: it has added all changes before this number
    double latency = 0;                        // the combiner's option
    detail::Arrivals arrivals = {};
    detail::Delays delays = {};
    std::uint64_t steps = 0;
    template <class Archive>
    void visit(Archive& archive) {
      for (std::size_t w = 0; w < rules.size(); ++w) visit_scoped(archive, "rule_" + std::to_string(w), rules[w]);
      const ArchiveScope scope(archive, "asynchronous");
      visit_option(archive, "AsynchronousAllToAll", "latency", latency);
      archive.number("steps", steps);
      archive.number("first", first);
      std::uint64_t count = changes.size();
      archive.number("changes", count);
      if constexpr (Archive::reading) changes.clear();
      for (std::uint64_t i = 0; i < count; ++i) {
        if constexpr (Archive::reading)  // one at a time, so that a damaged count allocates no memory
          changes.push_back({0, 0, backend.template array<typename Context::Scalar>(size)});
        Change<typename Context::Array>& change = changes[static_cast<std::size_t>(i)];
        const ArchiveScope of_change(archive, "change_" + std::to_string(i));
        archive.number("worker", change.worker);
        archive.number("arrival", change.arrival);
        archive.array("values", backend, change.values.data(), size);
      }
      archive.array("received", received.data(), received.size());
      if constexpr (Archive::reading)
        for (const std::uint64_t each : received)
          require(each >= first && each - first <= count,
                  "AsynchronousAllToAll: in the archive, a worker has received ", each, " changes, expected ", first,
                  " to ", first + count);
      visit_scoped(archive, "arrivals", arrivals);
      visit_scoped(archive, "delays", delays);
      for (std::size_t w = 0; w < own.size(); ++w)
        archive.array(("worker_" + std::to_string(w)).c_str(), backend, own[w].data(), size);
    }
  };

  void check() const {
    speeds.check();
    require_at_least(0, "AsynchronousAllToAll", "latency", latency);
  }

  template <class Context>
  State<Context> state(const Context& context) const {
    static_assert(Context::Backend::on_host, "algoperf: AsynchronousAllToAll needs the backend Host");
    static_assert(
        !Context::has_evaluation_values,
        "algoperf: AsynchronousAllToAll runs one rule per worker, and none of them sees the common parameters: "
        "use a rule that does not average weights");
    check();
    State<Context> state{{}, context.backend(), context.layout().size(), {}};
    for (std::size_t w = 0; w < speeds.workers; ++w) state.rules.push_back(context.make_rule_state());
    for (std::size_t w = 0; w < speeds.workers; ++w)
      state.own.push_back(context.backend().template array<typename Context::Scalar>(state.size));
    state.received.assign(speeds.workers, 0);
    state.latency = latency;
    state.arrivals = detail::Arrivals(speeds, speeds.workers, 0);
    return state;
  }

  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    using S = typename Context::Scalar;
    const auto& backend = context.backend();
    if (state.steps == 0)
      for (auto& own : state.own) backend.copy(state.size, static_cast<const S*>(context.values()), own.data());
    const detail::Arrival arrival = state.arrivals.next();
    const std::size_t worker = arrival.worker;
    const double now = arrival.time;
    S* const own = state.own[worker].data();
    const double loss = context.gradient(0, own, context.gradients());
    state.delays.add(missing(state, worker));

    Change<typename Context::Array> change{worker, now + latency, backend.template array<S>(state.size)};
    S* const values = change.values.data();
    detail::changing_step(context, state.rules[worker], own, values, speeds.workers,
                          [&] { return context.gradient(0, own, context.gradients()); });
    backend.map(Subtract{}, state.size, context.values(), static_cast<const S*>(values));
    state.changes.push_back(std::move(change));
    ++state.steps;

    receive(context, state, worker, now);
    if (log != nullptr) *log = log_of(state, now);
    return loss;
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rules.front();
  }

 private:
  // Returns the number of the others' changes that a worker has not added.
  template <class State>
  static std::uint64_t missing(const State& state, std::size_t worker) {
    std::uint64_t count = 0;
    for (std::uint64_t i = state.received[worker]; i < state.first + state.changes.size(); ++i)
      count += state.changes[static_cast<std::size_t>(i - state.first)].worker != worker;
    return count;
  }
  template <class State>
  AsynchronousLog log_of(const State& state, double now) const {
    double sum = static_cast<double>(state.delays.sum);
    for (std::size_t w = 0; w < speeds.workers; ++w) sum += static_cast<double>(missing(state, w));
    return {now, state.steps, 0, state.delays.largest, sum / static_cast<double>(state.delays.count + speeds.workers)};
  }

  // Adds the changes that have arrived at a worker, in the order in which they were made, and forgets those that all
  // workers have received.
  template <class Context>
  void receive(Context& context, State<Context>& state, std::size_t worker, double now) const {
    using S = typename Context::Scalar;
    std::uint64_t& received = state.received[worker];
    while (received < state.first + state.changes.size()) {
      const auto& change = state.changes[static_cast<std::size_t>(received - state.first)];
      if (change.worker != worker) {
        if (change.arrival > now) break;
        context.backend().map(Subtract{}, state.size, state.own[worker].data(),
                              static_cast<const S*>(change.values.data()));
      }
      ++received;
    }
    std::uint64_t all = received;
    for (const std::uint64_t each : state.received) all = each < all ? each : all;
    state.changes.erase(state.changes.begin(), state.changes.begin() + static_cast<std::ptrdiff_t>(all - state.first));
    state.first = all;
  }
};

}  // namespace algoperf
