// Compares two training algorithms on one's own data, a CSV file: which reaches 14.8 % validation error first?
#include <algoperf/algoperf.hpp>
#include <algoperf/data/readers/csv.hpp>
#include <algoperf/tuning/baselines.hpp>
#include <algoperf/tuning/compare.hpp>
#include <algoperf/workloads/all.hpp>
#include <filesystem>
namespace ap = algoperf;

int main(int count, char** arguments) {
  const std::string path = (count > 1 ? arguments[1] : ap::data_root()) + "/adult/adult.csv";
  if (!std::filesystem::exists(path + ".gz")) return std::printf("%s.gz does not exist\n", path.c_str()), 77;
  try {
    const auto data = ap::load_csv(path, {.label = "income", .standardise = true}).examples();
    const ap::DataWorkload adult({.name = "adult", .target = {0.148}, .step_hint = 500},
                                 ap::mlp(data.shape(), {32}, data.classes()), ap::SoftmaxCrossEntropy{},
                                 ap::ErrorRate{}, data.subset(0, 24000), data.subset(24000, 27000),
                                 data.subset(27000, data.size()));
    ap::compare({.folder = "out/adult", .studies = 3, .trials = 4}, adult, ap::AdamWBaseline{}, ap::NesterovBaseline{});
  } catch (const ap::Error& error) {
    return std::printf("%s\n", error.what()), 1;
  }
}
