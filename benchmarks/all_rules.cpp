// Compares every update rule of the contract tests (tests/contracts/members.hpp) with bare memory streams on the same
// memory, on one thread. Each pass of a rule has one stream with the same reads, the same in-place writes and one FMA
// per array.
//
//   bench_all_rules             one row per rule; a rule of one pass may take 1.10 times its stream at 10^7 parameters
//   bench_all_rules adam lamb   these rules only
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "../tests/contracts/members.hpp"
#include "baselines/handwritten.hpp"
#include "paired.hpp"
#include "rule_bench.hpp"

namespace ap = algoperf;
using bench::RuleBench;

namespace {

constexpr double bar = 1.10;
constexpr std::size_t sizes[] = {1 << 14, 1 << 18, 10'000'000};
constexpr const char* names_of_sizes[] = {"2^14", "2^18", "10^7"};

// Streams, indexed by the number of arrays read and updated in place.
constexpr std::size_t most_reads = 2, most_in_place = 6;
using Stream = void (*)(std::size_t, const float* const*, float* const*);

template <std::size_t... K>
Stream stream_of(std::size_t reads, std::size_t in_place, std::index_sequence<K...>) {
  constexpr std::size_t columns = most_in_place + 1;
  ap::require(reads <= most_reads && in_place <= most_in_place,
              "bench_all_rules: a pass has more arrays than the largest stream");
  static constexpr Stream table[] = {handwritten::pass<K / columns, K % columns>...};
  return table[reads * columns + in_place];
}

// The arrays of one pass.
struct Pass {
  std::vector<const float*> reads;
  std::vector<float*> in_place;
  float* copies_to = nullptr;  // if not null, the pass is a plain copy of reads[0]

  void run(std::size_t n) const {
    if (copies_to != nullptr) return handwritten::copy(n, reads[0], copies_to);
    const auto counts = std::make_index_sequence<(most_reads + 1) * (most_in_place + 1)>{};
    stream_of(reads.size(), in_place.size(), counts)(n, reads.data(), in_place.data());
  }
  std::size_t bytes() const { return sizeof(float) * (reads.size() + 2 * in_place.size() + (copies_to != nullptr)); }
};

// Appends the passes of a chain whose first slot is slot `slot` of `at`.
template <class Bench, class... Stages>
void add_passes(const ap::Chain<Stages...>& chain, Bench& at, std::size_t slot, std::vector<Pass>& passes) {
  using Program = ap::Program<float, Stages...>;
  ap::for_each_index<Program::list.pass_count>([&](auto i) {
    const ap::PassTraffic moved = ap::traffic<i>(chain);
    Pass pass;
    const auto add = [&pass](bool reads, bool writes, float* array) {
      if (writes)
        pass.in_place.push_back(array);
      else if (reads)
        pass.reads.push_back(array);
    };
    add(moved.reads_u, moved.writes_u, at.gradients());
    add(moved.reads_p, moved.writes_p, at.values());
    for (std::size_t j = 0; j < moved.slots; ++j) add(true, true, at.slot(slot + Program::first_slot(i) + j));
    passes.push_back(pass);
  });
}

template <class Bench, class... Stages>
std::vector<Pass> passes_of(const ap::Chain<Stages...>& chain, Bench& at) {
  std::vector<Pass> passes;
  add_passes(chain, at, 0, passes);
  return passes;
}
// The norm, the perturbation and the copy back, followed by the passes of the wrapped rule.
template <class Bench, class Rule>
std::vector<Pass> passes_of(const ap::Sam<Rule>& sam, Bench& at) {
  std::vector<Pass> passes;
  add_passes(ap::Chain<ap::SamPerturb>(ap::SamPerturb{}), at, 0, passes);
  passes.push_back({{at.slot(0)}, {}, at.values()});
  add_passes(sam.rule(), at, 1, passes);
  return passes;
}

// Rules dominated by matrix products have no row here.
template <class Rule>
inline constexpr bool has_passes = false;
template <class... Stages>
inline constexpr bool has_passes<ap::Chain<Stages...>> = (!ap::detail::is_matrix<Stages> && ...);
template <class Rule>
inline constexpr bool has_passes<ap::Sam<Rule>> = has_passes<Rule>;

// Returns the time of a rule's step as a multiple of the time of its streams.
template <class Rule>
bench::Quartiles against_streams(const Rule& rule, std::size_t n) {
  RuleBench at(rule, 1, {n / 16, 16});  // a matrix, so that masks select it
  const std::vector<Pass> passes = passes_of(rule, at);
  const auto library = [&] { at.step(1e-4); };
  const auto streams = [&] {
    for (const Pass& pass : passes) pass.run(n);
  };
  return bench::paired(library, streams, {.sample_seconds = 0.005});
}

void row(const char* format, const std::string& rule, const std::string& bytes, const std::string (&cells)[3],
         const char* verdict) {
  std::printf(format, rule.c_str(), bytes.c_str(), cells[0].c_str(), cells[1].c_str(), cells[2].c_str(), verdict);
  std::fflush(stdout);
}

// Prints the row of a rule. Returns false if it misses the bar.
template <class Rule>
bool row_of(const char* format, const std::string& name, const Rule& rule) {
  RuleBench small(rule, 1, {1, 16});
  const std::vector<Pass> passes = passes_of(rule, small);
  std::string bytes;
  for (const Pass& pass : passes) bytes += (bytes.empty() ? "" : " + ") + std::to_string(pass.bytes());
  std::string cells[3];
  bench::Quartiles ratio;
  for (std::size_t i = 0; i < 3; ++i) {
    ratio = against_streams(rule, sizes[i]);
    cells[i] = bench::text(ratio);
  }
  const bool judged = passes.size() == 1, pass = !judged || ratio.median <= bar;
  row(format, name, bytes, cells, !judged ? "" : pass ? "pass" : "MISS");
  return pass;
}

}  // namespace

int main(int count, char** names) {
  const char* const format = "| %-26s | %-16s | %-20s | %-20s | %-20s | %-4s |\n";
  row(format, "rule", "bytes", {names_of_sizes[0], names_of_sizes[1], names_of_sizes[2]}, "");
  std::printf("| --- | --- | --- | --- | --- | --- |\n");
  bool missed = false;
  ap::testing::for_each_rule([&](const auto& member) {
    if (count > 1 && std::find(names + 1, names + count, std::string(member.facts.name)) == names + count) return;
    if constexpr (has_passes<decltype(member.rule)>) missed = !row_of(format, member.facts.name, member.rule) || missed;
  });
  return missed ? 1 : 0;
}
