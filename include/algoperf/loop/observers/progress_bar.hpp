#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "../concept.hpp"
#include "../stopwatch.hpp"

namespace algoperf {

struct ProgressBarOptions {
  std::string label = "training";
  std::uint64_t total = 0;  // steps; 0 if unknown: neither the bar nor the time left is shown
  double target = 0;        // shown next to the metric if not 0
  std::FILE* out = stderr;
};

// Shows a progress line: label, bar, step, loss, metric, time left. On a terminal, the line is redrawn up to ten
// times a second. Otherwise, one line is written at each evaluation and at the end.
class ProgressBar {
 public:
  static constexpr bool never_stops = true, root_only = true;
  explicit ProgressBar(ProgressBarOptions options = {})
      : options_(std::move(options)), live_(isatty(fileno(options_.out)) != 0) {}

  template <class Run>
  void begin(Run& run) {
    first_ = run.loop().steps();
    watch_ = Stopwatch();
    shown_at_ = -1;
    shown_ = 0;
  }
  bool reads_loss(const StepReport&) { return due_ = live_ && watch_.seconds() - shown_at_ > 0.1; }
  template <class Run>
  Control after_step(Run&, const StepReport& report) {
    last_ = report;
    if (evaluated_ || due_) show(live_ ? '\r' : '\n');
    evaluated_ = false;
    return Control::go_on;
  }
  template <class Run>
  Control after_evaluation(Run&, const EvaluationReport& report) {
    if (report.source != 0) return Control::go_on;
    metric_name_ = report.metric_name;
    metric_ = report.metric;
    evaluated_ = true;  // shown after the step, with its loss
    return Control::go_on;
  }
  template <class Run>
  void end(Run&, const RunReport& report) {
    if (report.last.now.t == 0) return;
    const bool told = !live_ && !evaluated_ && shown_ == report.last.now.t;  // printed after its evaluation
    last_ = report.last;
    if (!told) show('\n');
  }

 private:
  void show(char ending);
  static unsigned long long number(std::uint64_t n) { return n; }

  ProgressBarOptions options_;
  bool live_;
  std::uint64_t first_ = 0, shown_ = 0;  // steps
  bool evaluated_ = false, due_ = false;
  Stopwatch watch_;
  double shown_at_ = -1;
  StepReport last_;
  const char* metric_name_ = "";
  double metric_ = 0;
};

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED ALGOPERF_COLD void ProgressBar::show(char ending) {
  shown_at_ = watch_.seconds();
  shown_ = last_.now.t;
  std::string line = options_.label + "  ";
  char text[96];
  if (options_.total > 0) {
    constexpr std::uint64_t width = 24;
    const std::uint64_t full = last_.now.t >= options_.total ? width : width * last_.now.t / options_.total;
    for (std::uint64_t i = 0; i < width; ++i) line += i < full ? "━" : "╌";
    std::snprintf(text, sizeof text, "  step %llu/%llu", number(last_.now.t), number(options_.total));
  } else {
    std::snprintf(text, sizeof text, "step %llu", number(last_.now.t));
  }
  line += text;
  if (last_.loss) {
    std::snprintf(text, sizeof text, "  loss %.4f", *last_.loss);
    line += text;
  }
  if (*metric_name_ != 0) {
    std::snprintf(text, sizeof text, "  %s %.4f", metric_name_, metric_);
    line += text;
    if (options_.target != 0) {
      std::snprintf(text, sizeof text, " (target %.4g)", options_.target);
      line += text;
    }
  }
  if (options_.total > last_.now.t && last_.now.t > first_) {
    const double left =
        shown_at_ * static_cast<double>(options_.total - last_.now.t) / static_cast<double>(last_.now.t - first_);
    std::snprintf(text, sizeof text, "  %.0f s left at most", left);
    line += text;
  }
  std::fprintf(options_.out, "%s%s%s%c", live_ ? "\r" : "", line.c_str(), live_ ? "\033[K" : "",
               ending == '\r' ? ' ' : ending);
  std::fflush(options_.out);
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf
