// Times a study of 5 submissions x 2 workloads x 5 trials x 3 studies on Glyphs, with one job and with two, and the
// same study in PyTorch with two (peers/study_speed.py). Every trial takes its whole budget, so that both do the same
// work.
#include <algoperf/algoperf.hpp>
#include <algoperf/tuning/baselines.hpp>
#include <algoperf/tuning/study.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ap = algoperf;

namespace {

// Learning rates with which no trial diverges, since one that does takes less than its budget.
ap::SearchSpace momentum_space() {
  return ap::SearchSpace({{.name = "learning_rate", .min = 0.02, .max = 0.2, .scaling = ap::Scaling::log},
                          {.name = "one_minus_beta1", .feasible = {0.1}},
                          {.name = "weight_decay", .feasible = {1e-6}},
                          {.name = "end_factor", .feasible = {1e-2}}});
}

double seconds_of_study(const std::string& folder, std::size_t jobs, std::uint64_t steps) {
  std::filesystem::remove_all(folder);
  ap::Study study({.folder = folder, .trial = {.steps = steps, .stop_at_target = false}, .jobs = jobs});
  const auto add = [&](const auto& workload) {
    study.add(workload, ap::AdamWBaseline{}, ap::NAdamWBaseline{}, ap::AdafactorBaseline{});
    study.add_with_space(workload, ap::HeavyBallBaseline{}, momentum_space());
    study.add_with_space(workload, ap::NesterovBaseline{}, momentum_space());
  };
  add(ap::GlyphDigitsLinear{});
  add(ap::GlyphDigits{});
  const ap::Stopwatch watch;
  const auto records = study.run();
  const double seconds = watch.seconds();
  std::size_t diverged = 0;
  for (const ap::StudyRecord& record : records) diverged += !record.result.failure.empty();
  std::printf("| algoperf, %zu %s | %.1f s |\n", jobs, jobs == 1 ? "job" : "jobs", seconds);
  if (diverged > 0)
    std::printf("%zu of %zu trials diverged and took less than their budget\n", diverged, records.size());
  std::fflush(stdout);
  return seconds;
}

template <class T>
void write(const std::string& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

}  // namespace

int main(int count, char** words) {
  const std::uint64_t steps = count > 2 ? std::strtoull(words[2], nullptr, 10) : 0;
  const std::string folder = std::filesystem::temp_directory_path() / "algoperf_study_speed";
  std::filesystem::create_directories(folder);
  const ap::GlyphDigits task;
  (void)task.train();  // rendered before the clock starts
  std::puts("| 150 trials | time |\n| --- | ---: |");
  const double one = seconds_of_study(folder + "/one", 1, steps), two = seconds_of_study(folder + "/two", 2, steps);
  std::printf("| speed-up of two jobs over one | %.2f |\n", one / two);
  if (count > 1) {
    write(folder + "/inputs", task.train().whole().inputs());
    write(folder + "/labels", task.train().whole().labels());
    const std::string command = std::string(words[1]) + " " BENCH_FOLDER "/peers/study_speed.py " + folder + " " +
                                std::to_string(steps == 0 ? task.step_hint() : steps);
    if (std::system(command.c_str()) != 0) return 1;
    double peer = 0;
    std::ifstream(folder + "/seconds") >> peer;
    std::printf("| PyTorch, 2 jobs | %.1f s |\n| PyTorch / algoperf, 2 jobs | %.2f |\n", peer, peer / two);
  }
  std::filesystem::remove_all(folder);
}
