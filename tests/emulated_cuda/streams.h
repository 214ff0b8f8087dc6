// Streams of the emulated device. Work stays queued in its stream until the host waits for the device. Then the
// streams run, the last created first, each as far as its events allow. Code that lacks a required event therefore
// computes a wrong result, which tests detect. A process has several devices, each for one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace emulated_cuda {

struct Event {
  std::size_t asked = 0, happened = 0;  // number of recordings issued, and how many of them have been reached
};

// An operation of a stream, or a wait for recording number `ticket` of an event.
struct Task {
  std::function<void()> run;
  const Event* event = nullptr;
  std::size_t ticket = 0;
  bool is_ready() const { return event == nullptr || event->happened >= ticket; }
};

struct Node {
  std::function<void()> enqueue;
  std::function<void(const void*)> change;  // sets other parameters of a kernel
  bool destroyed = false;                   // whether the graph it was captured in was destroyed
};
struct Graph {
  std::vector<std::shared_ptr<Node>> nodes;
};
inline thread_local Graph* capturing = nullptr;

struct Stream {
  std::deque<Task> tasks;
  Node* captured_last = nullptr;
};

constexpr int devices = 4;
inline thread_local int device = 0;  // of this thread

// Returns the streams of this thread's device.
inline auto& streams() {
  static auto& of_devices = *new std::array<std::vector<std::unique_ptr<Stream>>, devices>;
  auto& all = of_devices[static_cast<std::size_t>(device)];
  if (all.empty()) all.push_back(std::make_unique<Stream>());  // the default stream
  return all;
}
inline Stream& stream_of(Stream* stream) { return stream == nullptr ? *streams().front() : *stream; }

// Calls enqueue(), or adds a node that will call it if a capture is active.
inline void start(Stream* stream, std::function<void()> enqueue, std::function<void(const void*)> change = {}) {
  if (capturing == nullptr) return enqueue();
  capturing->nodes.push_back(std::make_shared<Node>(Node{std::move(enqueue), std::move(change)}));
  stream_of(stream).captured_last = capturing->nodes.back().get();
}
inline void push(Stream* stream, std::function<void()> run) { stream_of(stream).tasks.push_back({std::move(run)}); }
// Starts an operation without arguments that a node can change.
inline void start_call(Stream* stream, std::function<void()> run) {
  start(stream, [stream, run = std::move(run)] { push(stream, run); });
}

inline void record(Event* event, Stream* stream) {
  start(stream, [=] {
    const std::size_t ticket = ++event->asked;
    push(stream, [=] { event->happened = ticket; });
  });
}
inline void await(Event* event, Stream* stream) {
  start(stream, [=] { stream_of(stream).tasks.push_back({[] {}, event, event->asked}); });
}

// Runs all streams until they are empty.
inline void drain() {
  for (bool went_on = true; went_on;) {
    went_on = false;
    for (std::size_t i = streams().size(); i-- > 0;)
      for (auto& tasks = streams()[i]->tasks; !tasks.empty() && tasks.front().is_ready(); went_on = true) {
        const Task task = std::move(tasks.front());
        tasks.pop_front();
        task.run();
      }
  }
  for (const auto& stream : streams())
    if (!stream->tasks.empty()) {
      std::fputs("emulated_cuda: a stream waits for an event that is never recorded\n", stderr);
      std::abort();
    }
}

}  // namespace emulated_cuda
