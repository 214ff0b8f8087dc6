// RankRunner: runs the trials of a study on the ranks of MPI, each on the next one that is free. Component `mpi`.
//
//   const auto ranks = std::make_shared<RankRunner>();
//   Study study({.folder = "out", .studies = 3, .trials = 5, .runner = ranks});
//   study.add(GlyphDigits{}, AdamWBaseline{});
//   const auto records = study.run();          // on all ranks
//   if (ranks->is_root()) std::printf("%s", format_study(records).c_str());
//
//   mpirun -n 5 ./program                      four trials at a time; rank 0 gives them out and writes the journal
//
// All ranks run the same program and get the same results. The journal is that of a study in processes, so either
// continues the other; only rank 0 needs its folder. A trial that throws is a failure; one that crashes ends all ranks,
// and the study continues from its journal. If one rank alone throws outside of a trial, e.g. because it cannot read
// the data, it must end the others by MPI_Abort, which mpirun does for it if the exception is not caught.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "../combine/group/mpi_connection.hpp"
#include "../core/error.hpp"
#include "task_runner.hpp"

namespace algoperf {

class RankRunner final : public TaskRunner {
 public:
  explicit RankRunner(MPI_Comm communicator = MPI_COMM_WORLD) : connection_(communicator) {}

  bool is_root() const override { return connection_.rank() == 0; }
  // Rank 0 runs no trials, unless it is alone.
  std::size_t jobs() const override {
    return connection_.size() == 1 ? 1 : static_cast<std::size_t>(connection_.size() - 1);
  }

  void share(std::string& text, const std::string& failure) override {
    std::string told = failure;
    broadcast(told);
    if (told.empty()) return broadcast(text);
    if (!is_root()) fail("rank 0 of ", connection_.size(), ": ", told);
  }

  void run(const std::vector<std::size_t>& tasks, const std::function<std::string(std::size_t)>& function,
           const std::function<void(const TaskResult&)>& done) override {
    if (connection_.size() == 1) return run_in_processes(tasks, 0, function, done);
    if (is_root())
      give_out(tasks, done);
    else
      work(function, done);
  }

 private:
  enum Tag : int { for_worker, for_root };
  static constexpr std::uint64_t no_task = ~std::uint64_t{0};

  // What a worker sends: its task, no_task at first, and the result.
  struct Header {
    std::uint64_t task = no_task, value_bytes = 0, failure_bytes = 0;
  };

  // Rank 0: gives each rank that asks the next task, and sends all results to all ranks at the end.
  void give_out(const std::vector<std::size_t>& tasks, const std::function<void(const TaskResult&)>& done) {
    std::string results, failure;
    std::size_t next = 0;
    for (int working = connection_.size() - 1; working > 0;) {
      int from = 0;
      const std::string message = receive(MPI_ANY_SOURCE, for_root, from);
      Header header;
      std::memcpy(&header, message.data(), sizeof header);
      if (header.task != no_task && failure.empty()) {
        results += message;
        try {
          done(result_of(message.data()));
        } catch (...) {
          failure = detail::describe_exception();
        }
      }
      const bool more = next < tasks.size() && failure.empty();
      const std::uint64_t task = more ? tasks[next++] : no_task;
      MPI_Send(&task, sizeof task, MPI_BYTE, from, for_worker, connection_.communicator());
      if (!more) --working;
    }
    broadcast(results);
    broadcast(failure);
    require(failure.empty(), failure);
  }

  // Other ranks: ask for tasks until there are none, then receive the results of all.
  void work(const std::function<std::string(std::size_t)>& function,
            const std::function<void(const TaskResult&)>& done) {
    Header header;
    for (std::string text;;) {
      std::string message(reinterpret_cast<const char*>(&header), sizeof header);
      message += text;
      require(message.size() < detail::MpiConnection::longest, "RankRunner: the result of task ", header.task, " has ",
              text.size(), " bytes");
      MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, 0, for_root, connection_.communicator());
      std::uint64_t task = no_task;
      int from = 0;
      const std::string answer = receive(0, for_worker, from);
      std::memcpy(&task, answer.data(), sizeof task);
      if (task == no_task) break;
      header = {.task = task};
      try {
        text = function(static_cast<std::size_t>(task));
        header.value_bytes = text.size();
      } catch (...) {
        text = detail::describe_exception();
        header.failure_bytes = text.size();
      }
    }
    std::string results, failure;
    broadcast(results);
    broadcast(failure);
    if (!failure.empty()) fail("rank 0 of ", connection_.size(), ": ", failure);
    for (std::size_t at = 0; at < results.size();) {
      const TaskResult result = result_of(results.data() + at);
      at += sizeof(Header) + result.value.size() + result.failure.size();
      done(result);
    }
  }

  static TaskResult result_of(const char* message) {
    Header header;
    std::memcpy(&header, message, sizeof header);
    const char* const text = message + sizeof header;
    return {static_cast<std::size_t>(header.task), std::string(text, header.value_bytes),
            std::string(text + header.value_bytes, header.failure_bytes)};
  }

  // Sleeps while there is no message: MPI's own waiting would keep a processor busy, on which a trial may run.
  std::string receive(int source, Tag tag, int& from) const {
    MPI_Status status;
    for (int found = 0;;) {
      MPI_Iprobe(source, tag, connection_.communicator(), &found, &status);
      if (found != 0) break;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    std::string message;
    connection_.receive(status, message);
    from = status.MPI_SOURCE;
    return message;
  }

  // Sends rank 0's text to all ranks.
  void broadcast(std::string& text) const {
    MPI_Request request = MPI_REQUEST_NULL;
    std::uint64_t bytes = text.size();
    MPI_Ibcast(&bytes, sizeof bytes, MPI_BYTE, 0, connection_.communicator(), &request);
    wait_for(request);
    text.resize(bytes);
    for (std::size_t done = 0; done < text.size(); done += detail::MpiConnection::longest) {
      const std::size_t left = text.size() - done;
      MPI_Ibcast(text.data() + done,
                 static_cast<int>(left < detail::MpiConnection::longest ? left : detail::MpiConnection::longest),
                 MPI_BYTE, 0, connection_.communicator(), &request);
      wait_for(request);
    }
  }
  static void wait_for(MPI_Request& request) {
    for (int done = 0;;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) return;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  detail::MpiConnection connection_;
};

}  // namespace algoperf
