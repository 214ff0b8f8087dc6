// StepRecordings: a backend's recordings of training steps (recording.hpp), by the sizes of their batches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "recording.hpp"

namespace algoperf::detail {

// Keeps the recordings that were used last.
template <class Backend>
class StepRecordings {
 public:
  using Recording = RecordingOf<Backend>;
  static constexpr std::size_t capacity = 16;

  // Returns the recording of steps of these sizes; a new one if there is none.
  Recording& of(const std::vector<std::size_t>& sizes) {
    Entry* oldest = &entries_[0];
    for (Entry& entry : entries_) {
      if (entry.recording && entry.sizes == sizes) {
        entry.used = ++calls_;
        return *entry.recording;
      }
      if (entry.used < oldest->used) oldest = &entry;
    }
    oldest->sizes = sizes;
    oldest->used = ++calls_;
    return oldest->recording.emplace();
  }
  // Returns the number of steps that these recordings launched as a whole.
  std::size_t replays() const {
    std::size_t sum = 0;
    for (const Entry& entry : entries_) sum += entry.recording ? entry.recording->replays() : 0;
    return sum;
  }

 private:
  struct Entry {
    std::vector<std::size_t> sizes;
    std::uint64_t used = 0;  // the call of of() that returned it last
    std::optional<Recording> recording;
  };

  std::array<Entry, capacity> entries_;
  std::uint64_t calls_ = 0;
};

template <class Backend>
struct ChooseRecordings {
  struct None {};
  using type = None;
};
template <AsynchronousBackend Backend>
struct ChooseRecordings<Backend> {
  using type = StepRecordings<Backend>;
};
// StepRecordings, or an empty type if the backend records nothing.
template <class Backend>
using RecordingsOf = typename ChooseRecordings<Backend>::type;

}  // namespace algoperf::detail
