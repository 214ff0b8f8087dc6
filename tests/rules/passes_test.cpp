// Tests how chains are split into passes, and the traffic of the passes.
#include <doctest/doctest.h>

#include <string>

#include "algoperf/rules/all.hpp"

namespace ap = algoperf;
using ap::Adam, ap::ClipByGlobalNorm, ap::DecayedWeights, ap::Descend, ap::Momentum, ap::Orthogonalize, ap::TrustRatio;

namespace {

// Returns the passes of a chain as "first-last closing stage, ... / ...", with / between phases.
template <class... Stages>
std::string cut(const ap::Chain<Stages...>&) {
  constexpr ap::PassList<Stages...> list{};
  const char* const closings[] = {"apply", "tensor", "all", "transform"};
  std::string text;
  for (std::size_t phase = 0; phase < list.phase_count; ++phase) {
    if (phase > 0) text += " / ";
    for (std::size_t i = list.phases[phase].first; i < list.phases[phase].last; ++i) {
      const ap::PassShape pass = list.passes[i];
      if (i > list.phases[phase].first) text += ", ";
      text += std::to_string(pass.first) + "-" + std::to_string(pass.last) + " " +
              closings[static_cast<std::size_t>(pass.closing)];
      if (pass.closing != ap::Closing::apply) text += " " + std::to_string(pass.stage);
    }
  }
  return text;
}

}  // namespace

TEST_CASE("element stages share one pass") {
  CHECK(cut(ap::chain(Descend{})) == "0-1 apply");
  CHECK(cut(ap::adamw()) == "0-3 apply");
  CHECK(cut(ap::chain(DecayedWeights{}, Momentum{}, Descend{}, ap::WeightAverage{})) == "0-4 apply");
}

TEST_CASE("a measuring stage closes a pass and opens the next") {
  CHECK(cut(ap::lamb()) == "0-2 tensor 2, 2-4 apply");
  CHECK(cut(ap::chain(ClipByGlobalNorm{}, Descend{})) == "0-0 all 0 / 0-2 apply");
  CHECK(cut(ap::chain(Descend{}, ClipByGlobalNorm{})) == "0-1 all 1 / 0-2 apply");
  CHECK(cut(ap::chain(ClipByGlobalNorm{}, Adam{}, DecayedWeights{}, TrustRatio{}, Descend{})) ==
        "0-0 all 0 / 0-3 tensor 3, 3-5 apply");
  CHECK(cut(ap::chain(TrustRatio{}, TrustRatio{}, ClipByGlobalNorm{}, Descend{}, TrustRatio{})) ==
        "0-0 tensor 0, 0-1 tensor 1, 1-2 all 2 / 2-4 tensor 4, 4-5 apply");
}

TEST_CASE("stateless stages before a measuring one run in both passes") {
  CHECK(cut(ap::chain(DecayedWeights{}, TrustRatio{}, Descend{}, Momentum{})) == "0-1 tensor 1, 0-4 apply");
  CHECK(cut(ap::chain(DecayedWeights{}, TrustRatio{}, ClipByGlobalNorm{}, Descend{})) ==
        "0-1 tensor 1, 0-2 all 2 / 2-4 apply");
  CHECK(cut(ap::chain(DecayedWeights{}, Orthogonalize{}, Descend{})) == "0-1 transform 1 / 2-3 apply");
  CHECK(ap::bytes_per_parameter(ap::chain(DecayedWeights{}, TrustRatio{}, Descend{}, Momentum{})) == 28);
}

TEST_CASE("a chain that hands u over to a rule does not apply it") {
  CHECK(cut(ap::Chain(ClipByGlobalNorm{}, Momentum{}, ap::detail::HandOver{})) == "0-0 all 0 / 0-2 transform 2");
}

TEST_CASE("a matrix stage closes a pass") {
  CHECK(cut(ap::muon()) == "0-1 transform 1 / 2-4 apply");
  CHECK(cut(ap::chain(Orthogonalize{}, Descend{})) == "0-0 transform 0 / 1-2 apply");
  CHECK(cut(ap::chain(Momentum{}, Descend{}, Orthogonalize{})) == "0-2 transform 2 / 3-3 apply");
  CHECK(cut(ap::chain(TrustRatio{}, Orthogonalize{}, TrustRatio{}, Descend{})) ==
        "0-0 tensor 0, 0-1 transform 1 / 2-2 tensor 2, 2-4 apply");
}

TEST_CASE("rules move the minimum number of bytes per parameter") {
  CHECK(ap::bytes_per_parameter(ap::sgd()) == 12);
  CHECK(ap::bytes_per_parameter(ap::momentum()) == 20);
  CHECK(ap::bytes_per_parameter(ap::nesterov()) == 20);
  CHECK(ap::bytes_per_parameter(ap::lion()) == 20);
  CHECK(ap::bytes_per_parameter(ap::adam()) == 28);
  CHECK(ap::bytes_per_parameter(ap::adamw()) == 28);
  CHECK(ap::bytes_per_parameter(ap::nadamw()) == 28);
  CHECK(ap::bytes_per_parameter(ap::lamb()) == 40);
  const ClipByGlobalNorm clip;
  CHECK(ap::bytes_per_parameter(ap::chain(clip, Adam{}, DecayedWeights{}, Descend{})) == 32);
  CHECK(ap::bytes_per_parameter(ap::chain(clip, Adam{}, DecayedWeights{}, TrustRatio{}, Descend{})) == 44);
  CHECK(ap::bytes_per_parameter(ap::adamw(), sizeof(double)) == 56);
}

TEST_CASE("traffic reports what each pass reads and writes") {
  const auto rule = ap::chain(ClipByGlobalNorm{}, Momentum{}, TrustRatio{}, Descend{});
  const ap::PassTraffic clip = ap::traffic<0>(rule), measure = ap::traffic<1>(rule), apply = ap::traffic<2>(rule);
  CHECK((clip.reads_u && !clip.reads_p && !clip.writes_u && !clip.writes_p && clip.slots == 0));
  CHECK((measure.reads_u && measure.reads_p && measure.writes_u && !measure.writes_p && measure.slots == 1));
  CHECK((apply.reads_u && apply.reads_p && !apply.writes_u && apply.writes_p && apply.slots == 0));

  // Nesterov momentum before a matrix stage does not read the parameters. A matrix stage at the start moves nothing.
  const ap::PassTraffic before = ap::traffic<0>(ap::muon());
  CHECK((before.reads_u && !before.reads_p && before.writes_u && !before.writes_p && before.slots == 1));
  CHECK(ap::traffic<0>(ap::chain(Orthogonalize{}, Descend{})).scalars() == 0);
}

TEST_CASE("describe reports the cost of a rule") {
  CHECK(
      ap::describe(ap::lamb()) ==
      "2 passes, 40 bytes per parameter, 2 slots (8 bytes) of state\n"
      "  pass 1: Adam, DecayedWeights | measure TrustRatio per tensor; reads u p 2 slots, writes u 2 slots: 28 bytes\n"
      "  pass 2: TrustRatio, Descend | apply; reads u p, writes p: 12 bytes\n");
  CHECK(ap::describe(ap::partition(ap::matrices, ap::muon(), ap::otherwise, ap::sgd())) ==
        "where Matrices: 2 passes, 28 bytes per parameter, 1 slot (4 bytes) of state\n"
        "  pass 1: Nesterov | Orthogonalize on matrices; reads u 1 slot, writes u 1 slot: 16 bytes\n"
        "  pass 2: DecayedWeights, Descend | apply; reads u p, writes p: 12 bytes\n"
        "where Otherwise: 1 pass, 12 bytes per parameter, 0 slots (0 bytes) of state\n"
        "  pass 1: DecayedWeights, Descend | apply; reads u p, writes p: 12 bytes\n");
  CHECK(ap::describe(ap::chain(ClipByGlobalNorm{}, Descend{})) ==
        "2 passes, 16 bytes per parameter, 0 slots (0 bytes) of state\n"
        "  pass 1: | measure ClipByGlobalNorm over all tensors; reads u: 4 bytes\n"
        "  pass 2: ClipByGlobalNorm, Descend | apply; reads u p, writes p: 12 bytes\n");
  CHECK(ap::describe(ap::chain(Orthogonalize{}, Descend{})) ==
        "2 passes, 12 bytes per parameter, 0 slots (0 bytes) of state\n"
        "  pass 1: | Orthogonalize on matrices: 0 bytes\n"
        "  pass 2: Descend | apply; reads u p, writes p: 12 bytes\n");
}
