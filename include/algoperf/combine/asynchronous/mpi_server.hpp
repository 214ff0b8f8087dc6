// MpiServer: a parameter server over MPI, to which workers send gradients without waiting for each other. Component
// `mpi`. AsynchronousServer is the simulation of it.
//
//   ParameterServer server;                       // on all ranks; rank 0 is the server, the others are workers
//   TrainingLoop loop(model, loss, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 32, .seed = server.rank()},
//                     Seed{server.rank()}, MpiServer{&server, Stale::shrink});
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
#include "../group/mpi_connection.hpp"
#include "../group/ranks.hpp"
#include "asynchronous_log.hpp"
#include "stale.hpp"

namespace algoperf {

// The connection of rank 0, the server, with the workers. It serves one loop on each rank. Its destructor ends the
// training: that of the server tells the workers, whose runs then stop, and waits until all have sent their last
// gradient; that of a worker whose run has thrown tells the server, which goes on with the others.
class ParameterServer {
 public:
  // All ranks of the communicator construct one. Throws Error if there is one rank.
  explicit ParameterServer(MPI_Comm communicator = MPI_COMM_WORLD) : connection_(communicator) {
    require(connection_.size() >= 2,
            "ParameterServer: there is one rank, expected a server and at least one worker: mpirun -n 2");
    working_.assign(static_cast<std::size_t>(connection_.size()), 1);
    versions_.assign(static_cast<std::size_t>(connection_.size()), 0);
  }
  ~ParameterServer() {
    if (!connection_.usable()) return;
    if (is_server())
      end_workers();
    else if (!ended_)
      leave(Kind::leaves, {});
  }
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;

  bool is_server() const { return connection_.rank() == 0; }
  std::size_t rank() const { return static_cast<std::size_t>(connection_.rank()); }
  std::size_t workers() const { return static_cast<std::size_t>(connection_.size()) - 1; }
  // On a worker: whether the server has ended, or this worker has told it that it leaves.
  bool ended() const { return ended_; }
  // On the server: `seconds` is wall-clock time since its first step began. The mean delay is that of gradients that
  // have arrived.
  const AsynchronousLog& log() const { return log_; }

 private:
  friend struct MpiServer;
  enum class Kind : std::uint64_t { gradient, leaves, diverged, values, end };
  static constexpr int tag = 0;

  // A message is a header, followed by `count` elements of `bytes` bytes, or by the text of a failure.
  struct Header {
    Kind kind = Kind::end;
    std::uint64_t count = 0, bytes = 0;
    double loss = 0;
  };

  void send(int to, const Header& header, const void* data) {
    message_.resize(sizeof header + header.count * header.bytes);
    std::memcpy(message_.data(), &header, sizeof header);
    if (header.count > 0) std::memcpy(message_.data() + sizeof header, data, header.count * header.bytes);
    MPI_Send(message_.data(), static_cast<int>(message_.size()), MPI_BYTE, to, tag, connection_.communicator());
  }
  // Receives a whole message in message_. Returns its sender.
  int receive(int from, Header& header) {
    MPI_Status status;
    MPI_Probe(from, tag, connection_.communicator(), &status);
    connection_.receive(status, message_);
    std::memcpy(&header, message_.data(), sizeof header);
    return status.MPI_SOURCE;
  }
  template <class S>
  void copy_elements(const Header& header, S* to, std::size_t n, int from) const {
    require(header.count == n && header.bytes == sizeof(S), "MpiServer: rank ", from, " has sent ", header.count,
            " elements of ", header.bytes, " bytes, and rank ", connection_.rank(), " has a model of ", n, " of ",
            sizeof(S));
    std::memcpy(to, message_.data() + sizeof header, n * sizeof(S));
  }

  // Worker: receives the parameters, or that the server ends.
  template <class S>
  void receive_values(S* values, std::size_t n) {
    Header header;
    receive(0, header);
    waits_ = true;
    ended_ = header.kind == Kind::end;
    if (!ended_) copy_elements(header, values, n, 0);
  }
  // Worker: tells the server that it leaves. A worker that has not begun first receives what the server sends at the
  // start.
  void leave(Kind kind, const std::string& reason) {
    Header header;
    if (!waits_) receive(0, header);
    if (waits_ || header.kind != Kind::end) send(0, {kind, reason.size(), 1, 0}, reason.data());
    ended_ = true;
  }

  // Server: sends the parameters to a worker.
  template <class S>
  void send_values(int worker, const S* values, std::size_t n) {
    send(worker, {Kind::values, n, sizeof(S), 0}, values);
    versions_[static_cast<std::size_t>(worker)] = log_.applied;
    owed_ = 0;
  }
  // Server: waits for the next gradient of any worker; returns that worker. Throws Error if all have left, and
  // RankFailure if a worker's loss is not finite.
  template <class S>
  int receive_gradient(S* gradient, std::size_t n, double& loss) {
    for (;;) {
      Header header;
      const int worker = receive(MPI_ANY_SOURCE, header);
      if (header.kind == Kind::gradient) {
        owed_ = worker;
        copy_elements(header, gradient, n, worker);
        loss = header.loss;
        return worker;
      }
      working_[static_cast<std::size_t>(worker)] = 0;
      if (header.kind == Kind::diverged)
        throw RankFailure::of(static_cast<std::size_t>(worker), workers() + 1, message_.substr(sizeof header), true);
      require(any_works(), "MpiServer: rank ", worker, " has ended, and no worker is left");
    }
  }
  bool any_works() const {
    for (std::size_t w = 1; w < working_.size(); ++w)
      if (working_[w] != 0) return true;
    return false;
  }
  // Server: answers each worker's last gradient with the end.
  void end_workers() {
    const auto end = [&](int worker) {
      send(worker, {}, nullptr);
      working_[static_cast<std::size_t>(worker)] = 0;
    };
    if (loop_ == nullptr)
      for (int worker = 1; worker < connection_.size(); ++worker) end(worker);
    if (owed_ > 0) end(owed_);
    while (any_works()) {
      Header header;
      const int worker = receive(MPI_ANY_SOURCE, header);
      if (header.kind == Kind::gradient)
        end(worker);
      else
        working_[static_cast<std::size_t>(worker)] = 0;
    }
  }

  detail::MpiConnection connection_;
  std::string message_;
  const void* loop_ = nullptr;           // the parameters of the loop that this serves, once it has begun
  bool waits_ = false, ended_ = false;   // worker: whether the server has sent something; ended()
  int owed_ = 0;                         // server: the worker whose gradient was not answered yet, or 0
  std::vector<char> working_;            // server: by rank, 1 for workers that have not left
  std::vector<std::uint64_t> versions_;  // server: by rank, the updates when the parameters were sent
  AsynchronousLog log_;
  detail::Delays delays_;
  double start_ = 0;  // by MPI_Wtime
};

// On the server, each step of the loop is one gradient that arrives: the rule applies it, and its worker gets the new
// parameters. On a worker, each step computes a gradient on the batch that its selector chose, sends it, and waits for
// parameters. The batches that the server's selector chooses are not used. The learning rate and the rule are the
// server's. Give each worker a selector with a seed or a shard of its own, and a Seed of its own for dropout; the
// initial parameters are the server's.
// A gradient's delay is the number of updates since its worker got its parameters; `stale` says what happens if it
// exceeds the number of workers, as in AsynchronousServer. A worker computes the change of a buffer, such as a running
// average of batch norm, and the server applies 1 / workers of it. The order of arrivals, and so the result, differs
// from run to run. Checkpoints contain the server's parameters and rule; in a run that continues from one, workers
// begin their selections again. Errors: the server throws RankFailure if the loss of a worker is not finite. It throws
// Error if all workers have left, if the model of a worker has another size, or if the rule recomputes gradients (sam,
// armijo). The parameters must have less than 2 GB. Source: Koloskova, Stich & Jaggi 2022 (arXiv:2206.08307), Algorithm
// 1. Backend Host.
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
    const std::size_t n = context.layout().size();
    require(n * sizeof(typename Context::Scalar) < (std::size_t{1} << 31) - 1024, "MpiServer: ", n,
            " parameters have 2 GB or more");
    return {context.make_rule_state()};
  }

  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    const bool begins = server->loop_ == nullptr;
    require(begins || server->loop_ == context.values(), "MpiServer: this ParameterServer serves another loop");
    require(!server->ended(), "MpiServer: the server has ended; pass the worker's run UntilServerEnds");
    server->loop_ = context.values();
    return server->is_server() ? serve(context, state, begins) : work(context, begins);
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rule;
  }

 private:
  template <class Context>
  double work(Context& context, bool begins) const {
    using S = typename Context::Scalar;
    const std::size_t n = context.layout().size();
    if (begins) {
      server->receive_values(context.values(), n);
      if (server->ended()) return 0;
    }
    double loss = 0;
    try {
      loss = context.gradient(0, context.values(), context.gradients());
    } catch (const typename Context::Divergence& diverged) {
      server->leave(ParameterServer::Kind::diverged, diverged.what());
      throw;
    }
    server->send(0, {ParameterServer::Kind::gradient, n, sizeof(S), loss}, context.gradients());
    server->receive_values(context.values(), n);
    return loss;
  }

  template <class Context>
  double serve(Context& context, State<Context>& state, bool begins) const {
    using S = typename Context::Scalar;
    const std::size_t n = context.layout().size();
    AsynchronousLog& log = server->log_;
    if (begins) {
      server->start_ = MPI_Wtime();
      for (std::size_t w = 1; w <= server->workers(); ++w)
        server->send_values(static_cast<int>(w), static_cast<const S*>(context.values()), n);
    }
    double loss = 0;
    const int worker = server->receive_gradient(context.gradients(), n, loss);
    const std::uint64_t delay = log.applied - server->versions_[static_cast<std::size_t>(worker)];
    const std::uint64_t bound = server->workers();
    server->delays_.add(delay);
    const bool applied = detail::apply_stale(context, state.rule, stale, delay, bound, [] {
      fail("MpiServer: the rule recomputes gradients, which a server cannot");
    });
    ++(applied ? log.applied : log.dropped);
    server->send_values(worker, static_cast<const S*>(context.values()), n);
    log.seconds = MPI_Wtime() - server->start_;
    log.largest_delay = server->delays_.largest;
    log.mean_delay = static_cast<double>(server->delays_.sum) / static_cast<double>(server->delays_.count);
    return loss;
  }
};

}  // namespace algoperf
