// Compares dlib's training step and Adam step with the library's training step and AdamW step, on one thread in one
// process: ratios of dlib's time to the library's.
#include <dlib/dnn.h>
#include <dlib/revision.h>

#include "../paired.hpp"
#include "turns.hpp"

namespace {

class DlibTraining {
 public:
  explicit DlibTraining(std::size_t batch) : batch_(batch), solvers_(net_.num_computational_layers) {
    const algoperf::InMemory<float> data = bench::random_examples(bench::examples);
    for (std::size_t i = 0; i < bench::examples; ++i) {
      inputs_.emplace_back(28, 28);
      std::copy_n(data.inputs().data() + i * bench::inputs, bench::inputs, inputs_.back().begin());
      labels_.push_back(static_cast<unsigned long>(data.labels()[i]));
    }
  }

  // Batches are contiguous examples in memory. dlib's own trainer does the same after shuffling the examples once.
  void operator()() {
    if (at_ + batch_ > inputs_.size()) at_ = 0;
    const auto begin = inputs_.begin() + static_cast<std::ptrdiff_t>(at_);
    net_.to_tensor(begin, begin + static_cast<std::ptrdiff_t>(batch_), batch_inputs_);
    net_.compute_parameter_gradients(batch_inputs_, labels_.begin() + static_cast<std::ptrdiff_t>(at_));
    net_.update_parameters(solvers_, 1e-3);
    at_ += batch_;
  }

 private:
  template <class Below>
  using Hidden = dlib::relu<dlib::fc<bench::hidden, Below>>;
  using Net = dlib::loss_multiclass_log<dlib::fc<bench::classes, Hidden<Hidden<dlib::input<dlib::matrix<float>>>>>>;
  std::size_t batch_, at_ = 0;
  Net net_;
  std::vector<dlib::adam> solvers_;
  std::vector<dlib::matrix<float>> inputs_;
  std::vector<unsigned long> labels_;
  dlib::resizable_tensor batch_inputs_;
};

class DlibAdam {
 public:
  explicit DlibAdam(std::size_t n) : p_(of(n)), g_(of(n)), m_(of(n)), v_(of(n)), s_(of(n)) {}
  void operator()() {
    t_ += 1;
    dlib::tt::compute_adam_update(0, p_.size(), s_, m_, v_, t_, static_cast<float>(bench::rate), 0.01f, 0.9f, 0.999f,
                                  p_, g_);
    dlib::tt::add(1, p_, 1, s_);
  }

 private:
  static dlib::resizable_tensor of(std::size_t n) {
    dlib::resizable_tensor tensor(static_cast<long long>(n));
    tensor = 0.5f;
    return tensor;
  }
  dlib::resizable_tensor p_, g_, m_, v_, s_;
  float t_ = 0;
};

}  // namespace

int main() {
  bench::Report report;
  const std::string name = "dlib " + std::to_string(DLIB_MAJOR_VERSION) + "." + std::to_string(DLIB_MINOR_VERSION);
  for (const std::size_t batch : bench::batches) {
    bench::LibraryTraining library(batch);
    DlibTraining dlib(batch);
    report.at_least("training step, batch " + std::to_string(batch) + ": " + name, 1,
                    bench::paired(dlib, library, {.turn_seconds = 0.005}));
  }
  for (const std::size_t n : bench::sizes) {
    bench::LibraryAdamW library(n);
    DlibAdam dlib(n);
    report.at_least("Adam(W) step, " + std::to_string(n) + " parameters: " + name, 1, bench::paired(dlib, library));
  }
  return report.status();
}
