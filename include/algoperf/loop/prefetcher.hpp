// Prefetcher: selects and gathers the batch of the next step while the current step is computed.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "../core/step.hpp"
#include "../data/concept.hpp"
#include "background_thread.hpp"
#include "field_batch.hpp"

namespace algoperf::detail {

template <class Selector, class Backend>
class Prefetcher {
 public:
  Prefetcher(const Backend& backend, const ModelGraph& graph, std::size_t capacity)
      : batch_(backend, graph, capacity) {}
  ~Prefetcher() { thread_.wait(); }

  // The batch and its selection, after take().
  FieldBatch<Backend>& batch() { return batch_; }
  Selection& selection() { return selection_; }
  // The selector's state before the selection ahead, or null if there is none.
  const typename Selector::State* state_before() const { return before_ ? &*before_ : nullptr; }

  // Selects the examples of step `next`, which advances `state`, calls check(selection), and starts to gather the
  // examples. take() throws what any of these throws. `data` must stay valid until take() or cancel().
  template <class Data, class Check>
  void start(const Data& data, const Selector& selector, typename Selector::State& state, Step next, RandomKey random,
             const Check& check) {
    before_ = state;
    step_ = next;
    random_ = random;
    try {
      selector.select(state, next, selection_);
      check(selection_);
    } catch (...) {
      error_ = std::current_exception();
      return;
    }
    data_ = &data;
    thread_.start(
        [](void* prefetcher) {
          Prefetcher& self = *static_cast<Prefetcher*>(prefetcher);
          self.batch_.stage(*static_cast<const Data*>(self.data_), self.selection_.indices.data(),
                            self.selection_.indices.size(), {.random = &self.random_});
        },
        this);
  }
  // Waits for the batch of a step. Returns false, with the state before the selection, if it was gathered for another
  // step, or for another learning rate.
  bool take(Step now, typename Selector::State& state) {
    if (!before_) return false;
    wait();
    if (step_.t != now.t || step_.learning_rate != now.learning_rate) {
      cancel(state);
      return false;
    }
    before_.reset();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return true;
  }
  // Restores the state before the selection ahead.
  void cancel(typename Selector::State& state) {
    wait();
    error_ = nullptr;
    if (before_) state = *before_;
    before_.reset();
  }

 private:
  void wait() {
    if (const std::exception_ptr error = thread_.wait()) error_ = error;
  }

  std::optional<typename Selector::State> before_;
  Selection selection_;
  Step step_;
  RandomKey random_;
  const void* data_ = nullptr;
  std::exception_ptr error_;
  FieldBatch<Backend> batch_;
  BackgroundThread thread_;
};

}  // namespace algoperf::detail
