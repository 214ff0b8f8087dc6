// Nccl: ranks that exchange arrays between the memories of their GPUs by NCCL. For .cu files linked with nccl (or
// algoperf::nccl). A rank is one GPU. Another group starts the ranks and carries everything else that they tell each
// other:
//
//   cudaSetDevice(static_cast<int>(local_rank(Mpi{})));    // one process for each GPU, on any number of machines
//   TrainingLoop loop(model, loss, rule, schedule, selector, Mean{}, Nccl{Mpi{}}, Cuda{});
//
//   run_ranks(gpus, [&](Threads group) {                   // one thread for each GPU of this machine
//     cudaSetDevice(static_cast<int>(group.rank()));
//     TrainingLoop loop(model, loss, rule, schedule, selector, Mean{}, Nccl{group}, Cuda{});
//     ...
//   });
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../../backend/cuda/device.cuh"
#include "../../core/error.hpp"
#include "../concept.hpp"
#include "ranks.hpp"

namespace algoperf {

namespace detail {

inline void nccl_check(ncclResult_t result, const char* what, std::size_t rank, std::size_t size) {
  require(result == ncclSuccess, "Nccl: rank ", rank, " of ", size, ": ", what,
          " failed: ", ncclGetErrorString(result));
}

// Communicator::exchange_on_device() as an operation of a stream. It can be a node of a CUDA graph.
struct NcclExchange {
  ncclComm_t communicator;
  std::size_t rank;
  const char* out;
  char* in;
  std::vector<ByteRange> to, from;

  bool operator==(const NcclExchange&) const = default;
  void operator()(cudaStream_t stream) const {
    const auto check = [&](ncclResult_t result) { nccl_check(result, "an exchange", rank, to.size()); };
    if (to[rank].size > 0)
      cuda_check(
          cudaMemcpyAsync(in + from[rank].begin, out + to[rank].begin, to[rank].size, cudaMemcpyDeviceToDevice, stream),
          "copying memory");
    check(ncclGroupStart());
    for (std::size_t r = 0; r < to.size(); ++r) {
      if (r == rank) continue;
      const int peer = static_cast<int>(r);
      if (to[r].size > 0) check(ncclSend(out + to[r].begin, to[r].size, ncclInt8, peer, communicator, stream));
      if (from[r].size > 0) check(ncclRecv(in + from[r].begin, from[r].size, ncclInt8, peer, communicator, stream));
    }
    check(ncclGroupEnd());
  }
};

struct NcclId {  // nvcc 13 fails to compile vectors of an ncclUniqueId, whose struct has no name
  ncclUniqueId id = {};
};

class NcclCommunicator final : public Communicator {
 public:
  // Owns `ranks`. Uses the current device.
  explicit NcclCommunicator(Ranks ranks) : ranks_(std::move(ranks)) {
    require_own_device();
    NcclId mine;
    if (ranks_.is_root()) check(ncclGetUniqueId(&mine.id), "starting a group");
    const NcclId root = ranks_.all_gather(mine)[0];
    check(ncclCommInitRank(&communicator_, static_cast<int>(size()), root.id, static_cast<int>(rank())),
          "joining a group");
  }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;
  ~NcclCommunicator() override {
    if (communicator_ != nullptr) ncclCommDestroy(communicator_);
  }

  std::size_t rank() const override { return ranks_.rank(); }
  std::size_t size() const override { return ranks_.size(); }
  void exchange(const void* out, std::span<const ByteRange> to, void* in, std::span<const ByteRange> from) override {
    // A step that is replayed holds its exchanges between devices back. Other ranks may wait for them before they come
    // here, so they must be launched first.
    CudaDevice& device = CudaDevice::current();
    if (device.tape != nullptr && device.tape == tape_ && tape_->calls() == step_) device.settle();
    ranks_.exchange(out, to, in, from);
  }
  bool reaches_device() const override { return true; }
  void exchange_on_device(const void* out, std::span<const ByteRange> to, void* in,
                          std::span<const ByteRange> from) override {
    ncclResult_t result = ncclSuccess;
    check(ncclCommGetAsyncError(communicator_, &result), "an exchange");
    check(result, "an earlier exchange");
    CudaDevice& device = CudaDevice::current();
    tape_ = device.tape;
    step_ = tape_ == nullptr ? 0 : tape_->calls();
    cuda_call(device, NcclExchange{communicator_,
                                   rank(),
                                   static_cast<const char*>(out),
                                   static_cast<char*>(in),
                                   {to.begin(), to.end()},
                                   {from.begin(), from.end()}});
  }

 private:
  void check(ncclResult_t result, const char* what) const { nccl_check(result, what, rank(), size()); }
  // NCCL may wait forever, or fail without saying why, if two ranks use one device.
  void require_own_device() const {
    int ordinal = 0;
    cuda_check(cudaGetDevice(&ordinal), "querying the current device");
    cudaDeviceProp facts{};
    cuda_check(cudaGetDeviceProperties(&facts, ordinal), "querying the device");
    const auto all = ranks_.all_gather(facts.uuid);
    for (std::size_t b = 1; b < all.size(); ++b)
      for (std::size_t a = 0; a < b; ++a)
        require(std::memcmp(&all[a], &all[b], sizeof all[a]) != 0, "Nccl: ranks ", a, " and ", b, " of ", size(),
                " use the same device: call cudaSetDevice with another one in each, for example local_rank(Mpi{})");
  }

  Ranks ranks_;
  ncclComm_t communicator_ = nullptr;
  const CudaTape* tape_ = nullptr;  // of the step of the last exchange between devices
  std::size_t step_ = 0;            // its number on that tape
};

}  // namespace detail

template <WorkerGroup Group>
struct Nccl {
  static constexpr bool is_worker_group = true;
  Group group;                          // starts the ranks: Mpi, Threads, or your own
  std::size_t workers = group.workers;  // of each rank, one after the other as in InProcess

  Communicator* connect() const {
    Communicator* const all = group.connect();
    return all == nullptr ? nullptr : new detail::NcclCommunicator(Ranks(all));
  }
};
template <WorkerGroup Group>
Nccl(Group) -> Nccl<Group>;

}  // namespace algoperf
