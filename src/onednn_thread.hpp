// OneOpenMpThread: keeps oneDNN's own threads out of what the backend's do.
#pragma once

#include <omp.h>

namespace algoperf {

// One thread for oneDNN in the calling thread while it lives; the caller's choice comes back.
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
