// Stops a run half-way and resumes it from a checkpoint. The parameters are bit-identical to those of an uninterrupted
// run.
#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
namespace ap = algoperf;

auto make_loop(const ap::GlyphDigits& task) {
  return ap::TrainingLoop(task.model(), task.loss(),
                          ap::chain(ap::Adam{}, ap::Descend{}, ap::WeightAverage{.decay = 0.99}), ap::Constant{1e-3},
                          ap::LossProportional{.batch = 64, .seed = 1});
}

int main() {
  const ap::GlyphDigits task;
  const auto data = task.train();
  const std::string file = (std::filesystem::temp_directory_path() / "algoperf_resume_example.checkpoint").string();
  std::filesystem::remove(file);

  auto whole = make_loop(task);
  whole.run(data, ap::UntilStep{60});
  auto first_half = make_loop(task);
  first_half.run(data, ap::Checkpoints(file, {.every = 30}), ap::UntilStep{30});
  auto second_half = make_loop(task);
  second_half.run(data, ap::Checkpoints(file, {.every = 30}), ap::UntilStep{60});

  const bool same = std::equal(whole.values(), whole.values() + whole.layout().size(), second_half.values());
  std::printf("step %llu: the parameters are %s\n", static_cast<unsigned long long>(second_half.steps()),
              same ? "the same, bit for bit" : "different");
  std::filesystem::remove(file);
  return same ? 0 : 1;
}
