// CudaDevice: the streams and handles of one device. All work of the library on a device goes to one stream, in
// order, except for the calls that fork() runs concurrently.
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
  // Returns the object of the current device (cudaSetDevice), created on first use.
  static CudaDevice& current() {
    static std::mutex mutex;
    static auto& devices = *new std::map<int, std::unique_ptr<CudaDevice>>;  // leaked: CUDA may shut down first at exit
    static thread_local int last = -1;                                       // the device of this thread's last call
    static thread_local CudaDevice* of_last = nullptr;
    int ordinal = 0;
    cuda_check(cudaGetDevice(&ordinal), "querying the current device");
    if (ordinal == last) return *of_last;
    const std::lock_guard lock(mutex);
    std::unique_ptr<CudaDevice>& device = devices[ordinal];
    if (device == nullptr) device.reset(new CudaDevice(ordinal));
    last = ordinal;
    of_last = device.get();
    return *device;
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  // The handles of the current stream.
  cudaStream_t stream() const { return own().stream(); }
  cublasHandle_t blas() const { return own().blas(); }
  cusolverDnHandle_t solver() { return own().solver(); }
  // Returns `wanted`, limited to the number of blocks that fills the device.
  unsigned blocks(std::size_t wanted) const {
    const std::size_t most = 32u * static_cast<unsigned>(processors_);
    return static_cast<unsigned>(wanted < most ? wanted : most);
  }
  // Returns memory for the intermediate results of one call, valid until the next call of scratch() on the current
  // stream. It grows on demand and is kept.
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
  // Calls f(i) for i in [0, count) concurrently on at most `streams` streams, call i on stream i % streams. The calls
  // run after all work launched before fork() and before all work launched after it.
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
    } catch (...) {  // work launched later must not overlap with work still running
      settle();
      for (std::size_t i = 0; i < used; ++i) cudaStreamSynchronize(streams_[i]->stream());
      cudaGetLastError();
      throw;
    }
    for (std::size_t i = 1; i < used; ++i) await(0, i);
  }
  // Launches an operation on the current stream, or passes it to the tape of the current step.
  void start(const CudaOperation& operation) const {
    if (tape != nullptr)
      tape->take(operation, stream());
    else
      operation.start(stream());
  }
  // Launches all operations that the tape holds back and ends its replay. Call it before work that cannot be part of
  // a graph.
  void settle() const {
    if (tape != nullptr) tape->give_up();
  }
  // Waits for the work launched on the current stream.
  void catch_up() const { cuda_check(cudaStreamSynchronize(stream()), "waiting for the device"); }
  void synchronize() const {
    settle();
    catch_up();
  }
  CudaRing& ring() { return ring_; }

  CudaTape* tape = nullptr;  // of the current step, or null

 private:
  explicit CudaDevice(int ordinal) {
    cuda_check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, ordinal), "querying the device");
    streams_.push_back(std::make_unique<CudaStream>());
  }

  struct BackToFirst {
    CudaDevice& device;
    ~BackToFirst() { device.in_hand_ = 0; }
  };

  CudaStream& own() const { return *streams_[in_hand_]; }
  // Records the event of the current stream, so that other streams can wait for its work so far.
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

// Launches kernel(arguments...) on the device's current stream.
template <class... Parameters>
void cuda_launch(const CudaDevice& device, dim3 blocks, unsigned threads, void (*kernel)(Parameters...),
                 const std::type_identity_t<Parameters>&... arguments) {
  static_assert((__is_trivially_copyable(Parameters) && ...), "algoperf: a kernel's arguments are copied as bytes");
  static constexpr std::size_t sizes[] = {sizeof(Parameters)...};
  const void* places[] = {&arguments...};
  device.start(CudaKernel(blocks, threads, reinterpret_cast<const void*>(kernel), CudaKernel::launch<Parameters...>,
                          const_cast<void**>(places), sizes, sizeof...(Parameters)));
}

// Runs call(stream) on the device's current stream. Call must be comparable by ==.
template <class Call>
void cuda_call(const CudaDevice& device, const Call& call) {
  device.start(CudaCall<Call>(call));
}

}  // namespace algoperf::detail
