// SharedData: the data of a workload, loaded on first use. All workloads of the program that load with the same key
// share it, so that variants of a workload, and copies, need no memory of their own. It is freed with the last of them.
// Threads may load, copy and destroy different workloads at the same time, and may load the same key from one workload.
// Without <memory> and <mutex>, programs compile with 20 MB less memory (docs/compile-time.md).
#pragma once

#include <pthread.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../core/config.hpp"

namespace algoperf::detail {

template <class T>
class SharedData {
 public:
  SharedData() = default;
  SharedData(const SharedData& other) {
    const Lock lock;
    held_ = other.held_;
    if (held_ != nullptr) ++held_->holders;
  }
  SharedData(SharedData&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  SharedData& operator=(SharedData other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~SharedData() { release(held_); }

  // Returns the data of `key`, which must name everything on which the data depends. Calls make() if no workload holds
  // it. Other threads wait for that, so make() must not load, copy or destroy SharedData of this type.
  template <class Make>
  const T& operator()(const std::string& key, const Make& make) const {
    Held* before = nullptr;
    const T* value = nullptr;
    {
      const Lock lock;
      if (held_ == nullptr || held_->key != key) before = std::exchange(held_, find(key, make));
      value = &held_->value;
    }
    release(before);
    return *value;
  }

 private:
  struct Held {
    std::string key;
    T value;
    std::size_t holders = 0;
  };
  // All loaded data. Access to it, and to the numbers of holders, needs the mutex.
  struct Registry {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    std::vector<Held*> held = {};
  };
  // It is never destroyed, because static workloads may be destroyed after it.
  static Registry& registry() {
    static Registry& registry = *new Registry;
    return registry;
  }
  struct Lock {
    Lock() { pthread_mutex_lock(&registry().mutex); }
    ~Lock() { pthread_mutex_unlock(&registry().mutex); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
  };

  // Returns the data of `key`, loaded if necessary, with one more holder. The caller owns the lock.
  template <class Make>
  static Held* find(const std::string& key, const Make& make) {
    std::vector<Held*>& all = registry().held;
    std::size_t i = 0;
    while (i < all.size() && all[i]->key != key) ++i;
    if (i == all.size()) {
      all.reserve(i + 1);  // push_back cannot throw
      all.push_back(new Held{key, make()});
    }
    ++all[i]->holders;
    return all[i];
  }
  ALGOPERF_COLD static void release(Held* held) {
    if (held == nullptr) return;
    {
      const Lock lock;
      if (--held->holders > 0) return;
      std::vector<Held*>& all = registry().held;
      std::size_t i = 0;
      while (all[i] != held) ++i;
      all[i] = all.back();
      all.pop_back();
    }
    delete held;
  }

  mutable Held* held_ = nullptr;
};

}  // namespace algoperf::detail
