// The names of networks and their variants, and iteration over the variants.
#pragma once

#include <string>

#include "../core/tuple.hpp"

namespace algoperf::detail {

// "mlp" or, of a variant, "mlp_tanh".
template <class Network>
std::string network_name() {
  if constexpr (requires { Network::variant; })
    return std::string(Network::Base::name) + "_" + Network::variant;
  else
    return Network::name;
}
template <class Network>
std::string base_network_name() {
  if constexpr (requires { Network::variant; })
    return Network::Base::name;
  else
    return Network::name;
}

// Calls visit.template operator()<V>() for each variant V of a base network.
template <class Network, class Visit>
void each_variant(const Visit& visit) {
  if constexpr (
      requires { typename Network::Variants; } && !requires { Network::variant; })
    for_each_index<Network::Variants::size>(
        [&](auto i) { visit.template operator()<TupleElement<i, typename Network::Variants>>(); });
}

}  // namespace algoperf::detail
