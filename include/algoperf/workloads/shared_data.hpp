// SharedData: the data of a workload, loaded on first use. All workloads of the program that load with the same key
// share it, so that variants of a workload, and copies, need no memory of their own. It is freed with the last of them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../core/config.hpp"

namespace algoperf::detail {

template <class T>
class SharedData {
 public:
  // Returns the data of `key`, which must name everything on which the data depends. Calls make() if no workload holds
  // it.
  template <class Make>
  const T& operator()(const std::string& key, const Make& make) const {
    if (!held_ || held_->key != key) held_ = find(key, make);
    return held_->value;
  }

 private:
  struct Held {
    std::string key;
    T value;
  };

  struct Registry {
    std::mutex mutex = {};
    std::vector<std::weak_ptr<const Held>> held = {};
  };

  static Registry& shared_registry() {
    static Registry registry;
    return registry;
  }
  template <class Make>
  static std::shared_ptr<const Held> find(const std::string& key, const Make& make) {
    Registry& registry = shared_registry();
    const std::lock_guard lock(registry.mutex);
    for (std::size_t i = registry.held.size(); i-- > 0;) {
      if (std::shared_ptr<const Held> held = registry.held[i].lock()) {
        if (held->key == key) return held;
      } else {  // freed
        registry.held[i] = registry.held.back();
        registry.held.pop_back();
      }
    }
    auto held = std::make_shared<const Held>(Held{key, make()});
    registry.held.push_back(held);
    return held;
  }

  mutable std::shared_ptr<const Held> held_;
};

}  // namespace algoperf::detail
