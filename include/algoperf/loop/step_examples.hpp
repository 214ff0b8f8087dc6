// StepExamples: the examples of each training step, as a selector chooses them. Those of Prefetched data are gathered
// ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/warn.hpp"
#include "../data/prefetched.hpp"
#include "../state/archive.hpp"
#include "check_fields.hpp"
#include "explain_loop.hpp"
#include "prefetcher.hpp"

namespace algoperf::detail {

template <class Selector, class Backend>
class StepExamples {
 public:
  explicit StepExamples(const Selector& selector) : selector_(selector) {}

  const Selector& selector() const { return selector_; }
  // The selection of the current step.
  const Selection& selection() const { return selection_; }
  std::size_t data_size() const { return data_size_; }

  // The warnings about the data that start() reported by warn() (core/warn.hpp).
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Prepares the selector for a data set, and warns of doubts about the first one. Throws Error if an earlier data set
  // had another size.
  template <class Data>
  void start(const Data& data, const ModelGraph& graph) {
    if (!state_) {
      state_.emplace(selector_.state(data.size()));
      data_size_ = data.size();
    }
    require(data.size() == data_size_, "TrainingLoop: the data set has ", data.size(),
            " examples, when training started it had ", data_size_);
    if (examined_) return;
    examined_ = true;
    warnings_ = doubts_about(graph, selector_, data);
    for (const std::string& sentence : warnings_) warn(sentence);
  }

  // Selects the examples of step `now`, or takes those that were prefetched.
  template <class Data>
  void select(const Data& data, Step now) {
    is_staged_ = false;
    is_prefetched_ = prefetcher_ && prefetcher_->take(&data, now, state_);
    if (is_prefetched_)
      std::swap(selection_, prefetcher_->selection());
    else
      selector_.select(*state_, now, selection_);
  }
  // Gathers the examples in host memory; load() then sends them.
  template <class Data, class Context>
  void stage(const Data& data, Step now, Context& context) {
    if (is_prefetched_)
      context.take_staged(prefetcher_->batch(), now);
    else
      context.stage(data, selection_, now);
    is_staged_ = true;
  }
  // Loads the selected examples into the context's batch.
  template <class Data, class Context>
  void load(const Data& data, Step now, Context& context) {
    if (is_prefetched_ && !is_staged_) stage(data, now, context);
    if (is_staged_)
      context.load_staged(selection_);
    else
      context.load(data, selection_, now);
  }
  // Passes the losses of the step and its GradientSquares to a selector that reacts to them.
  template <class Context, class Combiner, class CombinerState>
  void feedback(Context& context, const Combiner& combiner, const CombinerState& combiner_state) {
    if constexpr (requires { selector_.feedback(*state_, selection_, context.losses()); })
      selector_.feedback(*state_, selection_, context.losses());
    if constexpr (HasGradientFeedback<Selector>)
      selector_.gradient_feedback(*state_, combiner.gradient_squares(combiner_state));
  }

  // Lets steps on `data`, if it is Prefetched, gather ahead. `data` must stay valid until stop_prefetching().
  template <class Data, class Context>
  void start_prefetching(const Data& data, const Context& context) {
    stop_prefetching();
    if constexpr (PrefetchedDataset<Data>)
      if (context.gathers_on_host(data))
        prefetcher_.emplace(context.backend(), context.graph(), context.capacity(), &data, context.pads());
  }
  // Starts to gather the examples of the next step, which next_step() returns.
  template <class Data, class Context, class NextStep>
  void prefetch(const Data& data, const Context& context, const NextStep& next_step) {
    if constexpr (PrefetchedDataset<Data>) {
      static_assert(explain_prefetching<Selector>());
      if (!prefetcher_) return;
      const Step next = next_step();
      prefetcher_->start(data, selector_, *state_, next, context.transforms_key(next), [&](const Selection& selection) {
        context.check(data.size(), selection);
        return context.part_of(selection);
      });
    }
  }
  // Discards the examples that were gathered ahead; the selector will select them again.
  void cancel_prefetching() {
    if (prefetcher_) prefetcher_->cancel(state_);
  }
  void stop_prefetching() {
    cancel_prefetching();
    prefetcher_.reset();
  }

  // Visits the options that a resumed run must not change.
  template <class Archive>
  void visit_options(Archive& archive) {
    if constexpr (requires { selector_.seed; }) {
      std::uint64_t seed = selector_.seed;
      archive.number("selector_seed", seed);
      require(seed == selector_.seed, "checkpoint: the selector's seed was ", seed, ", now it is ", selector_.seed);
    }
    std::uint64_t batch = selector_.batch;
    archive.number("batch", batch);
    require(batch == selector_.batch, "checkpoint: the batch was ", batch, ", now it is ", selector_.batch);
  }
  // Visits the selector's state as it was before it selected ahead.
  template <class Archive>
  void visit(Archive& archive) {
    if constexpr (Archive::reading) cancel_prefetching();
    // A loop that has not started has no selector state yet; the data size suffices to create it.
    std::uint64_t data_size = data_size_;
    archive.number("data_size", data_size);
    if constexpr (Archive::reading) resize(static_cast<std::size_t>(data_size));
    if (!state_) return;
    if constexpr (!Archive::reading)
      if (prefetcher_ && prefetcher_->state_before() != nullptr) {
        typename Selector::State before = *prefetcher_->state_before();
        return visit_scoped(archive, "selector", before);
      }
    visit_scoped(archive, "selector", *state_);
  }

 private:
  void resize(std::size_t size) {
    require(!state_ || size == 0 || size == data_size_, "checkpoint: the data set had ", size, " examples, now it has ",
            data_size_);
    if (size == 0) state_.reset();
    if (size > 0 && !state_) state_.emplace(selector_.state(size));
    data_size_ = size;
  }

  Selector selector_;
  std::optional<typename Selector::State> state_;
  std::size_t data_size_ = 0;
  bool examined_ = false;  // whether start() has looked for warnings
  std::vector<std::string> warnings_;
  std::optional<Prefetcher<Selector, Backend>> prefetcher_;
  Selection selection_;                             // of the current step
  bool is_prefetched_ = false, is_staged_ = false;  // its examples
};

}  // namespace algoperf::detail
