// Mpi: ranks that are processes, started by mpirun. Component `mpi`.
//
//   int main() {
//     TrainingLoop loop(model, loss, rule, schedule, selector, Mean{}, Mpi{});
//     loop.run(data, Evaluate{task, {.every = 500}}, UntilStep{4000}, ProgressBar{});
//   }
//
//   mpirun -n 4 ./program
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../concept.hpp"
#include "communicator.hpp"
#include "mpi_connection.hpp"

namespace algoperf {

namespace detail {

class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(MPI_Comm from) : connection_(from) {
    MPI_Comm_set_errhandler(connection_.communicator(), MPI_ERRORS_RETURN);
  }

  std::size_t rank() const override { return static_cast<std::size_t>(connection_.rank()); }
  std::size_t size() const override { return static_cast<std::size_t>(connection_.size()); }
  void exchange(const void* out, std::span<const ByteRange> to, void* in, std::span<const ByteRange> from) override {
    char* const received = static_cast<char*>(in);
    const char* const sent = static_cast<const char*>(out);
    requests_.clear();
    expected_.clear();
    try {
      for (std::size_t i = 1; i < size(); ++i) {
        const std::size_t source = (rank() + size() - i) % size();
        in_pieces(from[source], [&](std::size_t begin, int bytes) {
          expected_.push_back(bytes);
          check(MPI_Irecv(received + begin, bytes, MPI_BYTE, static_cast<int>(source), 0, connection_.communicator(),
                          next_request()));
        });
      }
      for (std::size_t i = 1; i < size(); ++i) {
        const std::size_t target = (rank() + i) % size();
        in_pieces(to[target], [&](std::size_t begin, int bytes) {
          check(MPI_Isend(sent + begin, bytes, MPI_BYTE, static_cast<int>(target), 0, connection_.communicator(),
                          next_request()));
        });
      }
      if (to[rank()].size > 0) std::memcpy(received + from[rank()].begin, sent + to[rank()].begin, to[rank()].size);
      statuses_.resize(requests_.size());
      check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), statuses_.data()));
    } catch (...) {
      for (MPI_Request& request : requests_)
        if (request != MPI_REQUEST_NULL) {
          MPI_Cancel(&request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
      throw;
    }
    for (std::size_t i = 0; i < expected_.size(); ++i) {  // the first requests receive
      int bytes = 0;
      MPI_Get_count(&statuses_[i], MPI_BYTE, &bytes);
      require(bytes == expected_[i], "Mpi: rank ", rank(), " of ", size(), " expected ", expected_[i],
              " bytes of a rank that sent ", bytes, ": ranks made different calls");
    }
  }

 private:
  template <class F>
  static void in_pieces(const ByteRange& range, const F& f) {
    for (std::size_t done = 0; done < range.size; done += MpiConnection::longest) {
      const std::size_t left = range.size - done;
      f(range.begin + done, static_cast<int>(left < MpiConnection::longest ? left : MpiConnection::longest));
    }
  }
  MPI_Request* next_request() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
  void check(int code) const {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    fail("Mpi: rank ", rank(), " of ", size(), ": ", std::string(text));
  }

  MpiConnection connection_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> expected_;  // bytes of each message that is received
};

}  // namespace detail

struct Mpi {
  static constexpr bool is_worker_group = true;
  std::size_t workers = 1;                 // of each rank, one after the other as in InProcess
  MPI_Comm communicator = MPI_COMM_WORLD;  // every rank of it must construct the loop

  Communicator* connect() const { return new detail::MpiCommunicator(communicator); }
};

// Returns this rank's number among the ranks of its machine, from 0: which of the machine's GPUs it should use. All
// ranks of the group must call it.
inline std::size_t local_rank(const Mpi& group) {
  detail::start_mpi();
  MPI_Comm here = MPI_COMM_NULL;
  require(MPI_Comm_split_type(group.communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) == MPI_SUCCESS,
          "Mpi: the ranks of this machine cannot be found");
  int rank = 0;
  MPI_Comm_rank(here, &rank);
  MPI_Comm_free(&here);
  return static_cast<std::size_t>(rank);
}

}  // namespace algoperf
