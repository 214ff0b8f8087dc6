// The contract of every update rule on the host, in addition to the contract on any backend (rule_contract.hpp).
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "../support/sanitizers.hpp"
#include "algoperf/backend/host.hpp"
#include "rule_contract.hpp"

namespace algoperf::testing {

// Checks that values and state are bitwise identical, whatever each of `starts` trains with.
template <class S>
void check_threads(const std::vector<Start<S>>& starts, const Layout& layout) {
  const auto one = starts.front()(layout);
  one->steps(2, 0.05);
  for (std::size_t i = 1; i < starts.size(); ++i) {
    const auto many = starts[i](layout);
    many->steps(2, 0.05);
    CHECK(many->values() == one->values());
    CHECK(many->saved_state() == one->saved_state());
  }
}

// Checks that values are bitwise identical whether parameters and gradients are stored in packed vectors of the
// caller or in padded arenas.
template <class S, class Rule>
void check_own_memory(const RuleMember<Rule>& member) {
  const std::vector<Shape> shapes{{5, 3}, {7}, {1}, {33}, {2, 3, 3}};
  const Layout layout = layout_of(shapes, 1);
  std::vector<S> values(layout.size()), gradients(layout.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<S>(start_value(i));
  auto state = member.rule.state(Host<S>{}, layout);
  std::uint64_t t = 0;
  const std::function<double()> evaluate = [&] {
    const std::vector<double> p(values.begin(), values.end());
    std::vector<double> g(p.size());
    const double loss = shaken(t, p, g);
    std::copy(g.begin(), g.end(), gradients.begin());
    return loss;
  };
  Training<Rule, Host<S>> padded(member.rule, layout_of(shapes));
  while (t < 10) {
    ++t;
    evaluate();
    const Step now{.t = t, .learning_rate = 0.05};
    if constexpr (requires { member.rule.step(gradients, values, state, now, evaluate); })
      member.rule.step(gradients, values, state, now, evaluate);
    else
      member.rule.step(gradients, values, state, now);
    padded.step(0.05);
  }
  CHECK(values == padded.values());
}

// Checks that every rule computes the same bits for any number of threads: one, three, and two unless a sanitizer makes
// that slow.
template <class S>
void check_thread_contract() {
  // `chunks` has sizes around one chunk of a sum (8192 elements) and around the size from which a tensor is split
  // across threads (32768), and enough smaller tensors for several threads. `matrices` has matrices whose products
  // are split across threads. `equal` has matrices of equal shape, which are processed in batches. An elementwise rule
  // treats all shapes alike.
  const Layout chunks = layout_of({{8191}, {8192}, {8193}, {40000}, {1}, {32767}, {32768}});
  const Layout matrices = layout_of({{300, 300}, {8191}, {3, 5}, {200, 170}, {17}});
  const Layout equal = layout_of({{40, 30}, {40, 30}, {17}, {40, 30}, {3, 5}, {40, 30}, {40, 30}, {3, 5}});
  for_each_rule([&](const auto& member) {
    INFO("rule: ", std::string(member.facts.name));
    std::vector<Start<S>> starts;
    for (const unsigned threads : {1u, 2u, 3u})
      if (threads != 2 || !ANY_SANITIZER) starts.emplace_back(member.rule, Host<S>{.threads = threads});
    check_threads(starts, chunks);
    if (member.facts.element_wise) return;
    check_threads(starts, matrices);
    check_threads(starts, equal);
  });
}

template <class S>
void check_host_contract() {
  check_rule_contract(Host<S>{});
  for_each_rule([](const auto& member) {
    INFO("rule: ", std::string(member.facts.name));
    check_own_memory<S>(member);
  });
}

}  // namespace algoperf::testing
