// Streams of the emulated device: work waits in its stream until somebody waits for the device, and then streams go on
// as late ones first, each as far as its events let it. So what needs an event and has none computes something else.
#pragma once

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
  std::size_t asked = 0, happened = 0;  // how often it was recorded, and how many of these have been reached
};

// Something a stream does, or awaits: the event's recording number `ticket`.
struct Task {
  std::function<void()> run;
  const Event* event = nullptr;
  std::size_t ticket = 0;
  bool is_ready() const { return event == nullptr || event->happened >= ticket; }
};

struct Node {
  std::function<void()> enqueue;
  std::function<void(const void*)> change;  // of a kernel, to other facts
  bool destroyed = false;                   // with the graph it was captured in
};
struct Graph {
  std::vector<std::shared_ptr<Node>> nodes;
};
inline Graph* capturing = nullptr;

struct Stream {
  std::deque<Task> tasks;
  Node* captured_last = nullptr;
};
inline auto& streams() {
  static auto& all = *new std::vector<std::unique_ptr<Stream>>;
  if (all.empty()) all.push_back(std::make_unique<Stream>());  // the default one
  return all;
}
inline Stream& stream_of(Stream* stream) { return stream == nullptr ? *streams().front() : *stream; }

// enqueue(), or a node that will.
inline void start(Stream* stream, std::function<void()> enqueue, std::function<void(const void*)> change = {}) {
  if (capturing == nullptr) return enqueue();
  capturing->nodes.push_back(std::make_shared<Node>(Node{std::move(enqueue), std::move(change)}));
  stream_of(stream).captured_last = capturing->nodes.back().get();
}
inline void push(Stream* stream, std::function<void()> run) { stream_of(stream).tasks.push_back({std::move(run)}); }
// Something without arguments that change.
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

// Until all streams are empty.
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
      std::fputs("emulated_cuda: a stream waits for an event that nobody records\n", stderr);
      std::abort();
    }
}

}  // namespace emulated_cuda
