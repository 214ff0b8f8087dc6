// The Workload concept. A Workload is a complete training problem: data, model, loss, and a target that defines
// success.
//
//   name                                         for tables and file names
//   model()  loss()  metric()                    plain values
//   train()  validation()  test()                data sets that share their memory: cheap to copy, loaded on first use
//   target()                                     the validation metric that ends a time-to-target run
//   step_hint()                                  number of steps within which a tuned rule should reach the target, at
//                                                batch_size() examples per step
//   batch_size()                                 optional: by default 128
//   base                                         optional: the name of the workload of which this one is a variant; by
//                                                default its own name
//   each_variant(visit)                          optional: calls visit(variant) for each of its held-out variants
//
// Targets apply to validation data (Dahl et al. 2023, section 4); the test set is for reporting only.
#pragma once

#include <concepts>
#include <cstdint>

#include "../core/target.hpp"
#include "../data/concept.hpp"
#include "../data/fields.hpp"

namespace algoperf {

template <class Data>
concept TrainingData = Dataset<Data> || FieldDataset<Data>;

template <class W>
concept Workload = requires(const W& w) {
  w.model();
  w.loss();
  w.metric();
  { w.train() } -> TrainingData;
  { w.validation() } -> TrainingData;
  { w.test() } -> TrainingData;
  { w.target() } -> std::same_as<Target>;
  { w.step_hint() } -> std::convertible_to<std::uint64_t>;
};

namespace detail {

template <class W>
consteval bool explain_workload() {
  static_assert(Workload<W>,
                "algoperf: a workload has model(), loss(), metric(), train(), validation(), test(), target() and "
                "step_hint(): see workloads/concept.hpp");
  return true;
}

}  // namespace detail

}  // namespace algoperf
