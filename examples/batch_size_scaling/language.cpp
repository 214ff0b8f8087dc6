#include <algoperf/workloads/shakespeare_lm.hpp>

#include "workloads.hpp"

namespace {

// One block of width 32.
struct SmallTransformer {
  static constexpr const char* name = "shakespeare_small_lm";
  static constexpr double target_perplexity = 9;
  static constexpr std::uint64_t step_hint = 500;
  static algoperf::RotaryTransformer model(std::size_t vocabulary, std::size_t context) {
    return {.vocabulary = vocabulary, .context = context, .width = 32, .layers = 1, .heads = 2};
  }
};

struct FewSequences : algoperf::ShakespeareText<SmallTransformer> {
  auto validation() const { return ShakespeareText::validation().subset(0, 200); }
};

}  // namespace

std::vector<BatchSizeEntry> language_entries() { return with_submissions(FewSequences{}); }
