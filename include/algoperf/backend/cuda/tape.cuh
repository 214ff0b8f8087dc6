// CudaTape: a recording of the operations of one training step, which later steps launch as one CUDA graph.
//
// The host code of a step runs every time. While a tape replays, each operation is compared with the recorded one
// instead of being launched. If only its arguments differ (such as a step's constants or an address in the CudaRing),
// its graph node is updated. The graph is launched at the end of the step. Any other difference, or a value that the
// host needs at once, ends the replay: the operations held back so far are launched one by one, later ones are
// launched directly, and the next step is recorded again.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "check.cuh"

namespace algoperf::detail {

// An operation that can be launched on a stream.
class CudaOperation {
 public:
  virtual ~CudaOperation() = default;
  virtual void start(cudaStream_t stream) const = 0;
  // Returns whether `next` is the same operation, up to arguments that a graph node can change. If so, copies the
  // arguments of `next` and sets `changed` to whether any of them differed.
  virtual bool become(const CudaOperation& next, bool& changed) = 0;
  // Whether the operation has a graph node whose arguments update() can change.
  virtual bool has_node() const { return false; }
  virtual void update(cudaGraphExec_t, cudaGraphNode_t) {}
  virtual std::unique_ptr<CudaOperation> copy() const = 0;
};

// A kernel launch. Its grid, block and arguments can change from step to step. Its type does not depend on the types
// of the kernel's parameters, because the compilers take long for hundreds of such types.
class CudaKernel final : public CudaOperation {
 public:
  // Launches a kernel whose parameters have the types that the function was instantiated with.
  using Launch = cudaError_t (*)(const void* kernel, dim3 blocks, dim3 threads, void** arguments, cudaStream_t);
  template <class... Parameters>
  static cudaError_t launch(const void* kernel, dim3 blocks, dim3 threads, void** arguments, cudaStream_t stream) {
    return cudaLaunchKernel(reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(kernel)), blocks, threads,
                            arguments, 0, stream);
  }

  // Refers to `count` arguments at `arguments`, of `sizes` bytes. A copy holds copies of the arguments.
  CudaKernel(dim3 blocks, unsigned threads, const void* kernel, Launch call, void** arguments, const std::size_t* sizes,
             std::size_t count)
      : blocks_(blocks),
        threads_(threads),
        kernel_(kernel),
        launch_(call),
        arguments_(arguments),
        sizes_(sizes),
        count_(count) {}
  CudaKernel(const CudaKernel& other)
      : blocks_(other.blocks_),
        threads_(other.threads_),
        kernel_(other.kernel_),
        launch_(other.launch_),
        sizes_(other.sizes_),
        count_(other.count_) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count_; ++i) bytes += sizes_[i];
    own_bytes_.resize(bytes);
    bytes = 0;
    for (std::size_t i = 0; i < count_; bytes += sizes_[i++]) own_arguments_.push_back(own_bytes_.data() + bytes);
    arguments_ = own_arguments_.data();
    copy_arguments(other);
  }
  CudaKernel& operator=(const CudaKernel&) = delete;

  void start(cudaStream_t stream) const override {
    cuda_check(launch_(kernel_, blocks_, dim3(threads_), arguments_, stream), "launching a kernel");
  }
  bool become(const CudaOperation& next, bool& changed) override {
    const auto* const other = dynamic_cast<const CudaKernel*>(&next);
    if (other == nullptr || other->kernel_ != kernel_) return false;
    changed = blocks_.x != other->blocks_.x || blocks_.y != other->blocks_.y || threads_ != other->threads_ ||
              !same_arguments(*other);
    if (!changed) return true;
    blocks_ = other->blocks_;
    threads_ = other->threads_;
    copy_arguments(*other);
    return true;
  }
  bool has_node() const override { return true; }
  void update(cudaGraphExec_t graph, cudaGraphNode_t node) override {
    cudaKernelNodeParams facts{};
    facts.func = const_cast<void*>(kernel_);
    facts.gridDim = blocks_;
    facts.blockDim = dim3(threads_);
    facts.kernelParams = arguments_;
    cuda_check(cudaGraphExecKernelNodeSetParams(graph, node, &facts), "updating a graph");
  }
  std::unique_ptr<CudaOperation> copy() const override { return std::unique_ptr<CudaOperation>(new CudaKernel(*this)); }

 private:
  // Compares bytes. A difference in padding alone causes a redundant but harmless update of the node.
  bool same_arguments(const CudaKernel& other) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (std::memcmp(arguments_[i], other.arguments_[i], sizes_[i]) != 0) return false;
    return true;
  }
  void copy_arguments(const CudaKernel& other) {
    for (std::size_t i = 0; i < count_; ++i) std::memcpy(arguments_[i], other.arguments_[i], sizes_[i]);
  }

  dim3 blocks_;
  unsigned threads_;
  const void* kernel_;
  Launch launch_;
  void** arguments_;
  const std::size_t* sizes_;
  std::size_t count_;
  std::vector<unsigned char> own_bytes_;  // of a copy's arguments
  std::vector<void*> own_arguments_;
};

// A library call, `call(stream)`, whose arguments a graph node cannot change. Call must be comparable by ==.
template <class Call>
class CudaCall final : public CudaOperation {
 public:
  explicit CudaCall(const Call& call) : call_(call) {}

  void start(cudaStream_t stream) const override { call_(stream); }
  bool become(const CudaOperation& next, bool& changed) override {
    const auto* const other = dynamic_cast<const CudaCall*>(&next);
    changed = false;
    return other != nullptr && other->call_ == call_;
  }
  std::unique_ptr<CudaOperation> copy() const override { return std::unique_ptr<CudaOperation>(new CudaCall(*this)); }

 private:
  Call call_;
};

class CudaTape {
 public:
  CudaTape() = default;
  CudaTape(const CudaTape&) = delete;
  CudaTape& operator=(const CudaTape&) = delete;
  ~CudaTape() { forget(); }

  // Returns the number of steps launched as a graph, and of all steps.
  std::size_t replays() const { return replays_; }
  std::size_t calls() const { return calls_; }

  // Runs the step work() with this tape set as the device's tape. The first call runs without recording, the next is
  // recorded, and later calls are replayed. If too many recordings and replays have been abandoned, the step runs
  // without a tape.
  template <class Device, class Work>
  void replay(Device& device, const Work& work) {
    const bool first = calls_++ == 0;  // the first step allocates memory and writes tables
    if (first || spoilt_ > 8 + calls_ / 16) return work();
    const Turn<Device> turn{*this, device, graph_ == nullptr ? Mode::recording : Mode::replaying};
    work();
    if (mode_ == Mode::recording) try {
        make_graph(device.stream());
      } catch (const Error&) {  // this step has run; later steps run without a graph
        forget();
        cudaGetLastError();  // clears the error, so that a later check does not report it
        mode_ = Mode::off;
        spoilt_ = std::numeric_limits<std::size_t>::max();
      }
    else if (mode_ == Mode::replaying)
      start_graph(device.stream());
  }

  // Takes the next operation of the step: launches it, or leaves it to the graph.
  void take(const CudaOperation& operation, cudaStream_t stream) {
    if (mode_ == Mode::replaying) {
      bool changed = false;
      if (next_ < steps_.size() && steps_[next_].stream == stream &&
          steps_[next_].operation->become(operation, changed)) {
        if (changed) changed_.push_back(next_);
        ++next_;
        return;
      }
      give_up();
    } else if (mode_ == Mode::recording) {
      steps_.push_back({operation.copy(), stream, nullptr});
    }
    operation.start(stream);
  }

  // Ends recording or replay and launches the operations held back. Call it when the host is about to wait for them
  // or to change memory they use.
  void give_up() {
    if (mode_ == Mode::off) return;
    const bool replaying = mode_ == Mode::replaying;
    mode_ = Mode::off;
    ++spoilt_;
    const std::vector<Step> asked = std::move(steps_);
    forget();  // first, because a launch may throw and the nodes' arguments are outdated
    if (replaying)
      for (std::size_t i = 0; i < next_; ++i) asked[i].operation->start(asked[i].stream);
  }

 private:
  enum class Mode { off, recording, replaying };
  struct Step {
    std::unique_ptr<CudaOperation> operation;
    cudaStream_t stream;
    cudaGraphNode_t node;  // of the operation; null if it cannot be updated
  };

  template <class Device>
  struct Turn {
    CudaTape& tape;
    Device& device;
    Turn(CudaTape& t, Device& d, Mode mode) : tape(t), device(d) {
      tape.mode_ = mode;
      tape.next_ = 0;
      tape.changed_.clear();
      if (mode == Mode::recording) tape.forget();
      device.ring().begin_step();
      device.tape = &tape;
    }
    ~Turn() {
      device.tape = nullptr;
      if (tape.mode_ != Mode::off) tape.forget();  // an exception interrupted the step
      tape.mode_ = Mode::off;
    }
  };

  // Captures the recorded operations as a graph. Nodes of `graph_` are addressed by handles from `source_`, so
  // `source_` must outlive it.
  void make_graph(cudaStream_t stream) {
    cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capturing a graph");
    try {
      for (Step& step : steps_) {
        step.operation->start(step.stream);
        if (step.operation->has_node()) step.node = last_node(step.stream);
      }
    } catch (...) {  // otherwise the stream would stay in capture mode
      cudaStreamEndCapture(stream, &source_);
      throw;
    }
    cuda_check(cudaStreamEndCapture(stream, &source_), "capturing a graph");
    cuda_check(cudaGraphInstantiate(&graph_, source_, 0), "instantiating a graph");
    mode_ = Mode::off;
  }
  void start_graph(cudaStream_t stream) {
    if (next_ != steps_.size()) return give_up();
    try {
      for (const std::size_t i : changed_) steps_[i].operation->update(graph_, steps_[i].node);
    } catch (const Error&) {  // steps_ holds this step's arguments, even if their nodes could not be updated
      cudaGetLastError();
      return give_up();
    }
    cuda_check(cudaGraphLaunch(graph_, stream), "launching a graph");
    mode_ = Mode::off;
    ++replays_;
  }
  // Returns the node of the last operation captured on a stream.
  static cudaGraphNode_t last_node(cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 0;
#if CUDART_VERSION >= 13000
    cuda_check(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, nullptr, &count),
               "capturing a graph");
#else
    cuda_check(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, nullptr, &nodes, &count), "capturing a graph");
#endif
    require(count == 1, "cuda: capturing a graph failed: an operation does not end in one graph node");
    return nodes[0];
  }
  void forget() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
    if (source_ != nullptr) cudaGraphDestroy(source_);
    graph_ = nullptr;
    source_ = nullptr;
    steps_.clear();
  }

  Mode mode_ = Mode::off;
  std::vector<Step> steps_;
  std::vector<std::size_t> changed_;
  std::size_t next_ = 0;  // index of the next operation in replay
  std::size_t calls_ = 0, replays_ = 0, spoilt_ = 0;
  cudaGraph_t source_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace algoperf::detail
