#pragma once

#include "../../combine/asynchronous/mpi_server.hpp"
#include "../../core/error.hpp"
#include "../concept.hpp"

namespace algoperf {

// Stops the run of a worker of MpiServer when the server has ended.
struct UntilServerEnds {
  const ParameterServer* server = nullptr;

  template <class Run>
  void begin(Run&) const {
    require(server != nullptr, "UntilServerEnds: there is no ParameterServer");
  }
  template <class Run>
  Control ready(Run&) const {
    return server->ended() ? Control::budget_spent : Control::go_on;
  }
  static bool reads_loss(const StepReport&) { return false; }
  template <class Run>
  Control after_step(Run&, const StepReport&) const {
    return server->ended() ? Control::budget_spent : Control::go_on;
  }
};

}  // namespace algoperf
