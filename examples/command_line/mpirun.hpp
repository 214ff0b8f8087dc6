// runner_of_mpirun(): trials on the ranks of mpirun. This header does not include MPI's, which not every machine has.
#pragma once

#include <memory>

namespace algoperf {
class TaskRunner;
}

// Returns a RankRunner if mpirun started this program with several ranks, else null. Throws algoperf::Error if mpirun
// did, and the examples were built without MPI.
std::shared_ptr<algoperf::TaskRunner> runner_of_mpirun();

// Ends all ranks, if mpirun started this program with several. To be called after an error that others may not share.
void end_other_ranks();
