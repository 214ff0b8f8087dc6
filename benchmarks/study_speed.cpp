// Times a study of 5 submissions x 2 workloads x 5 trials x 3 studies on Glyphs, with one job and with two, and the
// same study in PyTorch with two (peers/study_speed.py). Every trial takes its whole budget, so that both do the same
// work. Then it estimates what one job needs at least if it copies its batches, as both sides do: the time of
// the matrix products at the processor's peak, plus the time of the memory traffic of update rules, of copying batches,
// and of the linear model's evaluations.
#include <algoperf/algoperf.hpp>
#include <algoperf/tuning/baselines.hpp>
#include <algoperf/tuning/study.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <algorithm>
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

// The smallest time of one call of `work` over three seconds, in seconds.
template <class Work>
double least_seconds(const Work& work) {
  double least = 1e9;
  for (const ap::Stopwatch total; total.seconds() < 3;) {
    const ap::Stopwatch watch;
    work();
    least = std::min(least, watch.seconds());
  }
  return least;
}

// The floating-point operations per second of one core on data in registers.
double peak_flops() {
  constexpr std::size_t sums = 192, rounds = 20000;
  alignas(64) static float sum[sums];
  volatile float factor = 0.999f;
  const float f = factor;
  const double seconds = least_seconds([&] {
    float local[sums];
    std::copy(sum, sum + sums, local);
    for (std::size_t r = 0; r < rounds; ++r)
      for (std::size_t i = 0; i < sums; ++i) local[i] = local[i] * f + f;
    std::copy(local, local + sums, sum);
  });
  return 2.0 * sums * rounds / seconds;
}

// Prints the least time of one job: `trials` trials of each workload. Softmax, activations, the packing of operands and
// everything else count as 0.
void print_least_time(const ap::GlyphDigits& task, double trials, double steps) {
  constexpr std::size_t batch = 128, width = 784, outputs = 10, parameters = 269322, validation = 10000;
  const double evaluations = 26;
  // Per example: a product of the forward pass, one for the weight's gradient, and one for the input's, except in the
  // first layer.
  const double forward = 2.0 * (784 * 256 + 256 * 256 + 256 * 10), linear = 2.0 * 784 * 10;
  const double training = 3 * forward - 2.0 * 784 * 256;
  const double flops = trials * (steps * batch * (training + 2 * linear) + evaluations * validation * forward);
  const double peak = peak_flops();

  // AdamW and NAdamW read four arrays and write three. The average of the five rules is six of these seven.
  std::vector<float> g(parameters, 1e-3f), m(parameters), v(parameters), w(parameters);
  const double sweep = least_seconds([&] {
    for (std::size_t i = 0; i < parameters; ++i) {
      m[i] = 0.9f * m[i] + g[i];
      v[i] = 0.9f * v[i] + g[i] * g[i];
      w[i] -= 1e-3f * m[i] + v[i];
    }
  });

  // A step copies its examples from a data set that no cache holds.
  const float* const inputs = task.train().whole().inputs().data();
  std::vector<float> rows(batch * width);
  std::size_t next = 1;
  double copying = 0, copies = 0;
  for (const ap::Stopwatch total; total.seconds() < 1; ++copies) {
    const ap::Stopwatch watch;
    for (std::size_t i = 0; i < batch; ++i) {
      next = (next * 48271) % 2147483647;
      std::copy_n(inputs + next % 50000 * width, width, rows.data() + i * width);
    }
    copying += watch.seconds();
  }
  const double products = flops / peak, rules = trials * steps * sweep * 6 / 7,
               gathering = 2 * trials * steps * copying / copies;
  // An evaluation of the linear model takes longer to read the validation data than to compute with it.
  float sums[outputs] = {};
  const double reading = trials * evaluations * least_seconds([&] {
                           for (std::size_t i = 0; i < validation * width; i += outputs)
                             for (std::size_t k = 0; k < outputs; ++k) sums[k] += inputs[i + k];
                         });
  std::printf("| products at the peak of %.0f GFLOP/s | %.1f s |\n", peak / 1e9, products);
  std::printf("| memory traffic of update rules | %.1f s |\n| copying of batches | %.1f s |\n", rules, gathering);
  std::printf("| the linear model's reading of validation data | %.1f s |\n", reading + 0 * sums[0]);
  std::printf("| least time of 1 job | %.1f s |\n", products + rules + gathering + reading);
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
  print_least_time(task, 75, static_cast<double>(steps == 0 ? task.step_hint() : steps));
  std::filesystem::remove_all(folder);
}
