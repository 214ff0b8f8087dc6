#pragma once

#include <cmath>

#include "../../core/error.hpp"
#include "../cost/quantities.hpp"

namespace algoperf {

// The processors on which ranks train, and the network between them. tuning/workers/measure_cluster.hpp measures them.
struct Cluster {
  // Ranks that compute at the same time. If there are more, they take turns: everything then takes ranks / processors
  // times as long.
  double processors = HUGE_VAL;
  Seconds latency{};                   // of a short message between two ranks
  BytesPerSecond bandwidth{HUGE_VAL};  // of a rank, which sends and receives at the same time
  BytesPerSecond pairing{HUGE_VAL};    // of adasum_pair: the bytes of one of its vectors that it combines

  // Throws Error if a member is out of range.
  void check() const {
    require(processors >= 1, "Cluster: processors is ", processors, ", expected at least 1");
    require(latency.value >= 0 && latency.value < HUGE_VAL, "Cluster: the latency is ", latency.value,
            " s, expected at least 0");
    require(bandwidth.value > 0 && pairing.value > 0, "Cluster: bandwidth and pairing are ", bandwidth.value, " and ",
            pairing.value, " bytes/s, expected more than 0");
  }

  // Returns the factor by which a computation takes longer because ranks take turns.
  double turns(double ranks) const { return std::fmax(1, ranks / processors); }

  // Returns the time of an exchange (Communicator::exchange) in which each rank sends `sent` bytes in all, in a message
  // to each other rank, one after the other:
  //   turns ((ranks - 1) latency + sent / bandwidth)
  Seconds exchange(Bytes sent, double ranks) const { return turns(ranks) * ((ranks - 1) * latency + sent / bandwidth); }

  // Returns the time of combining a vector of every rank, as Mean does over ranks: two exchanges of notes, one before
  // the vectors and one at the end of the step, and two of (ranks - 1) / ranks of the vector. The additions are left
  // out.
  Seconds mean(Bytes vector, double ranks) const {
    return 2 * exchange(Bytes{}, ranks) + 2 * exchange((ranks - 1) / ranks * vector, ranks);
  }
  // The same for Adasum. Each rank also combines ranks - 1 pairs of blocks of vector / ranks, and exchanges dot
  // products at each level of the tree, whose bytes are left out.
  Seconds adasum(Bytes vector, double ranks) const {
    const Seconds combining = (ranks - 1) / ranks * vector / pairing;
    return mean(vector, ranks) + std::ceil(std::log2(ranks)) * exchange(Bytes{}, ranks) + turns(ranks) * combining;
  }
};

}  // namespace algoperf
