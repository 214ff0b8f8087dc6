#pragma once

#include "../../combine/asynchronous/mpi_all_to_all.hpp"
#include "../../core/error.hpp"
#include "../concept.hpp"

namespace algoperf {

// Stops the run of a worker of MpiAllToAll when another one has ended, because it has reached the target, for instance.
struct UntilAnotherEnds {
  const UpdateExchange* exchange = nullptr;

  template <class Run>
  void begin(Run&) const {
    require(exchange != nullptr, "UntilAnotherEnds: there is no UpdateExchange");
  }
  static bool reads_loss(const StepReport&) { return false; }
  template <class Run>
  Control after_step(Run&, const StepReport&) const {
    return exchange->another_has_ended() ? Control::budget_spent : Control::go_on;
  }
};

}  // namespace algoperf
