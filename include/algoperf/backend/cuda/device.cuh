// CudaDevice: what one device is driven by. All work of the library on a device goes to one stream, in order, but for
// what fork() lets go side by side.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "array.cuh"
#include "check.cuh"
#include "ring.cuh"
#include "stream.cuh"
#include "tape.cuh"

namespace algoperf::detail {

class CudaDevice {
 public:
  // Of the current device (cudaSetDevice), made when first asked for.
  static CudaDevice& current() {
    static std::mutex mutex;
    static auto& devices = *new std::map<int, std::unique_ptr<CudaDevice>>;  // kept: at exit CUDA may be gone before
    int ordinal = 0;
    cuda_check(cudaGetDevice(&ordinal), "looking for a device");
    const std::lock_guard lock(mutex);
    std::unique_ptr<CudaDevice>& device = devices[ordinal];
    if (device == nullptr) device.reset(new CudaDevice(ordinal));
    return *device;
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  // Of the stream in hand.
  cudaStream_t stream() const { return own().stream(); }
  cublasHandle_t blas() const { return own().blas(); }
  cusolverDnHandle_t solver() { return own().solver(); }
  // Blocks enough to fill the device, but no more than `wanted`.
  unsigned blocks(std::size_t wanted) const {
    const std::size_t most = 32u * static_cast<unsigned>(processors_);
    return static_cast<unsigned>(wanted < most ? wanted : most);
  }
  // Memory for one call's intermediate results, valid until the stream's next call that asks: grown when first needed
  // and kept.
  template <class T>
  T* scratch(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    CudaArray<unsigned char>& memory = own().scratch;
    if (memory.size() < bytes) {
      settle();
      memory = CudaArray<unsigned char>(bytes);
    }
    return reinterpret_cast<T*>(memory.data());
  }
  // f(i) for i in [0, count), side by side on at most so many `streams`: call i on stream i % streams, after all that
  // was started before, and before all that is started later.
  template <class F>
  void fork(std::size_t streams, std::size_t count, const F& f) {
    const std::size_t used = streams < count ? streams : count;
    if (used <= 1) {
      for (std::size_t i = 0; i < count; ++i) f(i);
      return;
    }
    while (streams_.size() < used) {
      settle();
      streams_.push_back(std::make_unique<CudaStream>());
    }
    signal();
    for (std::size_t i = 1; i < used; ++i) await(i, 0);
    try {
      const BackToFirst back{*this};
      for (std::size_t i = 0; i < count; ++i) {
        in_hand_ = i % used;
        f(i);
      }
      for (std::size_t i = 1; i < used; ++i) {
        in_hand_ = i;
        signal();
      }
    } catch (...) {  // what is started later must not meet what goes on
      settle();
      for (std::size_t i = 0; i < used; ++i) cudaStreamSynchronize(streams_[i]->stream());
      cudaGetLastError();
      throw;
    }
    for (std::size_t i = 1; i < used; ++i) await(0, i);
  }
  // Starts an operation on the stream, or leaves it to the tape of the step in hand.
  void start(const CudaOperation& operation) const {
    if (tape != nullptr)
      tape->take(operation, stream());
    else
      operation.start(stream());
  }
  // Starts what was left to a tape: for what cannot be part of a graph.
  void settle() const {
    if (tape != nullptr) tape->give_up();
  }
  // Waits for what has started.
  void catch_up() const { cuda_check(cudaStreamSynchronize(stream()), "waiting for the device"); }
  void synchronize() const {
    settle();
    catch_up();
  }
  CudaRing& ring() { return ring_; }

  CudaTape* tape = nullptr;  // of the step in hand

 private:
  explicit CudaDevice(int ordinal) {
    cuda_check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, ordinal), "looking at the device");
    streams_.push_back(std::make_unique<CudaStream>());
  }

  struct BackToFirst {
    CudaDevice& device;
    ~BackToFirst() { device.in_hand_ = 0; }
  };

  CudaStream& own() const { return *streams_[in_hand_]; }
  // Lets others await what the stream in hand was given so far.
  void signal() const { start(CudaCall<CudaSignal>({own().reached()})); }
  void await(std::size_t waiting, std::size_t awaited) {
    const BackToFirst back{*this};
    in_hand_ = waiting;
    start(CudaCall<CudaAwait>({streams_[awaited]->reached()}));
  }

  int processors_ = 1;
  std::vector<std::unique_ptr<CudaStream>> streams_;
  std::size_t in_hand_ = 0;
  CudaRing ring_;
};

// Starts kernel(arguments...) on the device's stream.
template <class... Parameters, class... Arguments>
void cuda_launch(const CudaDevice& device, dim3 blocks, unsigned threads, void (*kernel)(Parameters...),
                 const Arguments&... arguments) {
  device.start(CudaKernel<Parameters...>(blocks, threads, kernel, arguments...));
}

// Starts call(stream), which is comparable by ==.
template <class Call>
void cuda_call(const CudaDevice& device, const Call& call) {
  device.start(CudaCall<Call>(call));
}

}  // namespace algoperf::detail
