// Once: a value made at first use and kept. Copies made after that share it if it is cheap to copy, as data sets are.
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
