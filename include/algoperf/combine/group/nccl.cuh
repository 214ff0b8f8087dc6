// Nccl: ranks that exchange arrays between the memories of their GPUs by NCCL. For .cu files linked with nccl (or
// algoperf::nccl). A rank is one GPU. Another group starts the ranks and carries everything else that they tell each
// other:
//
//   run_ranks(gpus, [&](Threads group) {                 // one thread for each GPU of this machine
//     cudaSetDevice(static_cast<int>(group.rank()));
//     TrainingLoop loop(model, loss, rule, schedule, selector, Mean{}, Nccl{group}, Cuda{});
//     ...
//   });
//
//   cudaSetDevice(static_cast<int>(local_rank(Mpi{})));  // one process for each GPU, on any number of machines
//   TrainingLoop loop(model, loss, rule, schedule, selector, Mean{}, Nccl{Mpi{}}, Cuda{});
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <cstring>
#include <exception>
#include <span>
#include <utility>
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
    if (to[rank].size > 0)
      cuda_check(
          cudaMemcpyAsync(in + from[rank].begin, out + to[rank].begin, to[rank].size, cudaMemcpyDeviceToDevice, stream),
          "copying memory");
    ncclResult_t first = ncclGroupStart();
    const auto keep = [&](ncclResult_t result) { first = first == ncclSuccess ? result : first; };
    for (std::size_t r = 0; r < to.size() && first == ncclSuccess; ++r) {
      if (r == rank) continue;
      const int peer = static_cast<int>(r);
      if (to[r].size > 0) keep(ncclSend(out + to[r].begin, to[r].size, ncclInt8, peer, communicator, stream));
      if (from[r].size > 0) keep(ncclRecv(in + from[r].begin, from[r].size, ncclInt8, peer, communicator, stream));
    }
    keep(ncclGroupEnd());
    nccl_check(first, "an exchange", rank, to.size());
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
    if (communicator_ == nullptr) return;
    if (std::uncaught_exceptions() > exceptions_)
      ncclCommAbort(communicator_);  // without waiting for the other ranks
    else
      ncclCommDestroy(communicator_);
  }

  std::size_t rank() const override { return ranks_.rank(); }
  std::size_t size() const override { return ranks_.size(); }
  void exchange(const void* out, std::span<const ByteRange> to, void* in, std::span<const ByteRange> from) override {
    // While a step is replayed, its exchanges between devices are not launched until it ends. Another rank may wait for
    // them before it comes here, so they are launched now.
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
    int devices = 0;
    cuda_check(cudaGetDeviceCount(&devices), "counting the devices");
    const auto all = ranks_.all_gather(facts.uuid);
    for (std::size_t b = 1; b < all.size(); ++b)
      for (std::size_t a = 0; a < b; ++a)
        require(std::memcmp(&all[a], &all[b], sizeof all[a]) != 0, "Nccl: ranks ", a, " and ", b, " of ", size(),
                " use the same device; each rank needs one of its own (cudaSetDevice), and rank ", rank(), " sees ",
                devices);
  }

  Ranks ranks_;
  ncclComm_t communicator_ = nullptr;
  const CudaTape* tape_ = nullptr;  // of the step of the last exchange between devices
  std::size_t step_ = 0;            // its number on that tape
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace detail

// Group: Mpi, Threads, or your own, which starts the ranks.
template <WorkerGroup Group>
struct Nccl : Group {
  static_assert(
      requires(const Group& group) { group.connect(); }, "algoperf: Nccl needs a group of ranks: Mpi or Threads");

  Communicator* connect() const {
    Communicator* const all = Group::connect();
    return all == nullptr ? nullptr : new detail::NcclCommunicator(Ranks(all));
  }
};
template <WorkerGroup Group>
Nccl(Group) -> Nccl<Group>;

}  // namespace algoperf
