// Combines a vector of every rank: MPI_Allreduce (a sum), and the library's Mean, Adasum, and Adasum in bfloat16, for
// vectors of 1 KB to 256 MB. Prints a table of microseconds and of the bandwidth relative to MPI_Allreduce, the median
// of alternating measurements.
//   mpirun -n 2 bench_ranks [MEGABYTES]     up to that size
#include <algoperf/algoperf.hpp>
#include <algoperf/combine/group/mpi.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace ap = algoperf;

namespace {

struct Context {
  using Backend = ap::Host<float>;
  const ap::Ranks& group;
  const ap::Ranks& ranks() const { return group; }
  Backend backend() const { return {}; }
  double weight() const { return 1; }
  std::vector<ap::Ranks::Note> meet(ap::Meeting at, double weight, double loss) const {
    return group.meet({.at = at, .weight = weight, .loss = loss});
  }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t most = (count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 256) << 20;
  const ap::Ranks ranks(ap::Mpi{}.connect());
  Context context{ranks};
  if (ranks.is_root())
    std::printf(
        "%zu ranks\n\n| bytes | MPI_Allreduce, us | Mean, us | Adasum, us | Adasum in bfloat16, us | Mean, bandwidth | "
        "Adasum, "
        "bandwidth | bfloat16, bandwidth |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        ranks.size());
  for (std::size_t bytes = 1024; bytes <= most; bytes *= 4) {
    ap::Layout layout;
    layout.add({"w", ap::Kind::weight, {bytes / sizeof(float)}});
    ap::ArrayBlocks<ap::Host<float>> blocks(context.backend(), ranks, layout, 1);
    std::vector<float> vector(layout.size(), 1.0f + static_cast<float>(ranks.rank())), sum(layout.size());
    const std::size_t repetitions = std::clamp<std::size_t>((std::size_t{64} << 20) / bytes, 3, 1000);
    std::vector<double> seconds[4];
    const auto time = [&](std::vector<double>& into, const auto& combine) {
      MPI_Barrier(MPI_COMM_WORLD);
      const ap::Stopwatch watch;
      for (std::size_t i = 0; i < repetitions; ++i) combine();
      MPI_Barrier(MPI_COMM_WORLD);
      into.push_back(watch.seconds() / static_cast<double>(repetitions));
    };
    for (int sample = 0; sample < 8; ++sample) {
      time(seconds[0], [&] {
        MPI_Allreduce(vector.data(), sum.data(), static_cast<int>(vector.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      });
      time(seconds[1], [&] { (void)ap::detail::mean_over_ranks(context, blocks, vector.data(), 0.0); });
      time(seconds[2], [&] { ap::adasum_tree(context.backend(), layout, {vector.data()}, ranks, blocks); });
      time(seconds[3], [&] {
        ap::adasum_tree(context.backend(), layout, {vector.data()}, ranks, blocks, 1, ap::VectorFormat::bfloat16);
      });
    }
    if (!ranks.is_root()) continue;
    for (auto& each : seconds) each.erase(each.begin());  // the warm-up
    std::vector<double> of_mean, of_adasum, of_bfloat16;
    for (std::size_t i = 0; i < seconds[0].size(); ++i) {
      of_mean.push_back(seconds[0][i] / seconds[1][i]);
      of_adasum.push_back(seconds[0][i] / seconds[2][i]);
      of_bfloat16.push_back(seconds[0][i] / seconds[3][i]);
    }
    std::printf("| %zu | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f | %.2f |\n", bytes, 1e6 * median(seconds[0]),
                1e6 * median(seconds[1]), 1e6 * median(seconds[2]), 1e6 * median(seconds[3]), median(of_mean),
                median(of_adasum), median(of_bfloat16));
    std::fflush(stdout);
  }
}
