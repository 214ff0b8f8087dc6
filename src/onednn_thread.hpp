// OneOpenMpThread: limits oneDNN to one thread, because the backend runs its own threads.
#pragma once

#include <omp.h>

namespace algoperf {

// Sets the OpenMP thread count of the calling thread to one for its lifetime, then restores the previous count.
class OneOpenMpThread {
 public:
  OneOpenMpThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneOpenMpThread() { omp_set_num_threads(before_); }
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  int before_;
};

}  // namespace algoperf
