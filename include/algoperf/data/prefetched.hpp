// prefetched(data): a data set whose batches a run gathers ahead, on a thread.
#pragma once

#include "fields.hpp"

namespace algoperf {

// While a run computes a step, a thread gathers and transforms the examples of the next one. Runs have the same bits as
// without prefetching, and continue each other's checkpoints. The selector must not depend on losses or gradients, and
// its State is copied in each step (ShuffledEpochs: 4 bytes per example of the data set). gather(), shape(), axis()
// and rows() must be safe to call while other threads read the data.
//   loop.run(prefetched(transformed(task.train(), RandomCrop{}, RandomFlip{})), ...);
// Nothing is prefetched if a device keeps the data in its memory. TrainingLoop::step prefetches only between
// make_resident() and release_data().
template <class Data>
struct Prefetched : Data {
  static constexpr bool is_prefetched = true;
  explicit Prefetched(const Data& data) : Data(data) {}
};
template <class Data>
Prefetched<Data> prefetched(const Data& data) {
  return Prefetched<Data>(data);
}

namespace detail {

template <class D>
concept PrefetchedDataset = requires {
  requires D::is_prefetched;
};

}  // namespace detail
}  // namespace algoperf
