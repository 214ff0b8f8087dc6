#pragma once

#include "../chain/chain.hpp"
#include "../stages/centered_rmsprop.hpp"
#include "../stages/descend.hpp"
#include "../stages/rmsprop.hpp"

namespace algoperf {

// RMSProp (Tieleman & Hinton 2012): p' = p - lr rmsprop(g), torch's defaults. One float of state, 20 bytes a parameter.
// With momentum: chain(RmsProp{}, Momentum{}, Descend{}), 28 bytes.
constexpr auto rmsprop(RmsProp options = {}) { return chain(options, Descend{}); }

// RMSProp by the variance (Graves 2013). Two floats of state, 28 bytes a parameter.
constexpr auto centered_rmsprop(CenteredRmsProp options = {}) { return chain(options, Descend{}); }

}  // namespace algoperf
