#pragma once

#include "../../combine/asynchronous/update_exchange.hpp"
#include "../../core/error.hpp"
#include "../concept.hpp"

namespace algoperf {

// Stops the run of a worker of MpiAllToAll when another one has settled, because it has reached the target, for
// instance. A worker that has left because of an error stops no other.
struct UntilAnotherEnds {
  const UpdateExchange* exchange = nullptr;

  template <class Run>
  void begin(Run&) const {
    require(exchange != nullptr, "UntilAnotherEnds: there is no UpdateExchange");
  }
  template <class Run>
  Control ready(Run&) const {
    return exchange->another_has_ended() ? Control::budget_spent : Control::go_on;
  }
  static bool reads_loss(const StepReport&) { return false; }
  template <class Run>
  Control after_step(Run&, const StepReport&) const {
    return exchange->another_has_ended() ? Control::budget_spent : Control::go_on;
  }
};

}  // namespace algoperf
