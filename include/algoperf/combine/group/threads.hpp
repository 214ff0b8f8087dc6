// Threads: ranks that are threads of this process. run_ranks() starts them:
//
//   run_ranks(4, [&](Threads group) {
//     TrainingLoop loop(model, loss, rule, schedule, selector, Mean{}, group);
//     loop.run(data, UntilStep{1000});
//   });
//
// They communicate as processes would, so that programs for Mpi can be tested without it. To train fast on one machine,
// use Host{.threads = N} instead.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../concept.hpp"
#include "communicator.hpp"

namespace algoperf {

namespace detail {

// Where the ranks of run_ranks() meet.
class ThreadHub {
 public:
  explicit ThreadHub(std::size_t size) : sent_(size) {}
  std::size_t size() const { return sent_.size(); }

  void exchange(std::size_t rank, const void* out, std::span<const ByteRange> to, void* in,
                std::span<const ByteRange> from) {
    sent_[rank] = {static_cast<const char*>(out), to};
    wait();
    std::size_t refused = size();
    for (std::size_t r = 0; r < size(); ++r) {
      const ByteRange range = sent_[r].ranges[rank];
      if (range.size != from[r].size)
        refused = r;
      else if (range.size > 0)
        std::memcpy(static_cast<char*>(in) + from[r].begin, sent_[r].out + range.begin, range.size);
    }
    wait();  // until all have read the buffers
    require(refused == size(), "Threads: rank ", refused, " of ", size(), " sends rank ", rank,
            " another number of bytes than it expects: ranks made different calls");
  }
  // Called when the thread of a rank ends. Ranks that wait for it throw Error.
  void leave(std::size_t rank, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (left_.empty()) left_ = "rank " + std::to_string(rank) + " of " + std::to_string(size()) + " has ended" + reason;
    changed_.notify_all();
  }

 private:
  struct Sent {
    const char* out = nullptr;
    std::span<const ByteRange> ranges = {};
  };

  // Waits until all ranks have called it.
  void wait() {
    std::unique_lock lock(mutex_);
    if (!left_.empty()) fail(left_);
    const std::size_t round = round_;
    if (++waiting_ == size()) {
      waiting_ = 0;
      ++round_;
      changed_.notify_all();
      return;
    }
    changed_.wait(lock, [&] { return round_ != round || !left_.empty(); });
    if (round_ == round) fail(left_);
  }

  std::vector<Sent> sent_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t waiting_ = 0, round_ = 0;
  std::string left_;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<ThreadHub> hub, std::size_t rank) : hub_(std::move(hub)), rank_(rank) {}
  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return hub_->size(); }
  void exchange(const void* out, std::span<const ByteRange> to, void* in, std::span<const ByteRange> from) override {
    hub_->exchange(rank_, out, to, in, from);
  }

 private:
  std::shared_ptr<ThreadHub> hub_;
  std::size_t rank_;
};

}  // namespace detail

class Threads {
 public:
  static constexpr bool is_worker_group = true;
  std::size_t workers = 1;  // of each rank, one after the other as in InProcess

  Threads() = default;  // a single rank
  Threads(std::shared_ptr<detail::ThreadHub> hub, std::size_t rank) : hub_(std::move(hub)), rank_(rank) {}
  std::size_t rank() const { return rank_; }
  std::size_t size() const { return hub_ ? hub_->size() : 1; }
  Communicator* connect() const { return hub_ ? new detail::ThreadCommunicator(hub_, rank_) : nullptr; }

 private:
  std::shared_ptr<detail::ThreadHub> hub_;
  std::size_t rank_ = 0;
};

// Calls f(group) on `ranks` threads, each with its own rank. Throws the exception of the lowest rank that throws one,
// after all threads have ended.
template <class F>
void run_ranks(std::size_t ranks, const F& f) {
  require(ranks > 0, "run_ranks: there are 0 ranks, expected at least 1");
  const auto hub = std::make_shared<detail::ThreadHub>(ranks);
  std::vector<std::exception_ptr> errors(ranks);
  std::vector<std::thread> threads;
  const auto run = [&](std::size_t rank) {
    std::string reason;
    try {
      f(Threads(hub, rank));
    } catch (const std::exception& error) {
      errors[rank] = std::current_exception();
      reason = std::string(": ") + error.what();
    } catch (...) {
      errors[rank] = std::current_exception();
    }
    hub->leave(rank, reason);
  };
  threads.reserve(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) try {
      threads.emplace_back(run, rank);
    } catch (const std::exception& error) {  // no more threads
      errors[rank] = std::current_exception();
      hub->leave(rank, std::string(": ") + error.what());
      break;
    }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace algoperf
