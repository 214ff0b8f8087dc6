// MpiConnection: a communicator of its own for each object that uses MPI. Component `mpi`.
#pragma once

#define OMPI_SKIP_MPICXX 1  // bindings for C++ that MPI no longer has
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstddef>
#include <cstdlib>
#include <string>

#include "../../core/error.hpp"

namespace algoperf::detail {

// Initialises MPI unless the program has, and then finalises it when the program exits.
inline void start_mpi() {
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0) return;
  int provided = 0;
  require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) == MPI_SUCCESS &&
              provided >= MPI_THREAD_FUNNELED,
          "Mpi: MPI cannot be initialised for a program with threads");
  std::atexit([] {
    int finished = 0;
    MPI_Finalized(&finished);
    if (finished == 0) MPI_Finalize();
  });
}

// Duplicates a communicator, so that the messages of its owner do not meet those of other objects or of the program.
// All ranks of the communicator construct one.
class MpiConnection {
 public:
  // Of a message, in bytes, which MPI counts with an int. Larger arrays are sent in pieces.
  static constexpr std::size_t longest = std::size_t{1} << 30;

  explicit MpiConnection(MPI_Comm from) {
    start_mpi();
    require(MPI_Comm_dup(from, &communicator_) == MPI_SUCCESS, "Mpi: the communicator cannot be duplicated");
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &size_);
  }
  ~MpiConnection() {
    if (usable()) MPI_Comm_free(&communicator_);
  }
  MpiConnection(const MpiConnection&) = delete;
  MpiConnection& operator=(const MpiConnection&) = delete;

  MPI_Comm communicator() const { return communicator_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  // False after the program has finalised MPI.
  bool usable() const {
    int finished = 0;
    MPI_Finalized(&finished);
    return finished == 0;
  }

  // Receives the message that a probe has found.
  void receive(const MPI_Status& found, std::string& message) const {
    int bytes = 0;
    MPI_Get_count(&found, MPI_BYTE, &bytes);
    message.resize(static_cast<std::size_t>(bytes));
    MPI_Recv(message.data(), bytes, MPI_BYTE, found.MPI_SOURCE, found.MPI_TAG, communicator_, MPI_STATUS_IGNORE);
  }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

}  // namespace algoperf::detail
