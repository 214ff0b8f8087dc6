// pick: finds the argument that has a role, among arguments in any order.
#pragma once

#include <type_traits>
#include <utility>

#include "../backend/concept.hpp"
#include "../combine/concept.hpp"

namespace algoperf::detail {

template <class T>
struct IsCombiner : std::bool_constant<Combiner<T>> {};
template <class T>
struct IsGroup : std::bool_constant<WorkerGroup<T>> {};
template <class T>
    struct IsSeed : std::bool_constant < requires {
  requires T::is_seed;
} > {};
template <class T>
    struct IsBackend : std::bool_constant < requires {
  typename T::Scalar;
} > {};

// The number of these types that have the role.
template <template <class> class Role, class... Candidates>
inline constexpr int count = ((Role<Candidates>::value ? 1 : 0) + ... + 0);

// Returns the first argument that has the role, or the default.
template <template <class> class Role, class Default>
constexpr Default pick(const Default& otherwise) {
  return otherwise;
}
template <template <class> class Role, class Default, class First, class... Rest>
constexpr auto pick(const Default& otherwise, const First& first, const Rest&... rest) {
  if constexpr (Role<First>::value)
    return first;
  else
    return pick<Role>(otherwise, rest...);
}
template <template <class> class Role, class Default, class... Candidates>
using PickType = decltype(pick<Role>(std::declval<const Default&>(), std::declval<const Candidates&>()...));

}  // namespace algoperf::detail
