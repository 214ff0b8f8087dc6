// Any bytes either load as a checkpoint of a loop, or of a run with observers, or are refused with an Error that leaves
// the loop and the observers unchanged. The checksum is corrected first, because otherwise no input would pass its
// check.
#include <algoperf/algoperf.hpp>
#include <algoperf/nn/metrics/error_rate.hpp>
#include <cstring>

#include "memory_file.hpp"

namespace ap = algoperf;

namespace {

std::string with_checksum(std::string bytes) {
  const std::uint64_t sum = ap::detail::fnv1a(bytes, bytes.size());
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return bytes;
}

// Returns the bytes of everything that a checkpoint holds of a loop.
template <class Loop>
std::string saved(Loop& loop) {
  ap::CheckpointWriter file;
  ap::detail::visit_state(file, "", loop);
  return file.finish();
}

// Loads the file into a fresh loop.
template <class Selector>
void load(const std::string& path, const Selector& selector) {
  ap::TrainingLoop loop(ap::mlp(ap::Shape{2}, {2}, 2), ap::SoftmaxCrossEntropy{}, ap::adamw(), ap::Constant{0.1},
                        selector);
  const std::string before = saved(loop);
  try {
    ap::load_values(path, loop);
  } catch (const ap::Error&) {
    if (saved(loop) != before) std::abort();
  }
  const std::string middle = saved(loop);
  try {
    ap::load_checkpoint(path, loop);
  } catch (const ap::Error&) {
    if (saved(loop) != middle) std::abort();
  }
}

// An observer that loads a checkpoint into the run. If the file is refused, the run must be saved as before.
struct Load {
  const std::string& path;
  const std::string& scratch;

  template <class Run>
  void begin(Run& run) const {
    run.save(scratch);
    const std::string before = ap::read_file(scratch);
    try {
      run.load(path);
    } catch (const ap::Error&) {
      run.save(scratch);
      if (ap::read_file(scratch) != before) std::abort();
    }
  }
};

// Loads the file into a run with every observer that has a section.
void load_run(const std::string& path) {
  static const ap::InMemory<float> data({1, 2, 3, 4, 5, 6}, {0, 1, 1}, ap::Shape{2}, 2);
  static const MemoryFile::Named scratch;
  const std::string log = scratch.path() + ".csv";
  ap::TrainingLoop loop(ap::mlp(ap::Shape{2}, {2}, 2), ap::SoftmaxCrossEntropy{}, ap::sgd(), ap::Constant{0.1},
                        ap::ShuffledEpochs{.batch = 2});
  std::vector<ap::EvaluationReport> evaluations;
  loop.run(data, ap::Evaluate(data, ap::ErrorRate{}, {.every = 2, .last = false}), ap::History{evaluations},
           ap::CsvLog(log), Load{path, scratch.path()}, ap::UntilStep{0});
  std::remove(log.c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const std::string file = with_checksum(std::string(reinterpret_cast<const char*>(bytes), n));
  const MemoryFile memory(file.data(), file.size());
  load(memory.path(), ap::ShuffledEpochs{.batch = 2});
  load(memory.path(), ap::LossProportional{.batch = 2});
  load_run(memory.path());
  return 0;
}
