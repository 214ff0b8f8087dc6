// BackgroundThread: runs one job at a time beside the caller's thread.
#pragma once

#include <pthread.h>

#include <exception>
#include <utility>

#include "../core/config.hpp"

namespace algoperf::detail {

// The thread starts with the first job and ends with the object, which waits for it.
class BackgroundThread {
 public:
  BackgroundThread() {
    pthread_mutex_init(&mutex_, nullptr);
    pthread_cond_init(&changed_, nullptr);
  }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;
  ~BackgroundThread();

  // Starts job(argument); there must be no other job. What it refers to must stay valid until wait() returns. Where no
  // thread can be started, runs the job at once.
  void start(void (*job)(void*), void* argument);
  // Waits for the job, if there is one. Returns the exception that ended it, or null.
  std::exception_ptr wait();

 private:
  struct Lock {
    pthread_mutex_t& mutex;
    explicit Lock(pthread_mutex_t& m) : mutex(m) { pthread_mutex_lock(&mutex); }
    ~Lock() { pthread_mutex_unlock(&mutex); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
  };

  void run_job();
  void serve();

  pthread_mutex_t mutex_;
  pthread_cond_t changed_;
  pthread_t thread_ = {};
  bool started_ = false, busy_ = false, ends_ = false;
  void (*job_)(void*) = nullptr;
  void* argument_ = nullptr;
  std::exception_ptr error_;
};

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED BackgroundThread::~BackgroundThread() {
  if (started_) {
    {
      const Lock lock(mutex_);
      ends_ = true;
      pthread_cond_broadcast(&changed_);
    }
    pthread_join(thread_, nullptr);
  }
  pthread_cond_destroy(&changed_);
  pthread_mutex_destroy(&mutex_);
}

ALGOPERF_COMPILED void BackgroundThread::start(void (*job)(void*), void* argument) {
  {
    const Lock lock(mutex_);
    job_ = job;
    argument_ = argument;
    busy_ = true;
    pthread_cond_broadcast(&changed_);
  }
  if (started_) return;
  const auto body = [](void* self) -> void* {
    static_cast<BackgroundThread*>(self)->serve();
    return nullptr;
  };
  started_ = pthread_create(&thread_, nullptr, body, this) == 0;
  if (!started_) {
    run_job();
    busy_ = false;
  }
}

ALGOPERF_COMPILED std::exception_ptr BackgroundThread::wait() {
  const Lock lock(mutex_);
  while (busy_) pthread_cond_wait(&changed_, &mutex_);
  return std::exchange(error_, nullptr);
}

ALGOPERF_COMPILED void BackgroundThread::run_job() {
  try {
    job_(argument_);
  } catch (...) {
    error_ = std::current_exception();
  }
}

ALGOPERF_COMPILED void BackgroundThread::serve() {
  for (;;) {
    {
      const Lock lock(mutex_);
      while (!busy_ && !ends_) pthread_cond_wait(&changed_, &mutex_);
      if (!busy_) return;
    }
    run_job();
    const Lock lock(mutex_);
    busy_ = false;
    pthread_cond_broadcast(&changed_);
  }
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf::detail
