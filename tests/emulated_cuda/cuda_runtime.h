// An emulated CUDA device on the host, for tests without a GPU. It implements the part of the CUDA runtime that
// backend/cuda uses. Kernels run thread by thread. Each thread is a coroutine that resumes when its barrier opens, so
// the tests cover both the results and the synchronisation of kernels. Threads run in ascending order, or in
// descending order if emulated_cuda::falling is true, and must compute the same. The emulation does not model speed
// or memory access.
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "streams.h"

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(threads)
#define __shared__ static thread_local
#define CUDART_VERSION 13000

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

inline thread_local dim3 threadIdx(0, 0, 0), blockIdx(0, 0, 0), blockDim, gridDim;

namespace emulated_cuda {

constexpr unsigned warp_size = 32;
inline bool falling = false;                           // whether threads run in descending order
inline std::size_t most_bytes = std::size_t{1} << 40;  // largest allocation that succeeds

// The threads of one block.
class Block {
 public:
  static Block& instance() {
    static thread_local Block block;
    return block;
  }

  // Runs f() once in each of `count` threads.
  template <class F>
  void run(unsigned count, const F& f) {
    while (threads_.size() < count) add_thread();
    count_ = count;
    kernel_ = [](const void* kernel) { (*static_cast<const F*>(kernel))(); };
    argument_ = &f;
    for (unsigned i = 0; i < count; ++i) {
      threads_[i]->waits = For::nothing;
      threads_[i]->exchanges = 0;
    }
    while (!finished()) {
      bool went_on = false;
      for (unsigned k = 0; k < count; ++k) {
        const unsigned i = falling ? count - 1 - k : k;
        if (threads_[i]->waits != For::nothing) continue;
        resume(i);
        went_on = true;
      }
      for (unsigned first = 0; first < count; first += warp_size)
        open(For::warp, first, std::min(count, first + warp_size));
      open(For::block, 0, count);
      if (!went_on && !any(For::nothing)) {
        std::fputs("emulated_cuda: the threads of a block wait at different barriers\n", stderr);
        abort();
      }
    }
  }
  void wait_for_warp() { wait(For::warp); }
  void wait_for_block() { wait(For::block); }

  // Returns the x of the thread with index `lane` within the warp. No thread is more than one exchange ahead of
  // another.
  template <class T>
  T exchange(T x, unsigned lane) {
    Thread& mine = *threads_[threadIdx.x];
    const unsigned theirs = threadIdx.x / warp_size * warp_size + lane;
    static_assert(sizeof(T) <= sizeof mine.sent[0]);
    unsigned char(&place)[16] = mine.sent[mine.exchanges++ % 2];
    memcpy(place, &x, sizeof x);
    wait_for_warp();
    T y = x;
    if (theirs < count_) memcpy(&y, threads_[theirs]->sent[(mine.exchanges - 1) % 2], sizeof y);
    return y;
  }

 private:
  enum class For { nothing, warp, block, ever };
  struct Thread {
    static constexpr std::size_t stack_bytes = 256 << 10;
    std::unique_ptr<char[]> stack{new char[stack_bytes]};
    ucontext_t context;  // used before the thread has begun
    jmp_buf place;       // used afterwards
    bool begun = false;
    For waits = For::nothing;
    alignas(16) unsigned char sent[2][16];
    unsigned exchanges = 0;
  };

  static void enter() {
    Block& block = instance();
    for (;;) {
      block.kernel_(block.argument_);
      block.wait(For::ever);
    }
  }
  void add_thread() {
    Thread& thread = *threads_.emplace_back(std::make_unique<Thread>());
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = Thread::stack_bytes;
    thread.context.uc_link = nullptr;
    makecontext(&thread.context, enter, 0);
  }
  __attribute__((noinline)) void resume(unsigned i) {
    threadIdx.x = i;
    Thread& thread = *threads_[i];
    if (_setjmp(scheduler_) != 0) return;
    if (thread.begun) _longjmp(thread.place, 1);
    thread.begun = true;
    setcontext(&thread.context);
  }
  __attribute__((noinline)) void wait(For what) {
    Thread& thread = *threads_[threadIdx.x];
    thread.waits = what;
    if (_setjmp(thread.place) == 0) _longjmp(scheduler_, 1);
  }
  // Opens a barrier if all threads that have not finished wait at it.
  void open(For barrier, unsigned begin, unsigned end) {
    for (unsigned i = begin; i < end; ++i)
      if (threads_[i]->waits != barrier && threads_[i]->waits != For::ever) return;
    for (unsigned i = begin; i < end; ++i)
      if (threads_[i]->waits == barrier) threads_[i]->waits = For::nothing;
  }
  bool any(For what) const {
    return std::any_of(threads_.begin(), threads_.begin() + count_,
                       [&](auto& thread) { return thread->waits == what; });
  }
  bool finished() const {
    return std::all_of(threads_.begin(), threads_.begin() + count_,
                       [](auto& thread) { return thread->waits == For::ever; });
  }

  std::vector<std::unique_ptr<Thread>> threads_;
  unsigned count_ = 0;
  jmp_buf scheduler_;
  void (*kernel_)(const void*) = nullptr;
  const void* argument_ = nullptr;
};

}  // namespace emulated_cuda

inline void __syncthreads() { emulated_cuda::Block::instance().wait_for_block(); }
inline void __syncwarp(unsigned = ~0u) { emulated_cuda::Block::instance().wait_for_warp(); }
template <class T>
T __shfl_xor_sync(unsigned, T x, unsigned mask) {
  return emulated_cuda::Block::instance().exchange(x, threadIdx.x % emulated_cuda::warp_size ^ mask);
}

enum cudaError_t {
  cudaSuccess,
  cudaErrorInvalidValue,
  cudaErrorMemoryAllocation,
  cudaErrorNoDevice,
  cudaErrorInsufficientDriver,
  cudaErrorNoKernelImageForDevice,
  cudaErrorUnsupportedPtxVersion
};
namespace emulated_cuda {

// Of this thread:
inline thread_local std::size_t launches = 0;  // kernel launches, including graph nodes
inline thread_local std::size_t waits = 0;     // waits of the host for the device
inline thread_local cudaError_t has_no_device = cudaSuccess, cannot_launch = cudaSuccess;  // errors to return once

inline void wait() {
  ++waits;
  drain();
}

}  // namespace emulated_cuda

enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
struct cudaUUID_t {
  char bytes[16] = {};
};
struct cudaDeviceProp {
  char name[16] = "emulated";
  cudaUUID_t uuid = {};
  int major = 9, minor = 0;
};
using cudaStream_t = emulated_cuda::Stream*;
using cudaEvent_t = emulated_cuda::Event*;
enum { cudaEventDisableTiming = 2 };
inline cudaError_t cudaMalloc(void** x, std::size_t bytes) {
  if (bytes > emulated_cuda::most_bytes) return cudaErrorMemoryAllocation;
  *x = aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *x == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
template <class T>
cudaError_t cudaMalloc(T** x, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(x), bytes);
}
inline cudaError_t cudaFree(void* x) { return emulated_cuda::wait(), free(x), cudaSuccess; }
inline cudaError_t cudaMallocHost(void** x, std::size_t bytes) { return cudaMalloc(x, bytes); }
inline cudaError_t cudaMemset(void* x, int value, std::size_t bytes) {
  return emulated_cuda::wait(), memset(x, value, bytes), cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  emulated_cuda::wait();
  if (bytes > 0) memcpy(to, from, bytes);
  return cudaSuccess;
}
// Host memory is read before this returns, as CUDA does for memory that is not pinned.
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (kind == cudaMemcpyHostToDevice) {
    const auto* const first = static_cast<const unsigned char*>(from);
    emulated_cuda::start_call(stream, [to, staged = std::vector<unsigned char>(first, first + bytes)] {
      memcpy(to, staged.data(), staged.size());
    });
  } else {
    emulated_cuda::start_call(stream, [=] { memcpy(to, from, bytes); });
  }
  return cudaSuccess;
}

using cudaGraph_t = emulated_cuda::Graph*;
using cudaGraphExec_t = emulated_cuda::Graph*;
using cudaGraphNode_t = emulated_cuda::Node*;
using cudaGraphEdgeData = int;
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};

inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return emulated_cuda::capturing = new emulated_cuda::Graph, cudaSuccess;
}
inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long*,
                                            cudaGraph_t*, const cudaGraphNode_t** nodes, const cudaGraphEdgeData**,
                                            std::size_t* count) {
  *status = cudaStreamCaptureStatusActive;
  *nodes = &emulated_cuda::stream_of(stream).captured_last;
  return *count = 1, cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  return *graph = std::exchange(emulated_cuda::capturing, nullptr), cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* graph, cudaGraph_t from, unsigned long long) {
  return *graph = new emulated_cuda::Graph(*from), cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  for (const auto& node : graph->nodes) node->destroyed = true;
  return delete graph, cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return delete graph, cudaSuccess; }
inline cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t, cudaGraphNode_t node,
                                                    const cudaKernelNodeParams* facts) {
  if (node->destroyed) return cudaErrorInvalidValue;
  return node->change(facts), cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  for (const auto& node : graph->nodes) node->enqueue();
  return cudaSuccess;
}

inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return *free = std::size_t{1} << 30, *total = std::size_t{1} << 31, cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  return *device = emulated_cuda::device, std::exchange(emulated_cuda::has_no_device, cudaSuccess);
}
inline cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= emulated_cuda::devices) return cudaErrorInvalidValue;
  return emulated_cuda::device = device, cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) { return *count = emulated_cuda::devices, cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* facts, int device) {
  *facts = {};
  facts->uuid.bytes[0] = static_cast<char>(device);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) { return *value = 2, cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return emulated_cuda::wait(), cudaSuccess; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "an error";
}
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  auto& all = emulated_cuda::streams();
  return *stream = all.emplace_back(std::make_unique<emulated_cuda::Stream>()).get(), cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return emulated_cuda::wait(), cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return *event = new emulated_cuda::Event, cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return emulated_cuda::record(event, stream), cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return emulated_cuda::await(event, stream), cudaSuccess;
}

namespace emulated_cuda {

// A kernel with its grid and copies of its arguments.
class Launch {
 public:
  using Kernel = void (*)();
  using Call = void (*)(Kernel kernel, void* const* arguments);

  Launch(Kernel kernel, Call call, const std::size_t* sizes, std::size_t count)
      : kernel_(kernel), call_(call), sizes_(sizes), arguments_(count) {}

  void set(dim3 grid, dim3 block, void* const* arguments) {
    grid_ = grid;
    block_ = block;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      arguments_[i].resize((sizes_[i] + sizeof(Line) - 1) / sizeof(Line));
      memcpy(arguments_[i].data(), arguments[i], sizes_[i]);
    }
  }
  void run() {
    std::vector<void*> places;
    for (std::vector<Line>& argument : arguments_) places.push_back(argument.data());
    blockDim = block_;
    gridDim = grid_;
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
        Block::instance().run(blockDim.x, [&] { call_(kernel_, places.data()); });
  }

 private:
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  Kernel kernel_;
  Call call_;
  const std::size_t* sizes_;
  std::vector<std::vector<Line>> arguments_;
  dim3 grid_, block_;
};

inline void launch(std::shared_ptr<Launch> launch, Stream* stream) {
  const auto enqueue = [launch, stream] {
    ++launches;
    push(stream, [now = *launch]() mutable { now.run(); });
  };
  start(stream, enqueue, [launch](const void* to) {
    const auto& facts = *static_cast<const cudaKernelNodeParams*>(to);
    launch->set(facts.gridDim, facts.blockDim, facts.kernelParams);
  });
}

}  // namespace emulated_cuda

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments, std::size_t,
                             cudaStream_t stream) {
  using emulated_cuda::Launch;
  if (emulated_cuda::cannot_launch != cudaSuccess) return std::exchange(emulated_cuda::cannot_launch, cudaSuccess);
  static constexpr std::size_t sizes[] = {sizeof(Parameters)...};
  const auto call = [](Launch::Kernel erased, void* const* places) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      reinterpret_cast<void (*)(Parameters...)>(erased)(*static_cast<Parameters*>(places[I])...);
    }
    (std::index_sequence_for<Parameters...>{});
  };
  const auto launch =
      std::make_shared<Launch>(reinterpret_cast<Launch::Kernel>(kernel), call, sizes, sizeof...(Parameters));
  launch->set(grid, block, arguments);
  emulated_cuda::launch(launch, stream);
  return cudaSuccess;
}
