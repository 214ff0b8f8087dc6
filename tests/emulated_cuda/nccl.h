// NCCL between the emulated devices of a process. An exchange takes place when it is issued or its graph is launched:
// the device first does all work that it was given, and then the thread waits for the other ranks.
#pragma once

#include <cuda_runtime.h>

#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

enum ncclResult_t { ncclSuccess, ncclSystemError, ncclInvalidArgument };
enum ncclDataType_t { ncclInt8 };
struct ncclUniqueId {
  char internal[128];
};

namespace emulated_nccl {

struct Message {
  int peer;
  const void* out;  // null if it is received
  void* in;
  std::size_t size;
};

// Where the ranks of a group meet.
class Hub {
 public:
  explicit Hub(int size) : all_(static_cast<std::size_t>(size)) {}

  ncclResult_t exchange(int rank, const std::vector<Message>& mine) {
    all_[static_cast<std::size_t>(rank)] = mine;
    if (!wait()) return ncclSystemError;
    ncclResult_t result = ncclSuccess;
    for (const Message& message : mine) {
      if (message.out != nullptr) continue;
      const Message* sent = nullptr;
      for (const Message& other : all_[static_cast<std::size_t>(message.peer)])
        if (other.out != nullptr && other.peer == rank) sent = &other;
      if (sent == nullptr || sent->size != message.size)
        result = ncclInvalidArgument;
      else
        std::memcpy(message.in, sent->out, message.size);
    }
    return wait() ? result : ncclSystemError;
  }
  // Waits until all ranks have left, unless one aborts.
  void leave() {
    std::unique_lock lock(mutex_);
    ++leaving_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return leaving_ >= all_.size() || aborted_; });
  }
  void abort() {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    changed_.notify_all();
  }

 private:
  // Waits until all ranks have called it. Returns false if a rank has aborted.
  bool wait() {
    std::unique_lock lock(mutex_);
    const std::size_t round = round_;
    if (++waiting_ == all_.size()) {
      waiting_ = 0;
      ++round_;
      changed_.notify_all();
      return true;
    }
    changed_.wait(lock, [&] { return round_ != round || aborted_; });
    return round_ != round;
  }

  std::vector<std::vector<Message>> all_;  // of each rank
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t waiting_ = 0, round_ = 0, leaving_ = 0;
  bool aborted_ = false;
};

struct Communicator {
  std::shared_ptr<Hub> hub;
  int rank;
};

// The messages of the group that this thread has begun, and their stream.
inline thread_local std::vector<Message> begun;
inline thread_local Communicator* communicator = nullptr;
inline thread_local cudaStream_t stream = nullptr;
inline thread_local ncclResult_t last = ncclSuccess;
inline thread_local std::size_t exchanges = 0;  // of this thread

}  // namespace emulated_nccl

using ncclComm_t = emulated_nccl::Communicator*;

inline ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::mutex mutex;
  static int ids = 0;
  const std::lock_guard lock(mutex);
  *id = {};
  std::snprintf(id->internal, sizeof id->internal, "group %d", ++ids);
  return ncclSuccess;
}
inline ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int size, ncclUniqueId id, int rank) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<emulated_nccl::Hub>> hubs;
  const std::lock_guard lock(mutex);
  std::shared_ptr<emulated_nccl::Hub>& hub = hubs[id.internal];
  if (hub == nullptr) hub = std::make_shared<emulated_nccl::Hub>(size);
  *communicator = new emulated_nccl::Communicator{hub, rank};
  return ncclSuccess;
}
inline ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  emulated_cuda::wait();
  communicator->hub->leave();
  delete communicator;
  return ncclSuccess;
}
inline ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  communicator->hub->abort();
  delete communicator;
  return ncclSuccess;
}
inline ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* result) {
  *result = std::exchange(emulated_nccl::last, ncclSuccess);
  return ncclSuccess;
}
inline const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSystemError ? "a rank has aborted" : "a rank expects what no other sends";
}
inline ncclResult_t ncclGroupStart() {
  emulated_nccl::begun.clear();
  return ncclSuccess;
}
inline ncclResult_t ncclSend(const void* from, std::size_t size, ncclDataType_t, int peer, ncclComm_t communicator,
                             cudaStream_t stream) {
  emulated_nccl::begun.push_back({peer, from, nullptr, size});
  emulated_nccl::communicator = communicator;
  emulated_nccl::stream = stream;
  return ncclSuccess;
}
inline ncclResult_t ncclRecv(void* to, std::size_t size, ncclDataType_t, int peer, ncclComm_t communicator,
                             cudaStream_t stream) {
  emulated_nccl::begun.push_back({peer, nullptr, to, size});
  emulated_nccl::communicator = communicator;
  emulated_nccl::stream = stream;
  return ncclSuccess;
}
inline ncclResult_t ncclGroupEnd() {
  emulated_cuda::start(emulated_nccl::stream, [c = emulated_nccl::communicator, messages = emulated_nccl::begun] {
    emulated_cuda::drain();
    ++emulated_nccl::exchanges;
    if (const ncclResult_t result = c->hub->exchange(c->rank, messages); result != ncclSuccess)
      emulated_nccl::last = result;
  });
  return ncclSuccess;
}
