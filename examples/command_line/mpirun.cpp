#include "mpirun.hpp"

#include <algoperf/core/error.hpp>
#include <cstdlib>
#if EXAMPLES_HAVE_MPI
#include <algoperf/tuning/rank_runner.hpp>
#endif

std::shared_ptr<algoperf::TaskRunner> runner_of_mpirun() {
  const char* size = nullptr;
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})  // Open MPI; MPICH
    if (size == nullptr) size = std::getenv(name);
  if (size == nullptr || std::atoi(size) < 2) return nullptr;
#if EXAMPLES_HAVE_MPI
  static const auto runner = std::make_shared<algoperf::RankRunner>();
  return runner;
#else
  algoperf::fail("this program was built without MPI, so mpirun would start ", size, " studies");
#endif
}
