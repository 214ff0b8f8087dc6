// MpiServer: a parameter server over MPI, to which workers send gradients without waiting for each other. Component
// `mpi`. AsynchronousServer is the simulation of it.
//
//   ParameterServer server;                       // on all ranks; rank 0 is the server, the others are workers
//   TrainingLoop loop(model, loss, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 32, .seed = server.rank()},
//                     MpiServer{&server, Stale::shrink});
//   if (server.is_server())
//     loop.run(task.train(), Evaluate{task, {.every = 500}}, UntilTarget{task.target()}, UntilStep{20000});
//   else
//     loop.run(task.train(), UntilServerEnds{&server});    // loop/observers/until_server_ends.hpp
//
//   mpirun -n 5 ./program                         one server and four workers
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/map_kernels.hpp"
#include "../group/mpi.hpp"
#include "asynchronous_log.hpp"
#include "stale.hpp"

namespace algoperf {

// The connection of rank 0, the server, with the workers. Its destructor ends the training: a server tells the workers,
// whose runs then stop, and waits until all have sent their last gradient; a worker that ends early tells the server.
class ParameterServer {
 public:
  // All ranks of the communicator construct one. Throws Error if there is one rank.
  explicit ParameterServer(MPI_Comm communicator = MPI_COMM_WORLD) {
    detail::start_mpi();
    MPI_Comm_dup(communicator, &communicator_);
    MPI_Comm_rank(communicator_, &rank_);
    int size = 0;
    MPI_Comm_size(communicator_, &size);
    if (size < 2) {
      MPI_Comm_free(&communicator_);
      fail("ParameterServer: there is one rank, expected a server and at least one worker: mpirun -n 2");
    }
    versions_.assign(static_cast<std::size_t>(size), 0);
    working_ = is_server() ? versions_.size() - 1 : 0;
  }
  ~ParameterServer() {
    if (is_server())
      end_workers();
    else if (!ended_)
      send_to_server(Kind::leaves, 0, 0);
    MPI_Comm_free(&communicator_);
  }
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;

  bool is_server() const { return rank_ == 0; }
  std::size_t rank() const { return static_cast<std::size_t>(rank_); }
  std::size_t workers() const { return versions_.size() - 1; }
  // Whether the server has ended. On a worker.
  bool ended() const { return ended_; }
  // On the server. Seconds are those since the first gradient was expected.
  const AsynchronousLog& log() const { return log_; }

 private:
  friend struct MpiServer;
  enum class Kind : std::uint64_t { gradient, leaves };
  enum Tag : int { from_worker, gradient_array, from_server, values_array };

  struct Gradient {
    Kind kind = Kind::gradient;
    std::uint64_t elements = 0;
    double loss = 0;
  };

  // Worker: sends a gradient, or that it leaves.
  template <class S>
  void send_gradient(const S* gradient, std::size_t n, double loss) {
    send_to_server(Kind::gradient, n, loss);
    MPI_Send(gradient, bytes_of<S>(n), MPI_BYTE, 0, gradient_array, communicator_);
  }
  void send_to_server(Kind kind, std::size_t elements, double loss) const {
    const Gradient header{kind, elements, loss};
    MPI_Send(&header, sizeof header, MPI_BYTE, 0, from_worker, communicator_);
  }
  // Worker: receives the parameters, or that the server ends.
  template <class S>
  void receive_values(S* values, std::size_t n) {
    std::uint64_t goes_on = 0;
    MPI_Recv(&goes_on, sizeof goes_on, MPI_BYTE, 0, from_server, communicator_, MPI_STATUS_IGNORE);
    ended_ = goes_on == 0;
    if (ended_) return;
    require(goes_on == n, "MpiServer: the server's model has ", goes_on, " parameters, and that of rank ", rank_,
            " has ", n);
    MPI_Recv(values, bytes_of<S>(n), MPI_BYTE, 0, values_array, communicator_, MPI_STATUS_IGNORE);
  }

  // Server: sends the parameters to a worker.
  template <class S>
  void send_values(int worker, const S* values, std::size_t n) {
    const std::uint64_t elements = n;
    MPI_Send(&elements, sizeof elements, MPI_BYTE, worker, from_server, communicator_);
    MPI_Send(values, bytes_of<S>(n), MPI_BYTE, worker, values_array, communicator_);
    versions_[static_cast<std::size_t>(worker)] = log_.applied;
  }
  // Server: waits for the next gradient of any worker; returns that worker and its loss. Throws Error if all have left.
  template <class S>
  int receive_gradient(S* gradient, std::size_t n, double& loss) {
    for (;;) {
      Gradient header;
      const int worker = receive_header(header);
      if (header.kind == Kind::leaves) {
        require(--working_ > 0, "MpiServer: rank ", worker, " has ended, and no worker is left");
        continue;
      }
      require(header.elements == n, "MpiServer: the gradient of rank ", worker, " has ", header.elements,
              " elements, expected ", n);
      MPI_Recv(gradient, bytes_of<S>(n), MPI_BYTE, worker, gradient_array, communicator_, MPI_STATUS_IGNORE);
      loss = header.loss;
      return worker;
    }
  }
  int receive_header(Gradient& header) const {
    MPI_Status status;
    MPI_Recv(&header, sizeof header, MPI_BYTE, MPI_ANY_SOURCE, from_worker, communicator_, &status);
    return status.MPI_SOURCE;
  }
  // Server: answers each worker's last gradient with the end.
  void end_workers() {
    std::vector<char> ignored;
    if (!begun_) {
      const std::uint64_t end = 0;
      for (std::size_t w = 1; w < versions_.size(); ++w)
        MPI_Send(&end, sizeof end, MPI_BYTE, static_cast<int>(w), from_server, communicator_);
      return;
    }
    for (; working_ > 0; --working_) {
      Gradient header;
      const int worker = receive_header(header);
      if (header.kind == Kind::leaves) continue;
      MPI_Status status;
      int bytes = 0;
      MPI_Probe(worker, gradient_array, communicator_, &status);
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      ignored.resize(static_cast<std::size_t>(bytes));
      MPI_Recv(ignored.data(), bytes, MPI_BYTE, worker, gradient_array, communicator_, MPI_STATUS_IGNORE);
      const std::uint64_t end = 0;
      MPI_Send(&end, sizeof end, MPI_BYTE, worker, from_server, communicator_);
    }
  }
  template <class S>
  static int bytes_of(std::size_t n) {
    require(n * sizeof(S) < (std::size_t{1} << 31), "MpiServer: ", n, " parameters have more than 2^31 bytes");
    return static_cast<int>(n * sizeof(S));
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  bool begun_ = false, ended_ = false;
  std::size_t working_ = 0;              // server: the workers that have not left
  std::vector<std::uint64_t> versions_;  // server: by rank, the updates when the parameters were sent
  AsynchronousLog log_;
  detail::Delays delays_;
  double start_ = 0;  // by MPI_Wtime
};

// On the server, each step of the loop is one gradient that arrives: it is applied with the rule, and its worker gets
// the new parameters. On a worker, each step computes a gradient on the batch that its selector chose, sends it, and
// waits for parameters. Give each worker a selector with a seed, or a shard, of its own. The server's selector chooses
// batches that are not used; its schedule and rule count. The gradient's delay is the number of updates since its
// worker got its parameters; `stale` says what happens if it exceeds the number of workers, as in AsynchronousServer.
// Rules that recompute gradients (sam, armijo) do not work. The order of arrivals, and so the result, differs from run
// to run. A worker computes the change of a buffer, such as a running average of batch norm; the server applies 1 /
// workers of it, as AsynchronousServer does. Checkpoints are those of the server. Source: Koloskova, Stich & Jaggi 2022
// (arXiv:2206.08307), Algorithm 1. Backend Host.
struct MpiServer {
  static constexpr bool is_combiner = true;
  static constexpr std::size_t max_workers = 1;
  ParameterServer* server = nullptr;  // must outlive the loop's runs
  Stale stale = Stale::apply;

  template <class Context>
  struct State {
    typename Context::RuleState rule;
    template <class Archive>
    void visit(Archive& archive) {
      rule.visit(archive);
    }
  };

  template <class Context>
  State<Context> state(const Context& context) const {
    static_assert(Context::Backend::on_host, "algoperf: MpiServer needs the backend Host");
    require(server != nullptr, "MpiServer: there is no ParameterServer");
    return {context.make_rule_state()};
  }

  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    return server->is_server() ? serve(context, state) : work(context);
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rule;
  }

 private:
  template <class Context>
  double work(Context& context) const {
    const std::size_t n = context.layout().size();
    if (!server->begun_) {
      server->begun_ = true;
      server->receive_values(context.values(), n);
      if (server->ended()) return 0;
    }
    const double loss = context.gradient(0, context.values(), context.gradients());
    server->send_gradient(context.gradients(), n, loss);
    server->receive_values(context.values(), n);
    return loss;
  }

  template <class Context>
  double serve(Context& context, State<Context>& state) const {
    using S = typename Context::Scalar;
    const std::size_t n = context.layout().size(), trained = context.layout().trained_size();
    AsynchronousLog& log = server->log_;
    if (!server->begun_) {
      server->begun_ = true;
      server->start_ = MPI_Wtime();
      for (std::size_t w = 1; w <= server->workers(); ++w)
        server->send_values(static_cast<int>(w), static_cast<const S*>(context.values()), n);
    }
    double loss = 0;
    const int worker = server->receive_gradient(context.gradients(), n, loss);
    const std::uint64_t delay = log.applied - server->versions_[static_cast<std::size_t>(worker)];
    const std::uint64_t bound = server->workers();
    server->delays_.add(delay);
    if (delay > bound && stale == Stale::drop) {
      ++log.dropped;
    } else {
      if (delay > bound && stale == Stale::shrink) {
        const double factor = static_cast<double>(bound) / static_cast<double>(delay);
        context.backend().map(Multiply<S>{static_cast<S>(factor)}, trained, context.gradients());
      }
      if (bound > 1 && trained < n)
        context.backend().map(Multiply<S>{S(1) / static_cast<S>(bound)}, n - trained, context.gradients() + trained);
      context.step(context.gradients(), context.values(), state.rule,
                   [] { fail("MpiServer: the rule recomputes gradients, which a server cannot"); });
      ++log.applied;
    }
    server->send_values(worker, static_cast<const S*>(context.values()), n);
    log.seconds = MPI_Wtime() - server->start_;
    log.largest_delay = server->delays_.largest;
    log.mean_delay = static_cast<double>(server->delays_.sum) / static_cast<double>(server->delays_.count);
    return loss;
  }
};

}  // namespace algoperf
