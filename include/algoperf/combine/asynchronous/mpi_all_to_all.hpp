// MpiAllToAll: workers on the ranks of MPI, each of which trains its own parameters and sends its updates to all others
// without waiting for them. Component `mpi`. AsynchronousAllToAll is the simulation of it.
//
//   UpdateExchange exchange;                      // on all ranks, each of which is a worker
//   TrainingLoop loop(model, loss, sgd(), Constant{0.05}, ShuffledEpochs{.batch = 32, .seed = exchange.rank()},
//                     Seed{exchange.rank()}, MpiAllToAll{&exchange});
//   loop.run(task.train(), UntilStep{5000});
//   exchange.settle(loop);                        // all ranks now have the same parameters, up to rounding
//
//   mpirun -n 4 ./program                         four workers
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "changing_step.hpp"
#include "update_exchange.hpp"

namespace algoperf {

// Before each step, a rank adds the changes of the others that have arrived. It then computes a gradient of its own
// parameters on the batch that its selector chose, applies its rule, and sends the change to all others. Evaluations
// see the rank's own parameters. Each rank has its own schedule and its own state of the rule. Tensors that are not
// trained, such as the running averages of batch norm, change by 1 / W of what a worker's step changes. The order of
// arrivals, and so the result, differs from run to run.
// Give each rank a selector with a seed or a shard of its own, and a Seed of its own for dropout; the initial
// parameters are those of rank 0. Each rank stops by its own observers; UntilAnotherEnds
// (loop/observers/until_another_ends.hpp) stops it when another one has settled. Observers that write files need a file
// for each rank, or rank() == 0.
// W is the number of ranks, also when some have left. A rank waits while `most_pending` of its changes have not been
// received by all others. Memory in addition: two copies of the parameters, and one for each change that is under way.
// A large message arrives when its sender next calls MPI.
// Checkpoints contain the parameters and the rule's state of their rank, without changes that are under way. If a run
// continues from one, all ranks begin with the parameters of rank 0.
// Errors: a rank whose loss is not finite throws Diverged, and the others throw RankFailure. The others go on without a
// rank that has thrown another error. A rank throws Error if its model has another number of parameters than that of
// rank 0 (their shapes are not compared), or if rank 0 ends before its first step. The parameters must have less than
// 2 GB.
// Source: DASGD of Tosi & Theobald 2023 (arXiv:2309.03754), of which only the abstract was read. Backend Host.
struct MpiAllToAll {
  static constexpr bool is_combiner = true;
  static constexpr std::size_t max_workers = 1;
  UpdateExchange* exchange = nullptr;  // must outlive the loop's runs
  std::size_t most_pending = 16;

  template <class Context>
  struct State {
    typename Context::RuleState rule;
    typename Context::Array change;
    template <class Archive>
    void visit(Archive& archive) {
      rule.visit(archive);
    }
  };

  template <class Context>
  State<Context> state(const Context& context) const {
    static_assert(Context::Backend::on_host, "algoperf: MpiAllToAll needs the backend Host");
    static_assert(
        !Context::has_evaluation_values,
        "algoperf: MpiAllToAll runs one rule per worker, and none of them sees the changes of the others: use "
        "a rule that does not average weights");
    using S = typename Context::Scalar;
    require(exchange != nullptr, "MpiAllToAll: there is no UpdateExchange");
    require(most_pending >= 1, "MpiAllToAll: most_pending is 0, expected at least 1");
    const std::size_t n = context.layout().size();
    require(n * sizeof(S) < (std::size_t{1} << 31) - (std::size_t{1} << 20), "MpiAllToAll: ", n,
            " parameters have 2 GB or more");
    require(!std::exchange(exchange->claimed_, true), "MpiAllToAll: this UpdateExchange serves another loop");
    return {context.make_rule_state(), context.backend().template array<S>(n)};
  }

  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    using S = typename Context::Scalar;
    const std::size_t n = context.layout().size();
    S* const own = context.values();
    require(!exchange->ended_, "MpiAllToAll: this rank's UpdateExchange has ended");
    exchange->join(own, n);
    const auto add = exchange->adder(own, n);
    exchange->receive_arrived(add);

    const std::vector<std::uint64_t> known = exchange->known_;
    S* const change = state.change.data();
    const auto gradient = [&] { return context.gradient(0, own, context.gradients()); };
    double loss = 0;
    try {
      loss = gradient();
      detail::changing_step(context, state.rule, own, change, exchange->workers(), gradient);
    } catch (const typename Context::Divergence& diverged) {
      exchange->end(UpdateExchange::Kind::diverged, diverged.what());
      throw;
    }
    exchange->receive_until(add, true, [&] { return exchange->pending() < most_pending; });
    exchange->send_to_all({UpdateExchange::Kind::change, n, sizeof(S)}, known, change);
    ++exchange->known_[exchange->rank()];
    ++exchange->log_.applied;
    exchange->log_.seconds = MPI_Wtime() - exchange->start_;
    return loss;
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rule;
  }
};

}  // namespace algoperf
