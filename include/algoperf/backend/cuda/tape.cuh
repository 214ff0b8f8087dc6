// CudaTape: what one training step asks of a device, recorded, and from then on started as one CUDA graph.
//
// A step's host code runs each time, but while a tape replays, what it asks for is only compared with the record: an
// operation with other arguments (a step's constants, the place of its indices) gives them to its node. When the step
// has ended the graph starts, all at once. Whatever differs otherwise, or must come to the host at once, ends the
// replay: what was asked for so far starts one by one, as does the rest, and the next step is recorded anew.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "check.cuh"

namespace algoperf::detail {

// Something to start on a stream.
class CudaOperation {
 public:
  virtual ~CudaOperation() = default;
  virtual void start(cudaStream_t stream) const = 0;
  // Becomes `next` if that is the same operation, on whatever arguments a node can change; `changed` says whether any
  // did.
  virtual bool become(const CudaOperation& next, bool& changed) = 0;
  // What changes with its arguments, in a graph: nothing of an operation that does not become another.
  virtual bool has_node() const { return false; }
  virtual void update(cudaGraphExec_t, cudaGraphNode_t) {}
  virtual std::unique_ptr<CudaOperation> copy() const = 0;
};

// A kernel, in any blocks and on any arguments.
template <class... Parameters>
class CudaKernel final : public CudaOperation {
 public:
  CudaKernel(dim3 blocks, unsigned threads, void (*kernel)(Parameters...), const Parameters&... arguments)
      : blocks_(blocks), threads_(threads), kernel_(kernel), arguments_(arguments...) {}

  void start(cudaStream_t stream) const override {
    cudaLaunchConfig_t config{};
    config.gridDim = blocks_;
    config.blockDim = dim3(threads_);
    config.stream = stream;
    std::apply(
        [&](const auto&... arguments) {
          cuda_check(cudaLaunchKernelEx(&config, kernel_, arguments...), "starting a kernel");
        },
        arguments_);
  }
  bool become(const CudaOperation& next, bool& changed) override {
    const auto* const other = dynamic_cast<const CudaKernel*>(&next);
    if (other == nullptr || other->kernel_ != kernel_) return false;
    changed = blocks_.x != other->blocks_.x || blocks_.y != other->blocks_.y || threads_ != other->threads_ ||
              !same_arguments(*other, std::index_sequence_for<Parameters...>{});
    if (changed) *this = *other;
    return true;
  }
  bool has_node() const override { return true; }
  void update(cudaGraphExec_t graph, cudaGraphNode_t node) override {
    std::apply(
        [&](auto&... arguments) {
          void* places[] = {&arguments..., nullptr};
          cudaKernelNodeParams facts{};
          facts.func = reinterpret_cast<void*>(kernel_);
          facts.gridDim = blocks_;
          facts.blockDim = dim3(threads_);
          facts.kernelParams = places;
          cuda_check(cudaGraphExecKernelNodeSetParams(graph, node, &facts), "changing a graph");
        },
        arguments_);
  }
  std::unique_ptr<CudaOperation> copy() const override { return std::make_unique<CudaKernel>(*this); }

 private:
  // By their bytes: what differs in padding alone is given to the node once more, which harms nothing.
  template <std::size_t... I>
  bool same_arguments(const CudaKernel& other, std::index_sequence<I...>) const {
    return (... && (std::memcmp(&std::get<I>(arguments_), &std::get<I>(other.arguments_),
                                sizeof std::get<I>(arguments_)) == 0));
  }

  dim3 blocks_;
  unsigned threads_;
  void (*kernel_)(Parameters...);
  std::tuple<Parameters...> arguments_;
};

// A call of a library, `call(stream)`, whose arguments no node can change. Calls are comparable by ==.
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
  std::unique_ptr<CudaOperation> copy() const override { return std::make_unique<CudaCall>(*this); }

 private:
  Call call_;
};

class CudaTape {
 public:
  CudaTape() = default;
  CudaTape(const CudaTape&) = delete;
  CudaTape& operator=(const CudaTape&) = delete;
  ~CudaTape() { forget(); }

  // Steps that were started as a graph.
  std::size_t replays() const { return replays_; }

  // work(), a step, on a device whose operations come to this tape while it is the device's.
  template <class Device, class Work>
  void replay(Device& device, const Work& work) {
    const bool first = calls_++ == 0;  // takes memory, writes tables
    if (first || spoilt_ > 8 + calls_ / 16) return work();
    const Turn<Device> turn{*this, device, graph_ == nullptr ? Mode::recording : Mode::replaying};
    work();
    if (mode_ == Mode::recording) try {
        make_graph(device.stream());
      } catch (const Error&) {  // the step is done; those to come go without a graph
        forget();
        cudaGetLastError();  // or whoever asks next would take it for theirs
        mode_ = Mode::off;
        spoilt_ = std::numeric_limits<std::size_t>::max();
      }
    else if (mode_ == Mode::replaying)
      start_graph(device.stream());
  }

  // An operation of the step: starts it, or leaves it to the graph.
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

  // What was asked for must have started: the host is about to wait for it, or to change memory it uses.
  void give_up() {
    if (mode_ == Mode::off) return;
    const bool replaying = mode_ == Mode::replaying;
    mode_ = Mode::off;
    ++spoilt_;
    const std::vector<Step> asked = std::move(steps_);
    forget();  // before what may throw: the nodes have other arguments by now
    if (replaying)
      for (std::size_t i = 0; i < next_; ++i) asked[i].operation->start(asked[i].stream);
  }

 private:
  enum class Mode { off, recording, replaying };
  struct Step {
    std::unique_ptr<CudaOperation> operation;
    cudaStream_t stream;
    cudaGraphNode_t node;  // in the graph, if it has one that may change
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
      if (tape.mode_ != Mode::off) tape.forget();  // an error has cut the step short
      tape.mode_ = Mode::off;
    }
  };

  // The nodes of source_ are by what those of graph_ are called, so it stays as long.
  void make_graph(cudaStream_t stream) {
    cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "recording a graph");
    try {
      for (Step& step : steps_) {
        step.operation->start(step.stream);
        if (step.operation->has_node()) step.node = last_node(step.stream);
      }
    } catch (...) {  // or the stream would record for ever
      cudaStreamEndCapture(stream, &source_);
      throw;
    }
    cuda_check(cudaStreamEndCapture(stream, &source_), "recording a graph");
    cuda_check(cudaGraphInstantiate(&graph_, source_, 0), "making a graph");
    mode_ = Mode::off;
  }
  void start_graph(cudaStream_t stream) {
    if (next_ != steps_.size()) return give_up();
    try {
      for (const std::size_t i : changed_) steps_[i].operation->update(graph_, steps_[i].node);
    } catch (const Error&) {  // operations have become this step's, whatever their nodes are
      cudaGetLastError();
      return give_up();
    }
    cuda_check(cudaGraphLaunch(graph_, stream), "starting a graph");
    mode_ = Mode::off;
    ++replays_;
  }
  // The node of the operation that a stream has captured last.
  static cudaGraphNode_t last_node(cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 0;
#if CUDART_VERSION >= 13000
    cuda_check(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, nullptr, &count),
               "recording a graph");
#else
    cuda_check(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, nullptr, &nodes, &count), "recording a graph");
#endif
    require(count == 1, "cuda: recording a graph failed: an operation forks");
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
  std::size_t next_ = 0;  // operation of a replay
  std::size_t calls_ = 0, replays_ = 0, spoilt_ = 0;
  cudaGraph_t source_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace algoperf::detail
