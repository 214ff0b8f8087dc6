// A task of a few hundred digits, a network that learns it in milliseconds, and helpers shared by the tests of loops.
#pragma once

#include <algoperf/algoperf.hpp>
#include <algoperf/nn/metrics/error_rate.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "../support/folder.hpp"
#include "../support/sentence.hpp"
#include "../support/values_of.hpp"

namespace algoperf::testing {

struct Tiny {
  InMemory<float> all = digits();

  static constexpr auto model() { return mlp(Shape{28, 28, 1}, {12}, 10); }
  static constexpr auto loss() { return SoftmaxCrossEntropy{}; }
  static constexpr auto metric() { return ErrorRate{}; }
  auto train() const { return all.subset(0, 256); }
  auto validation() const { return all.subset(256, 320); }

  static const InMemory<float>& digits() {
    static const InMemory<float> rendered = Glyphs{.seed = 3, .count = 320}.render();
    return rendered;
  }
};

template <class Rule, class... Tail>
auto tiny_loop(const Rule& rule, double learning_rate, const Tail&... tail) {
  return TrainingLoop(Tiny::model(), Tiny::loss(), rule, Constant{learning_rate}, ShuffledEpochs{.batch = 32}, tail...);
}

// Returns a copy of the values of a tensor.
template <class Loop>
std::vector<float> tensor_values(Loop& loop, const char* tensor) {
  const auto values = loop.values(tensor);
  return {values.begin(), values.end()};
}

template <class S>
bool same_bits(const std::vector<S>& a, const std::vector<S>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(S)) == 0;
}

template <class A, class B>
bool same_values(A& a, B& b) {
  return same_bits(values_of(a), values_of(b));
}

// Returns whether two reports are equal in everything except times.
inline bool same_report(const RunReport& a, const RunReport& b) {
  return a.reason == b.reason && a.last.now.t == b.last.now.t && a.last.now.learning_rate == b.last.now.learning_rate &&
         a.last.loss == b.last.loss && a.last.examples == b.last.examples && a.evaluated == b.evaluated &&
         a.best.step == b.best.step && a.best.loss == b.best.loss && a.best.metric == b.best.metric &&
         std::strcmp(a.best.metric_name, b.best.metric_name) == 0 && a.best.lower_is_better == b.best.lower_is_better;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The path of a file that does not exist yet. The destructor removes the file.
class TemporaryFile {
 public:
  const std::string& path() const { return path_; }
  bool exists() const { return std::filesystem::exists(path_); }
  std::string read() const { return bytes_of(path_); }
  void write(const std::string& text) const { folder_.write("file", text); }

 private:
  Folder folder_;
  std::string path_ = folder_ / "file";
};

// A selector that chooses the same examples with the same weights at every step.
struct Always {
  std::size_t batch = 0;
  std::vector<std::uint32_t> indices = {};
  std::vector<float> weights = {};

  Always(std::vector<std::uint32_t> chosen, std::vector<float> weigh)
      : batch(chosen.size()), indices(std::move(chosen)), weights(std::move(weigh)) {}
  explicit Always(std::vector<std::uint32_t> chosen) : Always(chosen, std::vector<float>(chosen.size(), 1.0f)) {}

  struct State {};
  State state(std::size_t) const { return {}; }
  void select(State&, Step, Selection& selection) const {
    selection.indices = indices;
    selection.weights = weights;
  }
};

inline std::vector<std::uint32_t> range(std::uint32_t begin, std::uint32_t end) {
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = begin; i < end; ++i) indices.push_back(i);
  return indices;
}

// Ignores warnings during its lifetime.
struct WarningsIgnored {
  WarningHandler before = on_warning([](const char*) {});
  ~WarningsIgnored() { on_warning(before); }
};

// Calls f(step) after each step.
template <class F>
struct AfterStep {
  F f;
  template <class Run>
  Control after_step(Run&, const StepReport& report) {
    f(report.now.t);
    return Control::go_on;
  }
};
template <class F>
AfterStep(F) -> AfterStep<F>;

}  // namespace algoperf::testing
