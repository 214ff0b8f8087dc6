// UpdateExchange: the connection of the workers of MpiAllToAll. Component `mpi`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "../../core/error.hpp"
#include "../group/mpi_connection.hpp"
#include "../group/ranks.hpp"
#include "asynchronous_log.hpp"

namespace algoperf {

// The connection of the workers. It serves one loop on each rank. Its destructor lets this rank leave, unless it has
// settled: the others go on without it. It then waits until all have settled or left. Between the first step and that,
// a rank must make no other collective call (destroy the exchange first after an exception), because the others may
// wait for it to receive their changes.
class UpdateExchange {
 public:
  // All ranks of the communicator construct one.
  explicit UpdateExchange(MPI_Comm communicator = MPI_COMM_WORLD) : connection_(communicator) {
    working_.assign(static_cast<std::size_t>(connection_.size()), 1);
    known_.assign(static_cast<std::size_t>(connection_.size()), 0);
  }
  ~UpdateExchange() {
    if (!connection_.usable()) return;
    try {
      wait_for_all([](const Header&, int) {}, false, Kind::leaves);
    } catch (...) {  // there is no memory for messages, for which the others would wait
      MPI_Abort(connection_.communicator(), 1);
    }
  }
  UpdateExchange(const UpdateExchange&) = delete;
  UpdateExchange& operator=(const UpdateExchange&) = delete;

  std::size_t rank() const { return static_cast<std::size_t>(connection_.rank()); }
  std::size_t workers() const { return static_cast<std::size_t>(connection_.size()); }
  // Whether another rank has settled, as far as this rank has received.
  bool another_has_ended() const { return another_has_ended_; }
  // `applied` counts the steps of this rank and the changes that it has received; `seconds` is wall-clock time from its
  // first step or receive() to its last step or the end of settle(). The delay of a change is the number of changes
  // that this rank's parameters contained when it received the change, and that the sender's lacked when it computed
  // the gradient.
  const AsynchronousLog& log() const { return log_; }

  // Adds the changes that have arrived, as each step does before its gradient. Throws RankFailure if the loss of
  // another rank is not finite.
  template <class Loop>
  void receive(Loop& loop) {
    join(loop.values(), loop.layout().size());
    receive_arrived(adder(loop.values(), loop.layout().size()));
  }
  // Ends this rank's training, and adds the changes of the others until all have ended. All ranks then have the same
  // parameters, up to rounding. No step may follow. Throws RankFailure if the loss of another rank is not finite.
  template <class Loop>
  void settle(Loop& loop) {
    join(loop.values(), loop.layout().size());
    wait_for_all(adder(loop.values(), loop.layout().size()), true, Kind::ends);
    log_.seconds = MPI_Wtime() - start_;
  }

 private:
  friend struct MpiAllToAll;
  enum class Kind : std::uint64_t { values, change, diverged, ends, leaves };
  static constexpr int tag = 0;

  // A message is a header, the sender's `known_`, and `count` elements of `bytes` bytes, or the text of a failure.
  struct Header {
    Kind kind = Kind::ends;
    std::uint64_t count = 0, bytes = 0;
  };
  // A message on its way to several ranks.
  struct Sent {
    std::string message;
    std::vector<MPI_Request> requests;
  };

  // Sends a message to all other ranks, and returns before they have received it. Those that have ended need it, too.
  void send_to_all(const Header& header, const std::vector<std::uint64_t>& known, const void* data) {
    sent_.emplace_back();
    std::string& message = sent_.back().message;
    message.append(reinterpret_cast<const char*>(&header), sizeof header);
    message.append(reinterpret_cast<const char*>(known.data()), known.size() * sizeof known[0]);
    message.append(static_cast<const char*>(data), header.count * header.bytes);
    for (int to = 0; to < connection_.size(); ++to) {
      if (to == connection_.rank()) continue;
      sent_.back().requests.push_back(MPI_REQUEST_NULL);
      MPI_Issend(message.data(), static_cast<int>(message.size()), MPI_BYTE, to, tag, connection_.communicator(),
                 &sent_.back().requests.back());
    }
  }
  // Frees the messages that all ranks have received. Returns how many are left.
  std::size_t pending() {
    std::erase_if(sent_, [](Sent& each) {
      int all = 0;
      MPI_Testall(static_cast<int>(each.requests.size()), each.requests.data(), &all, MPI_STATUSES_IGNORE);
      return all != 0;
    });
    return sent_.size();
  }

  // Receives a whole message in message_, after a successful probe.
  Header receive_probed(const MPI_Status& status) {
    connection_.receive(status, message_);
    Header header;
    std::memcpy(&header, message_.data(), sizeof header);
    return header;
  }
  // What the sender of message_ knew, and its elements or text.
  const char* known_of_sender() const { return message_.data() + sizeof(Header); }
  const char* payload() const { return known_of_sender() + known_.size() * sizeof known_[0]; }

  template <class S>
  void require_elements(const Header& header, std::size_t n, int from) const {
    require(header.count == n && header.bytes == sizeof(S), "MpiAllToAll: rank ", from, " has sent ", header.count,
            " elements of ", header.bytes, " bytes, and rank ", connection_.rank(), " has a model of ", n, " of ",
            sizeof(S));
  }
  // Returns a function that subtracts a received change from the values: a change is what a step has taken away.
  template <class S>
  auto adder(S* values, std::size_t n) {
    return [this, values, n](const Header& header, int from) {
      require_elements<S>(header, n, from);
      const char* const bytes = payload();
      for (std::size_t i = 0; i < n; ++i) {
        S change;
        std::memcpy(&change, bytes + i * sizeof(S), sizeof(S));
        values[i] -= change;
      }
      count_received(from);
    };
  }
  void count_received(int from) {
    std::uint64_t delay = 0;
    for (std::size_t r = 0; r < known_.size(); ++r) {
      std::uint64_t of_sender = 0;
      std::memcpy(&of_sender, known_of_sender() + r * sizeof of_sender, sizeof of_sender);
      if (static_cast<int>(r) != from && known_[r] > of_sender) delay += known_[r] - of_sender;
    }
    ++known_[static_cast<std::size_t>(from)];
    ++log_.applied;
    delays_.add(delay);
    log_.largest_delay = delays_.largest;
    log_.mean_delay = static_cast<double>(delays_.sum) / static_cast<double>(delays_.count);
  }

  // Receives what has arrived, but no more than 64 messages of each rank, so that this rank also makes steps. Calls
  // add(header, sender) for changes. `throws`: if the loss of another rank is not finite.
  template <class AddChange>
  void receive_arrived(const AddChange& add, bool throws = true) {
    for (std::size_t most = 64 * workers(); most > 0; --most) {
      int any = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, tag, connection_.communicator(), &any, &status);
      if (any == 0) return;
      const Header header = receive_probed(status);
      const int from = status.MPI_SOURCE;
      if (header.kind == Kind::change) {
        add(header, from);
        continue;
      }
      if (header.kind == Kind::values) continue;  // for a rank that ends without a step
      working_[static_cast<std::size_t>(from)] = 0;
      another_has_ended_ = another_has_ended_ || header.kind == Kind::ends;
      if (header.kind == Kind::diverged && throws)
        throw RankFailure::of(static_cast<std::size_t>(from), workers(), std::string(payload(), header.count), true);
    }
  }
  // Receives until `met` returns true.
  template <class AddChange, class Met>
  void receive_until(const AddChange& add, bool throws, const Met& met) {
    while (!met()) {
      receive_arrived(add, throws);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  // Tells the others that this rank ends or leaves, and receives until all have, and have received what this rank has
  // sent.
  template <class AddChange>
  void wait_for_all(const AddChange& add, bool throws, Kind kind) {
    end(kind, {});
    receive_until(add, throws, [this] {
      if (pending() > 0) return false;
      for (std::size_t r = 0; r < working_.size(); ++r)
        if (working_[r] != 0 && r != rank()) return false;
      return true;
    });
  }
  void end(Kind kind, const std::string& reason) {
    if (ended_) return;
    send_to_all({kind, reason.size(), 1}, known_, reason.data());
    ended_ = true;
  }

  // Begins, unless the loop has begun: all ranks begin with the parameters of rank 0. A rank that cannot begin leaves.
  template <class S>
  void join(S* values, std::size_t n) {
    require(loop_ == nullptr || loop_ == values, "MpiAllToAll: this UpdateExchange serves another loop");
    if (loop_ != nullptr) return;
    require(!ended_, "MpiAllToAll: this rank's UpdateExchange has ended");
    start_ = MPI_Wtime();
    if (connection_.rank() == 0) {
      send_to_all({Kind::values, n, sizeof(S)}, known_, values);
    } else {
      MPI_Status status;
      MPI_Probe(0, tag, connection_.communicator(), &status);
      const Header header = receive_probed(status);
      if (header.kind != Kind::values) working_[0] = 0;
      if (header.kind != Kind::values || header.count != n || header.bytes != sizeof(S)) end(Kind::leaves, {});
      require(header.kind == Kind::values, "MpiAllToAll: rank 0 has ended before its first step");
      require_elements<S>(header, n, 0);
      std::memcpy(values, payload(), n * sizeof(S));
    }
    loop_ = values;
  }

  detail::MpiConnection connection_;
  std::string message_;         // received
  std::list<Sent> sent_;        // not received by all yet
  bool claimed_ = false;        // by a loop
  const void* loop_ = nullptr;  // the parameters of the loop that this serves, once it has begun
  bool ended_ = false;          // whether this rank has told the others that it ends
  bool another_has_ended_ = false;
  std::vector<char> working_;         // by rank, 1 for ranks that have not ended
  std::vector<std::uint64_t> known_;  // by rank, its changes that this rank's parameters contain
  AsynchronousLog log_;
  detail::Delays delays_;
  double start_ = 0;  // by MPI_Wtime
};

}  // namespace algoperf
