// Once: a value computed on first use and stored. Copying a Once copies the stored value. Copies made after the first
// use therefore share memory if copies of a T do (copies of a data set do).
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
