// ObserverList: the observers of a run, in the order in which they were passed.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/tuple.hpp"
#include "concept.hpp"
#include "explain_observer.hpp"

namespace algoperf::detail {

template <class Run, class... Observers>
class ObserverList {
 public:
  // is_root: whether this is rank 0. Observers that are root_only run only there.
  ObserverList(bool is_root, Observers&... observers) : is_root_(is_root), observers_{{{&observers}...}} {}

  // Calls f(observer, index) for each observer that runs on this rank.
  template <class F>
  void for_each(const F& f) const {
    call_each(f, std::index_sequence_for<Observers...>{});
  }

  // evaluates() returns whether any observer evaluates. metric() returns the metric of evaluating observer number
  // `source`, counted from 0.
  static consteval bool evaluates() { return (HasEvaluate<Observers, Run> || ...); }
  MetricFacts metric(std::size_t source) const {
    MetricFacts facts;
    std::size_t n = 0;
    for_each([&](auto& observer, auto) {
      using O = std::remove_reference_t<decltype(observer)>;
      if constexpr (HasEvaluate<O, Run>) {
        const bool is_it = n++ == source;
        if constexpr (HasMetric<O>)
          if (is_it) facts = {observer.metric().name, observer.metric().lower_is_better};
      }
    });
    return facts;
  }
  // Whether an observer reads the loss of a step. An observer with after_step but without reads_loss is assumed to.
  bool reads_loss(const StepReport& step) const {
    bool some = false;
    for_each([&](auto& observer, auto) {
      using O = std::remove_reference_t<decltype(observer)>;
      if constexpr (HasReadsLoss<O>)
        some = observer.reads_loss(step) || some;
      else if constexpr (HasAfterStep<O, Run>)
        some = true;
    });
    return some;
  }

  // Visits a section "observer <name>" per observer that has state. The second one of a name has "observer <name> 2",
  // and so on.
  template <class Archive>
  void visit(Archive& archive) {
    for_each([&](auto& observer, auto i) {
      if constexpr (HasVisit<std::remove_reference_t<decltype(observer)>>)
        archive.section(section_of(i), [&](auto& section) { observer.visit(section); });
    });
  }

 private:
  // Compiles faster than for_each_index, which would need a lambda for each call and observer.
  template <class F, std::size_t... I>
  void call_each(const F& f, std::index_sequence<I...>) const {
    ((runs_here<Observers>() ? f(*get<I>(observers_), Index<I>{}) : void()), ...);
  }
  template <class O>
  bool runs_here() const {
    if constexpr (IsRootOnly<O>)
      return is_root_;
    else
      return true;
  }
  template <class O>
  static const char* name_of() {
    if constexpr (HasVisit<O>)
      return O::name;
    else
      return "";
  }
  static std::string section_of(std::size_t observer) {
    const std::vector<std::string> names{name_of<Observers>()...};
    std::size_t n = 1;
    for (std::size_t i = 0; i < observer; ++i) n += names[i] == names[observer];
    return "observer " + names[observer] + (n > 1 ? " " + std::to_string(n) : "");
  }

  bool is_root_;
  Tuple<Observers*...> observers_;
};

}  // namespace algoperf::detail
