#include "mpirun.hpp"

#include <algoperf/core/error.hpp>
#include <cstdlib>
#if EXAMPLES_HAVE_MPI
#include <algoperf/tuning/rank_runner.hpp>
#endif

namespace {

// Returns the number of processes that a launcher of MPI programs started, or null.
const char* launched_processes() {
  const char* size = nullptr;
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})  // Open MPI; MPICH and srun
    if (size == nullptr) size = std::getenv(name);
  if (size == nullptr && std::getenv("PMIX_RANK") != nullptr) size = std::getenv("SLURM_NTASKS");  // srun --mpi=pmix
  return size != nullptr && std::atoi(size) > 1 ? size : nullptr;
}

}  // namespace

void end_other_ranks() {
#if EXAMPLES_HAVE_MPI
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0 && launched_processes() != nullptr) MPI_Abort(MPI_COMM_WORLD, 1);
#endif
}

std::shared_ptr<algoperf::TaskRunner> runner_of_mpirun() {
  const char* const size = launched_processes();
  if (size == nullptr) return nullptr;
#if EXAMPLES_HAVE_MPI
  static const auto runner = std::make_shared<algoperf::RankRunner>();
  return runner;
#else
  algoperf::fail("this program was built without MPI, so mpirun would start ", size, " studies");
#endif
}
