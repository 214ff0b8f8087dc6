// Prefetcher: selects and gathers the batch of the next step while the current step is computed.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "../core/step.hpp"
#include "../data/concept.hpp"
#include "background_thread.hpp"
#include "field_batch.hpp"
#include "selection_range.hpp"

namespace algoperf::detail {

template <class Selector, class Backend>
class Prefetcher {
  using State = typename Selector::State;

 public:
  // For the batches of a data set, which must stay valid until cancel(). pads: FieldBatch::padding_of.
  Prefetcher(const Backend& backend, const ModelGraph& graph, std::size_t capacity, const void* data, bool pads)
      : data_(data), pads_(pads), batch_(backend, graph, capacity) {}

  // The batch and its selection, after take().
  FieldBatch<Backend>& batch() { return batch_; }
  Selection& selection() { return selection_; }
  // The selector's state before the selection ahead, or null if there is none.
  const State* state_before() const { return ahead_ ? &*before_ : nullptr; }

  // Selects the examples of step `next`, which advances `state`, and starts to gather those of part_of(selection), a
  // SelectionRange. take() throws what any of these throws. Does nothing if `data` is another data set.
  template <class Data, class PartOf>
  void start(const Data& data, const Selector& selector, State& state, Step next, RandomKey random,
             const PartOf& part_of) {
    if (data_ != &data) return;
    if constexpr (std::is_copy_assignable_v<State>)  // allocates nothing after the first call
      before_ = state;
    else
      before_.emplace(state);
    ahead_ = next;
    random_ = random;
    try {
      selector.select(state, next, selection_);
      part_ = part_of(selection_);
    } catch (...) {
      error_ = std::current_exception();
      return;
    }
    thread_.start(
        [](void* prefetcher) {
          Prefetcher& self = *static_cast<Prefetcher*>(prefetcher);
          self.batch_.stage(*static_cast<const Data*>(self.data_), self.part_.indices, self.part_.size,
                            {.random = &self.random_, .pad = self.pads_});
        },
        this);
  }
  // Waits for the batch of step `now`. Returns false if none was started. Also returns false, and restores the state
  // before the selection, if the batch was gathered for another step or learning rate, or from another data set.
  bool take(const void* data, Step now, std::optional<State>& state) {
    if (!ahead_) return false;
    wait();
    if (data != data_ || ahead_->t != now.t || ahead_->learning_rate != now.learning_rate) {
      cancel(state);
      return false;
    }
    ahead_.reset();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return true;
  }
  // Restores the state before the selection ahead.
  void cancel(std::optional<State>& state) {
    wait();
    error_ = nullptr;
    if (ahead_) state.emplace(std::move(*before_));
    ahead_.reset();
  }

 private:
  void wait() {
    if (const std::exception_ptr error = thread_.wait()) error_ = error;
  }

  const void* data_;
  bool pads_;
  std::optional<Step> ahead_;  // the step whose batch was started
  std::optional<State> before_;
  Selection selection_;
  SelectionRange part_ = {};
  RandomKey random_;
  std::exception_ptr error_;
  FieldBatch<Backend> batch_;
  BackgroundThread thread_;
};

}  // namespace algoperf::detail
