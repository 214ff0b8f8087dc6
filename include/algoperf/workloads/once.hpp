// Once: a value computed on first use and stored. A copy of a Once copies the stored value, so copies made after first
// use share their memory if T's copies do, as those of data sets do.
#pragma once

#include <optional>

#include "../core/config.hpp"

namespace algoperf::detail {

template <class T>
class Once {
 public:
  template <class Make>
  const T& operator()(const Make& make) const {
    if (!value_) value_.emplace(make());
    return *value_;
  }

 private:
  mutable std::optional<T> value_;
};

}  // namespace algoperf::detail
