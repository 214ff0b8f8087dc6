// Options: the hyperparameters of a rule or a schedule as numbers, for comparison with those of a saved run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config.hpp"
#include "tuple.hpp"

namespace algoperf::detail {

struct AnyField {
  template <class T>
  operator T() const;
};

// Returns the number of members of an aggregate without base classes, at most 16: the largest number of initial values
// that it accepts.
template <class T, std::size_t... I>
consteval std::size_t field_count(std::index_sequence<I...>) {
  if constexpr (requires { T{(static_cast<void>(I), AnyField{})...}; })
    return sizeof...(I);
  else
    return field_count<T>(std::make_index_sequence<sizeof...(I) - 1>{});
}

// Returns the name of a type as the compiler writes it.
template <class T>
constexpr std::string_view type_text() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  return text.substr(begin, text.find_first_of(";]", begin) - begin);
}
// Whether T was declared by this library, whose aggregates have no base classes; a type of the user may have some.
template <class T>
inline constexpr bool of_this_library = type_text<T>().starts_with("algoperf::");

template <class T>
inline constexpr bool is_tuple = false;
template <class... Ts>
inline constexpr bool is_tuple<Tuple<Ts...>> = true;

// Calls f(member) for each member of an aggregate without base classes.
template <class T, class F>
void for_each_field(const T& x, const F& f) {
  constexpr std::size_t count = field_count<T>(std::make_index_sequence<16>{});
  if constexpr (count == 1) {
    const auto& [f1] = x;
    (f(f1));
  } else if constexpr (count == 2) {
    const auto& [f1, f2] = x;
    (f(f1), f(f2));
  } else if constexpr (count == 3) {
    const auto& [f1, f2, f3] = x;
    (f(f1), f(f2), f(f3));
  } else if constexpr (count == 4) {
    const auto& [f1, f2, f3, f4] = x;
    (f(f1), f(f2), f(f3), f(f4));
  } else if constexpr (count == 5) {
    const auto& [f1, f2, f3, f4, f5] = x;
    (f(f1), f(f2), f(f3), f(f4), f(f5));
  } else if constexpr (count == 6) {
    const auto& [f1, f2, f3, f4, f5, f6] = x;
    (f(f1), f(f2), f(f3), f(f4), f(f5), f(f6));
  } else if constexpr (count == 7) {
    const auto& [f1, f2, f3, f4, f5, f6, f7] = x;
    (f(f1), f(f2), f(f3), f(f4), f(f5), f(f6), f(f7));
  } else if constexpr (count == 8) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8] = x;
    (f(f1), f(f2), f(f3), f(f4), f(f5), f(f6), f(f7), f(f8));
  } else if constexpr (count == 9) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9] = x;
    (f(f1), f(f2), f(f3), f(f4), f(f5), f(f6), f(f7), f(f8), f(f9));
  } else if constexpr (count == 10) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10] = x;
    (f(f1), f(f2), f(f3), f(f4), f(f5), f(f6), f(f7), f(f8), f(f9), f(f10));
  } else if constexpr (count == 11) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11] = x;
    (f(f1), f(f2), f(f3), f(f4), f(f5), f(f6), f(f7), f(f8), f(f9), f(f10), f(f11));
  } else if constexpr (count == 12) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12] = x;
    (f(f1), f(f2), f(f3), f(f4), f(f5), f(f6), f(f7), f(f8), f(f9), f(f10), f(f11), f(f12));
  } else if constexpr (count == 13) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13] = x;
    (f(f1), f(f2), f(f3), f(f4), f(f5), f(f6), f(f7), f(f8), f(f9), f(f10), f(f11), f(f12), f(f13));
  } else if constexpr (count == 14) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14] = x;
    (f(f1), f(f2), f(f3), f(f4), f(f5), f(f6), f(f7), f(f8), f(f9), f(f10), f(f11), f(f12), f(f13), f(f14));
  } else if constexpr (count == 15) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15] = x;
    (f(f1), f(f2), f(f3), f(f4), f(f5), f(f6), f(f7), f(f8), f(f9), f(f10), f(f11), f(f12), f(f13), f(f14), f(f15));
  } else if constexpr (count == 16) {
    const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16] = x;
    (f(f1), f(f2), f(f3), f(f4), f(f5), f(f6), f(f7), f(f8), f(f9), f(f10), f(f11), f(f12), f(f13), f(f14), f(f15),
     f(f16));
  }
}

// Calls f(value) for each number, enumeration and truth value in x, in order, and f.leave_out() for each other value: a
// predicate, a pointer, or an object of the user's own type, unless that type has a member visit_options(f). Calls
// f.enter(name) for the type that the next values belong to, and with the previous name after its values.
template <class T, class F>
void visit_options(const T& x, F& f) {
  const auto visit = [&](const auto& each) { visit_options(each, f); };
  const auto visit_members = [&](const auto& visit_all) {
    const std::string_view outer = f.enter(type_text<T>());
    visit_all();
    f.enter(outer);
  };
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
    f(static_cast<double>(x));
  else if constexpr (requires { x.visit_options(f); })
    visit_members([&] { x.visit_options(f); });
  else if constexpr (requires {
                       x.stages();
                       x.rule();
                     })
    visit(x.stages()), visit(x.rule());
  else if constexpr (requires { x.stages(); })
    visit(x.stages());
  else if constexpr (requires { x.parts(); })
    visit(x.parts());
  else if constexpr (requires { x.begin() != x.end(); })
    for (const auto& each : x) visit(each);
  else if constexpr (is_tuple<T>)
    for_each_index<T::size>([&](auto i) { visit(get<i>(x)); });
  else if constexpr (!std::is_aggregate_v<T> || !of_this_library<T>)
    f.leave_out();
  else if constexpr (!std::is_empty_v<T>)
    visit_members([&] { for_each_field(x, visit); });
}

// The options of a rule or a schedule. Option i is `values[i]`, and belongs to the type `owners[i]`.
struct Options {
  std::vector<double> values;
  std::vector<std::string_view> owners;
  bool complete = true;  // whether no value was left out

  template <class T>
  explicit Options(const T& x) {
    visit_options(x, *this);
  }
  void operator()(double value) {
    values.push_back(value);
    owners.push_back(owner_);
  }
  void leave_out() { complete = false; }
  std::string_view enter(std::string_view owner) { return std::exchange(owner_, owner); }

  // Returns where option i stands, such as "option 2 of Adam".
  std::string describe(std::size_t i) const {
    std::size_t place = 1;
    for (std::size_t j = i; j > 0 && owners[j - 1] == owners[i]; --j) ++place;
    std::string_view name = owners[i];
    name = name.substr(0, name.find('<'));
    name.remove_prefix(name.rfind(':') + 1);
    return "option " + std::to_string(place) + (name.empty() ? "" : " of ") + std::string(name);
  }

 private:
  std::string_view owner_ = {};
};

}  // namespace algoperf::detail
