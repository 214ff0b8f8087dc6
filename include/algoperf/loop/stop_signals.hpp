#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>

#include "../core/config.hpp"

namespace algoperf {

// Handles SIGINT and SIGTERM during its lifetime: the first signal is recorded, a second terminates the process as
// usual. Any number of objects may exist, in any threads. The previous handlers are restored when the last object is
// destroyed.
class StopSignals {
 public:
  StopSignals() {
    pthread_mutex_lock(&mutex_);
    if (listeners_++ == 0) {
      heard_ = 0;
      listen(SIGINT, before_int_);
      listen(SIGTERM, before_term_);
    }
    pthread_mutex_unlock(&mutex_);
  }
  ~StopSignals() {
    pthread_mutex_lock(&mutex_);
    if (--listeners_ == 0) {
      sigaction(SIGINT, &before_int_, nullptr);
      sigaction(SIGTERM, &before_term_, nullptr);
    }
    pthread_mutex_unlock(&mutex_);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static bool heard() { return heard_ != 0; }

 private:
  using Action = struct sigaction;
  static void listen(int signal, Action& before) {
    Action action{};
    action.sa_handler = [](int) { heard_ = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal, &action, &before);
  }

  static_assert(std::atomic<int>::is_always_lock_free);
  static inline std::atomic<int> heard_{0};
  static inline pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  static inline int listeners_ = 0;
  static inline Action before_int_{}, before_term_{};
};

}  // namespace algoperf
