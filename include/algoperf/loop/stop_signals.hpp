#pragma once

#include <pthread.h>
#include <signal.h>

#include "../core/config.hpp"

namespace algoperf {

// Handles SIGINT and SIGTERM during its lifetime: the first signal is recorded, a second terminates the process as
// usual. A signal that the process ignores, e.g. SIGINT of a job that a shell runs in the background, stays ignored.
// Interrupted system calls are restarted. Any number of objects may exist, in any threads. The previous handlers are
// restored when the last object is destroyed.
class StopSignals {
 public:
  StopSignals() {
    pthread_mutex_lock(&mutex_);
    if (listeners_++ == 0) {
      __atomic_store_n(&heard_, 0, __ATOMIC_RELAXED);
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

  static bool heard() { return __atomic_load_n(&heard_, __ATOMIC_RELAXED) != 0; }

 private:
  using Action = struct sigaction;
  static void listen(int signal, Action& before) {
    sigaction(signal, nullptr, &before);
    if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN) return;
    Action action{};
    action.sa_handler = [](int) { __atomic_store_n(&heard_, 1, __ATOMIC_RELAXED); };
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(signal, &action, nullptr);
  }

  static_assert(__atomic_always_lock_free(sizeof(int), nullptr));
  static inline int heard_ = 0;
  static inline pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  static inline int listeners_ = 0;
  static inline Action before_int_{}, before_term_{};
};

}  // namespace algoperf
