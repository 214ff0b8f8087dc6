// Ranks: the ranks that train one model, seen from one of them. They exchange arrays, agree when to stop, and end with
// the same error when one of them fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "communicator.hpp"

namespace algoperf {

// Thrown on every rank, with the same message, when one rank fails, or when ranks differ.
struct RankFailure : Error {
  using Error::Error;
  std::size_t rank = 0;    // that failed; if several did, the one that Ranks::announce() chooses
  std::uint64_t step = 0;  // at which it failed
  bool diverged = false;   // whether its loss was not finite

  // The failure of a rank of `size`, as the others throw it.
  static RankFailure of(std::size_t rank, std::size_t size, const std::string& sentence, bool diverged) {
    RankFailure failure("rank " + std::to_string(rank) + " of " + std::to_string(size) + ": " + sentence);
    failure.rank = rank;
    failure.diverged = diverged;
    return failure;
  }
};

// The points of a run at which all ranks meet.
enum class Meeting : std::uint64_t { start, gradient, feedback, step_end, evaluation, checkpoint, end };

class Ranks {
 public:
  // The data that each rank sends to the others at a meeting.
  struct Note {
    Meeting at = Meeting::start;
    std::uint64_t step = 0;
    std::uint64_t stop_reason = 0;  // at the end of a step
    std::uint64_t selection =
        0;  // at a gradient: a hash of the selected examples, which the ranks divide among themselves
    double weight = 0, loss = 0;
    std::uint64_t failure_length = 0;  // of the sentence of a rank that failed, or 0
    std::uint64_t diverged = 0;        // divergence or own_divergence, if that is the failure
  };
  // A loss that is not finite: that of another rank, or that of the rank which announces it.
  static constexpr std::uint64_t divergence = 1, own_divergence = 2;

  Ranks() = default;  // a single rank, which never communicates
  // Owns the communicator, made by `new`.
  explicit Ranks(Communicator* communicator) : communicator_(communicator) {}
  Ranks(Ranks&& other) noexcept : communicator_(std::exchange(other.communicator_, nullptr)) {}
  Ranks& operator=(Ranks&&) = delete;
  ~Ranks() { delete communicator_; }

  std::size_t rank() const { return communicator_ == nullptr ? 0 : communicator_->rank(); }
  std::size_t size() const { return communicator_ == nullptr ? 1 : communicator_->size(); }
  bool alone() const { return size() == 1; }
  // Whether this rank writes files and shows progress for all.
  bool is_root() const { return rank() == 0; }

  void exchange(const void* out, std::span<const ByteRange> to, void* in, std::span<const ByteRange> from) const {
    communicator_->exchange(out, to, in, from);
  }
  bool reach_device() const { return communicator_ != nullptr && communicator_->reaches_device(); }
  void exchange_on_device(const void* out, std::span<const ByteRange> to, void* in,
                          std::span<const ByteRange> from) const {
    communicator_->exchange_on_device(out, to, in, from);
  }
  // Returns every rank's value, in the order of ranks. T is trivially copyable.
  template <class T>
  std::vector<T> all_gather(const T& mine) const {
    std::vector<T> all(size());
    const std::vector<std::size_t> bytes(size(), sizeof(T));
    all_gather_bytes(&mine, bytes.data(), all.data());
    return all;
  }
  // Gathers arrays of counts[r] elements from each rank r, one after the other.
  template <class T>
  std::vector<T> all_gather(const std::vector<T>& mine, std::vector<std::size_t> counts) const {
    require(counts.size() == size() && counts[rank()] == mine.size(), "Ranks: rank ", rank(), " gathers ", mine.size(),
            " elements, but announced others");
    std::size_t total = 0;
    for (std::size_t& count : counts) {
      total += count;
      count *= sizeof(T);
    }
    std::vector<T> all(total);
    all_gather_bytes(mine.data(), counts.data(), all.data());
    return all;
  }
  // Returns the bytes of all other ranks, one after the other, on rank 0, and nothing on the others.
  std::string gather_on_root(const std::string& mine) const;

  // Exchanges notes with all ranks and returns them, in the order of ranks. Throws RankFailure if a rank has announced
  // a failure, or if ranks meet at different points of their runs.
  std::vector<Note> meet(const Note& mine) const;
  // Reports a failure of this rank to the others at their next meeting. Returns the exception that all ranks throw: of
  // several failures, a divergence, if possible from the rank whose loss it is; otherwise that of the lowest rank.
  RankFailure announce(const std::string& failure, std::uint64_t step, std::uint64_t diverged = 0) const;
  // Throws RankFailure unless a named number is the same on all ranks.
  void require_same(const char* what, std::uint64_t mine) const;

 private:
  std::vector<Note> meet(const Note& mine, const std::string& failure) const;
  void all_gather_bytes(const void* mine, const std::size_t* bytes, void* all) const;

  Communicator* communicator_ = nullptr;
};

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED ALGOPERF_COLD void Ranks::all_gather_bytes(const void* mine, const std::size_t* bytes,
                                                             void* all) const {
  if (communicator_ == nullptr) {
    std::memcpy(all, mine, bytes[0]);
    return;
  }
  std::vector<ByteRange> ranges(2 * size());
  std::size_t begin = 0;
  for (std::size_t r = 0; r < size(); ++r) {
    ranges[r].size = bytes[rank()];
    ranges[size() + r] = {begin, bytes[r]};
    begin += bytes[r];
  }
  exchange(mine, {ranges.data(), size()}, all, {ranges.data() + size(), size()});
}

ALGOPERF_COMPILED ALGOPERF_COLD std::string Ranks::gather_on_root(const std::string& mine) const {
  const std::vector<std::size_t> sizes = all_gather(is_root() ? 0 : mine.size());
  std::vector<ByteRange> ranges(2 * size());
  ranges[0].size = sizes[rank()];
  std::size_t total = 0;
  for (std::size_t r = 0; r < size() && is_root(); ++r) {
    ranges[size() + r] = {total, sizes[r]};
    total += sizes[r];
  }
  std::string all(total, ' ');
  exchange(mine.data(), {ranges.data(), size()}, all.data(), {ranges.data() + size(), size()});
  return all;
}

ALGOPERF_COMPILED ALGOPERF_COLD std::vector<Ranks::Note> Ranks::meet(const Note& mine) const { return meet(mine, {}); }

ALGOPERF_COMPILED ALGOPERF_COLD std::vector<Ranks::Note> Ranks::meet(const Note& mine,
                                                                     const std::string& failure) const {
  static constexpr const char* names[] = {"the start of the run", "a gradient",    "the selector's feedback",
                                          "the end of a step",    "an evaluation", "a checkpoint",
                                          "the end of the run"};
  Note note = mine;
  note.failure_length = failure.size();
  const std::vector<Note> notes = all_gather(note);
  std::size_t failed = size();
  for (std::size_t r = 0; r < size(); ++r)
    if (notes[r].failure_length > 0 && (failed == size() || notes[r].diverged > notes[failed].diverged)) failed = r;
  if (failed < size()) {
    std::vector<std::size_t> lengths(size(), 0);
    lengths[failed] = notes[failed].failure_length;
    std::string sentence(lengths[failed], ' ');
    all_gather_bytes(failure.data(), lengths.data(), sentence.data());
    RankFailure shared = RankFailure::of(failed, size(), sentence, notes[failed].diverged != 0);
    shared.step = notes[failed].step;
    throw shared;
  }
  for (std::size_t r = 1; r < notes.size(); ++r)
    if (notes[r].at != notes[0].at || notes[r].step != notes[0].step)
      fail_as<RankFailure>("rank ", r, " of ", size(), " is at step ", notes[r].step, ", ",
                           names[static_cast<std::size_t>(notes[r].at)], ", and rank 0 at step ", notes[0].step, ", ",
                           names[static_cast<std::size_t>(notes[0].at)],
                           ": all ranks must make the same calls and read the same checkpoint");
  return notes;
}

ALGOPERF_COMPILED ALGOPERF_COLD RankFailure Ranks::announce(const std::string& failure, std::uint64_t step,
                                                            std::uint64_t diverged) const {
  const std::string sentence = failure.empty() ? "an exception without a message" : failure;
  try {
    (void)meet({.step = step, .diverged = diverged}, sentence);
  } catch (const RankFailure& shared) {
    return shared;
  } catch (const std::exception&) {  // the other ranks cannot be reached
  }
  RankFailure alone(sentence);
  alone.rank = rank();
  alone.step = step;
  alone.diverged = diverged != 0;
  return alone;
}

ALGOPERF_COMPILED ALGOPERF_COLD void Ranks::require_same(const char* what, std::uint64_t mine) const {
  const std::vector<std::uint64_t> all = all_gather(mine);
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      fail_as<RankFailure>(what, " is ", all[r], " on rank ", r, " of ", size(), ", and ", all[0], " on rank 0");
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf
