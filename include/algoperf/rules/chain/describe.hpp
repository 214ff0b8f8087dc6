// describe(rule): the cost of a rule, derived from its passes. print(rule) writes it to standard output:
//
//   2 passes, 40 bytes per parameter, 2 slots (8 bytes) of state
//     pass 1: Adam, DecayedWeights | measure TrustRatio per tensor; reads u p 2 slots, writes u 2 slots: 28 bytes
//     pass 2: TrustRatio, Descend | apply; reads u p, writes p: 12 bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../../core/print.hpp"
#include "../wrappers/apply_if_finite.hpp"
#include "../wrappers/armijo.hpp"
#include "../wrappers/frozen.hpp"
#include "../wrappers/mixed_precision.hpp"
#include "../wrappers/partition.hpp"
#include "../wrappers/sam.hpp"
#include "chain.hpp"

namespace algoperf {

// The memory traffic of a pass, in arrays of one scalar per parameter.
struct PassTraffic {
  bool reads_u = false, reads_p = false, writes_u = false, writes_p = false;
  std::size_t slots = 0;    // read and written
  std::uint64_t flops = 0;  // per parameter: operations of the kernel, of its sums and of p + u
  constexpr std::size_t scalars() const { return std::size_t{reads_u} + reads_p + writes_u + writes_p + 2 * slots; }
};

namespace detail {

// A scalar that records only whether it was computed from u or p. Running a kernel on Probes shows which arrays the
// kernel reads and how many operations it takes (core/cost.hpp).
struct Probe {
  bool u = false, p = false;
  static inline thread_local std::uint64_t operations = 0;

  constexpr Probe() = default;
  ALGOPERF_HD constexpr Probe(bool from_u, bool from_p) : u(from_u), p(from_p) {}
  template <class A>
  requires std::is_arithmetic_v<A> ALGOPERF_HD constexpr Probe(A) {}
  ALGOPERF_HD static Probe counted(Probe x) {
#if !ALGOPERF_ON_DEVICE  // kernels run on Probes on the host only
    ++operations;
#endif
    return x;
  }
  ALGOPERF_HD friend constexpr Probe operator|(Probe a, Probe b) { return {a.u || b.u, a.p || b.p}; }
  ALGOPERF_HD friend constexpr Probe operator&(Probe a, Probe b) { return a | b; }
  ALGOPERF_HD friend constexpr Probe operator&&(Probe a, Probe b) { return a | b; }
  ALGOPERF_HD friend constexpr Probe operator||(Probe a, Probe b) { return a | b; }
  ALGOPERF_HD friend constexpr Probe operator!(Probe a) { return a; }
  ALGOPERF_HD friend constexpr Probe operator-(Probe a) { return a; }
  ALGOPERF_HD friend constexpr Probe operator==(Probe a, Probe b) { return a | b; }
  ALGOPERF_HD friend constexpr Probe operator!=(Probe a, Probe b) { return a | b; }
  ALGOPERF_HD friend Probe operator+(Probe a, Probe b) { return counted(a | b); }
  ALGOPERF_HD friend Probe operator-(Probe a, Probe b) { return counted(a | b); }
  ALGOPERF_HD friend Probe operator*(Probe a, Probe b) { return counted(a | b); }
  ALGOPERF_HD friend Probe operator/(Probe a, Probe b) { return counted(a | b); }
  ALGOPERF_HD friend Probe operator<(Probe a, Probe b) { return counted(a | b); }
  ALGOPERF_HD friend Probe operator>(Probe a, Probe b) { return counted(a | b); }
  ALGOPERF_HD friend Probe operator<=(Probe a, Probe b) { return counted(a | b); }
  ALGOPERF_HD friend Probe operator>=(Probe a, Probe b) { return counted(a | b); }
};

// Returns the arrays that a pass reads or writes as text: " u p 2 slots".
inline std::string arrays(bool u, bool p, std::size_t slots) {
  std::string text = std::string(u ? " u" : "") + (p ? " p" : "");
  if (slots > 0) text += " " + std::to_string(slots) + (slots == 1 ? " slot" : " slots");
  return text;
}

template <class Stage>
concept TellsMoves = requires {
  { Stage::transform_traffic } -> std::convertible_to<std::size_t>;
};

// Returns the number of scalars per parameter that a matrix stage's transform reads and writes, or 0 if the stage does
// not declare transform_traffic.
template <class Stage>
consteval std::size_t transform_traffic() {
  if constexpr (TellsMoves<Stage>)
    return Stage::transform_traffic;
  else
    return 0;
}

template <class T>
std::string type_name() {
  const std::string text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  std::string name = text.substr(begin, text.find_first_of(";]", begin) - begin);
  for (const std::string prefix : {"algoperf::", "stages::"})
    for (std::size_t at; (at = name.find(prefix)) != std::string::npos;) name.erase(at, prefix.size());
  return name;
}

}  // namespace detail

template <>
struct Maths<detail::Probe> {
  using Scalar = float;
  using Mask = detail::Probe;
  ALGOPERF_HD static detail::Probe sqrt(detail::Probe x) { return detail::Probe::counted(x); }
  ALGOPERF_HD static detail::Probe exp(detail::Probe x) { return detail::Probe::counted(x); }
  ALGOPERF_HD static detail::Probe select(detail::Probe c, detail::Probe a, detail::Probe b) { return c | a | b; }
};

// Returns the traffic of pass I of a chain, found by running its kernel on a Probe.
template <std::size_t I, class... Stages>
PassTraffic traffic(const Chain<Stages...>& chain) {
  using P = Program<float, Stages...>;
  const TensorSpec any{"", Kind::weight, {2, 2}};
  const P program(P::plan(chain.stages(), {}, any), Step{1, 1});
  constexpr PassShape shape = P::list.passes[I];
  const double sums[P::max_sums] = {};
  const auto kernel = program.template fused<I>(sums, TensorFacts{4, 2, 2});
  constexpr std::size_t slot_count = P::slot_count(I);
  Slots<detail::Probe, slot_count> s{};
  const std::uint64_t before = detail::Probe::operations;
  const detail::Probe p(false, true);
  const detail::Probe u = kernel(detail::Probe(true, false), p, s);
  detail::Probe read = u;
  if constexpr (slot_count > 0)
    for (std::size_t j = 0; j < slot_count; ++j) read = read | s[j];
  if constexpr (shape.closing == Closing::measure_tensor || shape.closing == Closing::measure_all) {
    const auto terms = program.template measure<I>(u, p);
    for (std::size_t m = 0; m < P::sum_count(I); ++m) read = read | terms[m];
    detail::Probe::operations += P::sum_count(I);
  }
  const bool applies = shape.closing == Closing::apply, runs = shape.first < shape.last;
  if (shape.closing == Closing::transform && !runs && !shape.stores) return {};
  return {.reads_u = read.u,
          .reads_p = read.p || applies,
          .writes_u = shape.stores,
          .writes_p = applies,
          .slots = slot_count,
          .flops = detail::Probe::operations - before + applies};
}

// Returns the FLOPs of a step per parameter, of its passes only: the work of matrix stages is not included.
template <class... Stages>
std::uint64_t flops_per_parameter(const Chain<Stages...>& chain) {
  std::uint64_t flops = 0;
  for_each_index<PassList<Stages...>{}.pass_count>([&](auto i) { flops += traffic<i>(chain).flops; });
  return flops;
}

// Returns the bytes a step moves per parameter: in its passes, and in matrix stages that declare transform_traffic.
template <class... Stages>
std::size_t bytes_per_parameter(const Chain<Stages...>& chain, std::size_t scalar_bytes = sizeof(float)) {
  std::size_t scalars = (std::size_t{0} + ... + detail::transform_traffic<Stages>());
  for_each_index<PassList<Stages...>{}.pass_count>([&](auto i) { scalars += traffic<i>(chain).scalars(); });
  return scalars * scalar_bytes;
}

template <class... Stages>
std::string describe(const Chain<Stages...>& chain) {
  constexpr PassList<Stages...> list{};
  const std::string names[] = {detail::type_name<Stages>()...};
  const std::size_t own_scalars[] = {detail::transform_traffic<Stages>()...};
  const std::size_t slots = list.first_slot[sizeof...(Stages)];
  const std::size_t hand_over = (... || detail::EndsChain<Stages>) ? sizeof...(Stages) - 1 : sizeof...(Stages);
  std::string text = std::to_string(list.pass_count) + (list.pass_count == 1 ? " pass, " : " passes, ") +
                     std::to_string(bytes_per_parameter(chain)) + " bytes per parameter, " + std::to_string(slots) +
                     (slots == 1 ? " slot" : " slots") + " (" + std::to_string(4 * slots) + " bytes) of state\n";
  for_each_index<list.pass_count>([&](auto i) {
    constexpr PassShape pass = list.passes[i];
    const PassTraffic moved = traffic<i>(chain);
    text += "  pass " + std::to_string(i + 1) + ":";
    for (std::size_t j = pass.first; j < pass.last; ++j) text += (j == pass.first ? " " : ", ") + names[j];
    text += pass.closing == Closing::apply            ? " | apply"
            : pass.closing == Closing::measure_tensor ? " | measure " + names[pass.stage] + " per tensor"
            : pass.closing == Closing::measure_all    ? " | measure " + names[pass.stage] + " over all tensors"
            : pass.stage == hand_over                 ? " | store u"
                                                      : " | " + names[pass.stage] + " on matrices";
    const std::string read = detail::arrays(moved.reads_u, moved.reads_p, moved.slots);
    const std::string written = detail::arrays(moved.writes_u, moved.writes_p, moved.slots);
    if (!read.empty()) text += "; reads" + read;
    if (!written.empty()) text += ", writes" + written;
    const std::size_t own = pass.closing == Closing::transform ? own_scalars[pass.stage] : 0;
    if (own > 0) text += "; transform moves " + std::to_string(4 * own) + " bytes";
    text += ": " + std::to_string(4 * (moved.scalars() + own)) + " bytes\n";
  });
  return text;
}

inline std::string describe(const Frozen&) { return "no pass, no state\n"; }

template <class... Parts>
std::string describe(const Partition<Parts...>& partition) {
  std::string text;
  for_each_index<sizeof...(Parts)>([&](auto i) {
    const auto& part = get<i>(partition.parts());
    text += "where " + detail::type_name<std::remove_cvref_t<decltype(part.where)>>() + ": " + describe(part.rule);
  });
  return text;
}

template <class Rule, class... Stages>
std::string describe(const StagesThenRule<Rule, Stages...>& before) {
  return describe(before.stages()) + "then\n" + describe(before.rule());
}

template <class Rule>
std::string describe(const Sam<Rule>& sam) {
  return "a second gradient at p + e; 28 bytes per parameter (norm, perturb, restore), 1 slot of scratch; then\n" +
         describe(sam.rule());
}

template <class Rule>
std::string describe(const Armijo<Rule>& armijo) {
  return "a line search: 1 + tries gradients; 36 bytes per parameter (save, norm, restore) and 12 a try, 2 slots of "
         "scratch; then\n" +
         describe(armijo.rule());
}

template <class Rule>
std::string describe(const ApplyIfFinite<Rule>& wrapped) {
  return "gradients checked, 4 bytes per parameter; then\n" + describe(wrapped.rule());
}

template <class Half, class Rule, class LossScale>
std::string describe(const MixedPrecision<Half, Rule, LossScale>& mixed) {
  std::string text = detail::type_name<Half>() + " parameters and gradients, 4 bytes of master per parameter";
  if (Rule::stores_updates) text += "; widened and narrowed, 12 bytes per parameter, 4 bytes of scratch";
  if (mixed.scales) text += "; checked, 2 bytes per parameter";
  return text + "; then, with the same traffic as in float,\n" + describe(mixed.rule());
}

}  // namespace algoperf
