// DataWorkload: a workload made of one's own data, model and target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "concept.hpp"

namespace algoperf {

struct WorkloadSettings {
  std::string name;
  Target target = {};              // of the metric on validation data
  std::uint64_t step_hint = 1000;  // steps within which a tuned rule should reach the target, at this batch size
  std::size_t batch_size = 128;
};

//   const DataWorkload adult({.name = "adult", .target = {0.15}, .step_hint = 1000}, model, SoftmaxCrossEntropy{},
//                            ErrorRate{}, data.subset(0, 24000), data.subset(24000, 27000), data.subset(27000, 30000));
template <class Model, class Loss, class Metric, Dataset Train, Dataset Validation, Dataset Test>
class DataWorkload {
 public:
  std::string name;

  // Throws Error if the name is empty, the target is NaN, or the step hint or the batch size is 0.
  DataWorkload(WorkloadSettings settings, const Model& model, const Loss& loss, const Metric& metric,
               const Train& train, const Validation& validation, const Test& test)
      : name(settings.name),
        settings_(std::move(settings)),
        model_(model),
        loss_(loss),
        metric_(metric),
        train_(train),
        validation_(validation),
        test_(test) {
    require(!name.empty(), "DataWorkload: the name is empty");
    require(settings_.target.value == settings_.target.value, "DataWorkload ", name, ": the target is NaN");
    require(settings_.step_hint > 0, "DataWorkload ", name, ": step_hint is 0, expected at least 1");
    require(settings_.batch_size > 0, "DataWorkload ", name, ": batch_size is 0, expected at least 1");
  }

  const Model& model() const { return model_; }
  const Loss& loss() const { return loss_; }
  const Metric& metric() const { return metric_; }
  Train train() const { return train_; }
  Validation validation() const { return validation_; }
  Test test() const { return test_; }
  Target target() const { return settings_.target; }
  std::uint64_t step_hint() const { return settings_.step_hint; }
  std::size_t batch_size() const { return settings_.batch_size; }

 private:
  WorkloadSettings settings_;
  Model model_;
  Loss loss_;
  Metric metric_;
  Train train_;
  Validation validation_;
  Test test_;
};

}  // namespace algoperf
