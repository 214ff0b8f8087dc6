#include <algoperf/algoperf.hpp>
#include <algoperf/benchmark/all.hpp>

namespace ap = algoperf;

// A user-defined workload, with few digits because these programs are not optimised.
struct FewDigits {
  static constexpr const char* name = "few digits";
  double target_error = 0;
  ap::InMemory<float> all = ap::Glyphs{.seed = 1, .count = 80}.render();

  auto model() const { return ap::linear_model(ap::Shape{28, 28, 1}, 10); }
  auto loss() const { return ap::SoftmaxCrossEntropy{}; }
  auto metric() const { return ap::ErrorRate{}; }
  auto train() const { return all.subset(0, 64); }
  auto validation() const { return all.subset(64, 80); }
  auto test() const { return validation(); }
  ap::Target target() const { return {target_error, true}; }
  std::uint64_t step_hint() const { return 1; }
};

const ap::ShuffledEpochs batches{.batch = 16};
ALGOPERF_OPTIMIZER_STEP(ap::adamw(), ap::Host<>{}, 1 << 10, 1 << 12);
ALGOPERF_TIME_TO_TARGET("hard", FewDigits{}, ap::adamw(), ap::Constant{1e-3}, batches)->Repetitions(2);
ALGOPERF_TIME_TO_TARGET("easy", ap::TimeToTargetOptions{.budget = 2}, FewDigits{.target_error = 1}, ap::adamw(),
                        ap::Constant{1e-3}, batches);
BENCHMARK_MAIN();
