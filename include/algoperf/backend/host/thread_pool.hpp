// ThreadPool: the worker threads of the process, started on first use and kept. Callers split work in a way that does
// not depend on the number of threads, so results do not depend on it either.
//
// A child process made by fork() has only the thread that called fork(); its pool starts new threads on first use. The
// caller must not fork() within a task.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <cstddef>
#include <exception>

#include "../../core/config.hpp"

namespace algoperf {

class ThreadPool {
 public:
  static constexpr unsigned max_threads = 256;

  static ThreadPool& instance() {
    static ThreadPool pool;
    return pool;
  }

  // Calls task(i) for i in [0, tasks) on up to `threads` threads, including the caller, and returns when all are
  // done. A call from within a task, or while another thread uses the pool, runs on the calling thread only. If a
  // task throws, the exception propagates to the caller: immediately if only the calling thread runs, otherwise after
  // all tasks are done. If several tasks throw, the first exception is rethrown.
  template <class Task>
  void parallel_for(unsigned threads, std::size_t tasks, const Task& task) {
    if (threads <= 1 || tasks <= 1 || !try_enter()) {
      for (std::size_t i = 0; i < tasks; ++i) task(i);
      return;
    }
    Job<Task> job{task};
    run(
        threads, tasks, [](void* j, std::size_t i) { static_cast<Job<Task>*>(j)->call(i); }, &job);
    __atomic_store_n(&busy_, false, __ATOMIC_RELEASE);
    if (job.error) std::rethrow_exception(job.error);
  }

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

 private:
  using Call = void (*)(void*, std::size_t);
  template <class Task>
  struct Job {
    const Task& task;
    bool failed = false;
    std::exception_ptr error = {};

    void call(std::size_t i) {
      try {
        task(i);
      } catch (...) {
        if (!__atomic_exchange_n(&failed, true, __ATOMIC_RELAXED)) error = std::current_exception();
      }
    }
  };
  static constexpr int spins = 2000;  // about 20 us: bridges the gap between two passes of one step

  ThreadPool();
  ~ThreadPool();

  void initialise_locks();
  // The child has none of the parent's workers, and its copy of the locks may be held by one of them.
  void restart_in_child();

  bool try_enter() { return !__atomic_exchange_n(&busy_, true, __ATOMIC_ACQUIRE); }

  void run(unsigned threads, std::size_t tasks, Call call, void* task);

  void drain(Call call, void* task, std::size_t tasks) {
    for (std::size_t i; (i = __atomic_fetch_add(&next_, std::size_t{1}, __ATOMIC_RELAXED)) < tasks;) call(task, i);
  }

  bool start_worker();

  void work();

  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

  pthread_mutex_t mutex_;
  pthread_cond_t wake_;
  pthread_t workers_[max_threads] = {};
  unsigned started_ = 0;
  bool busy_ = false, stop_ = false;
  // The current job, written under the mutex.
  Call call_ = nullptr;
  void* task_ = nullptr;
  std::size_t tasks_ = 0, next_ = 0;
  unsigned seats_ = 0, running_ = 0, generation_ = 0;
};

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED ALGOPERF_COLD ThreadPool::ThreadPool() {
  initialise_locks();
  pthread_atfork(nullptr, nullptr, [] { instance().restart_in_child(); });
}

ALGOPERF_COMPILED ALGOPERF_COLD ThreadPool::~ThreadPool() {
  pthread_mutex_lock(&mutex_);
  __atomic_store_n(&stop_, true, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&wake_);
  pthread_mutex_unlock(&mutex_);
  for (unsigned i = 0; i < started_; ++i) pthread_join(workers_[i], nullptr);
  pthread_cond_destroy(&wake_);
  pthread_mutex_destroy(&mutex_);
}

ALGOPERF_COMPILED ALGOPERF_COLD void ThreadPool::initialise_locks() {
  pthread_mutex_init(&mutex_, nullptr);
  pthread_cond_init(&wake_, nullptr);
}

ALGOPERF_COMPILED ALGOPERF_COLD void ThreadPool::restart_in_child() {
  initialise_locks();
  started_ = 0;
  busy_ = false;
  seats_ = running_ = generation_ = 0;
}

ALGOPERF_COMPILED void ThreadPool::run(unsigned threads, std::size_t tasks, Call call, void* task) {
  const unsigned helpers = (threads < max_threads ? threads : max_threads) - 1;
  while (started_ < helpers && start_worker()) continue;
  pthread_mutex_lock(&mutex_);
  call_ = call;
  task_ = task;
  tasks_ = tasks;
  next_ = 0;
  seats_ = started_ < helpers ? started_ : helpers;
  running_ = seats_;
  __atomic_add_fetch(&generation_, 1, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&wake_);
  pthread_mutex_unlock(&mutex_);
  drain(call, task, tasks);
  // Withdraw the seats that no worker has claimed, then wait for the workers that claimed one.
  pthread_mutex_lock(&mutex_);
  __atomic_sub_fetch(&running_, seats_, __ATOMIC_ACQ_REL);
  seats_ = 0;
  pthread_mutex_unlock(&mutex_);
  for (int i = 0; __atomic_load_n(&running_, __ATOMIC_ACQUIRE) != 0; ++i) {
    if (i < spins)
      pause();
    else
      sched_yield();  // a worker may be waiting for this processor
  }
}

ALGOPERF_COMPILED ALGOPERF_COLD bool ThreadPool::start_worker() {
  const auto body = [](void* pool) -> void* {
    static_cast<ThreadPool*>(pool)->work();
    return nullptr;
  };
  if (pthread_create(&workers_[started_], nullptr, body, this) != 0) return false;
  ++started_;
  return true;
}

ALGOPERF_COMPILED void ThreadPool::work() {
  unsigned seen = 0;
  for (;;) {
    for (int i = 0; i < spins && __atomic_load_n(&generation_, __ATOMIC_ACQUIRE) == seen; ++i) pause();
    pthread_mutex_lock(&mutex_);
    while (generation_ == seen && !stop_) pthread_cond_wait(&wake_, &mutex_);
    if (stop_) {
      pthread_mutex_unlock(&mutex_);
      return;
    }
    seen = generation_;
    const bool seated = seats_ > 0;
    if (seated) --seats_;
    const Call call = call_;
    void* const task = task_;
    const std::size_t tasks = tasks_;
    pthread_mutex_unlock(&mutex_);
    if (!seated) continue;
    drain(call, task, tasks);
    __atomic_sub_fetch(&running_, 1, __ATOMIC_ACQ_REL);
  }
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf
