// Compares Conv2d by convolutions, the library's own or oneDNN's, with Conv2d by products of unrolled windows, on one
// thread: ratios of the products' time to the convolutions' time. Then compares a training step of the simple CNN both
// ways.
#include <algoperf/algoperf.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "paired.hpp"

namespace ap = algoperf;

namespace {

// The host backend without its convolutions.
struct ByProducts : ap::Host<float> {
  void convolution(const ap::Convolution&) const = delete;
};
static_assert(ap::ConvolvingBackend<ap::Host<float>> && !ap::ConvolvingBackend<ByProducts>);

template <class Backend>
class Layer {
 public:
  Layer(std::size_t batch, std::size_t side, std::size_t channels, std::size_t filters, std::size_t size)
      : batch_(batch),
        in_(side, side, channels),
        conv_{.filters = filters, .size = size, .padding = size / 2},
        handles_(conv_.declare(layout_, "conv", in_)),
        x_(batch * in_.size()),
        y_(batch * conv_.output(in_).size()),
        dy_(y_.size()),
        dx_(x_.size()),
        values_(layout_.size()),
        gradients_(layout_.size()),
        kept_(conv_.memory(in_).kept * batch),
        scratch_(conv_.memory(in_).scratch_within(backend_.scratch, batch)) {
    ap::RandomStream random(ap::RandomKey{1});
    for (auto* each : {&values_, &x_, &dy_})
      for (float& v : *each) v = static_cast<float>(random.normal());
  }

  void forward() { conv_.forward(call(), handles_, in_, x_.data(), y_.data()); }
  void backward() { backward_to(nullptr); }
  void backward_to_input() { backward_to(dx_.data()); }

  std::vector<float> results() {
    forward();
    std::vector<float> all = y_;
    backward_to_input();
    all.insert(all.end(), dx_.begin(), dx_.end());
    all.insert(all.end(), gradients_.begin(), gradients_.end());
    return all;
  }

 private:
  ap::LayerCall<Backend> call() {
    return {backend_,        layout_, values_.data(), gradients_.data(), batch_, batch_,
            ap::Mode::train, {},      kept_.data(),   scratch_.data(),   nullptr};
  }
  void backward_to(float* dx) {
    conv_.backward(call(), handles_, in_, static_cast<const float*>(x_.data()), static_cast<const float*>(y_.data()),
                   static_cast<const float*>(dy_.data()), dx);
  }

  Backend backend_;
  std::size_t batch_;
  ap::Shape in_;
  ap::Conv2d conv_;
  ap::Layout layout_;
  ap::Conv2d::Handles handles_;
  std::vector<float> x_, y_, dy_, dx_, values_, gradients_, kept_, scratch_;
};

void must_agree(const std::string& what, const std::vector<float>& a, const std::vector<float>& b) {
  float most = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::fmax(most, std::fabs(a[i] - b[i]));
    largest = std::fmax(largest, std::fabs(a[i]));
  }
  if (most <= 1e-4f * largest) return;
  std::fprintf(stderr, "%s: the results differ by %g, their largest value is %g\n", what.c_str(), double{most},
               double{largest});
  std::exit(2);
}

void measure(bench::Report& report, std::size_t batch, std::size_t side, std::size_t channels, std::size_t filters,
             std::size_t size) {
  Layer<ap::Host<float>> convolves(batch, side, channels, filters, size);
  Layer<ByProducts> multiplies(batch, side, channels, filters, size);
  const std::string n = std::to_string(side), what = std::to_string(batch) + " images " + n + " x " + n + " x " +
                                                     std::to_string(channels) + ", " + std::to_string(filters) +
                                                     " filters of " + std::to_string(size);
  must_agree(what, convolves.results(), multiplies.results());
  const bench::PairedOptions pairs{.pairs = 15};
  report.note(what + ", forward", bench::paired([&] { multiplies.forward(); }, [&] { convolves.forward(); }, pairs));
  report.note(what + ", backward of a first layer",
              bench::paired([&] { multiplies.backward(); }, [&] { convolves.backward(); }, pairs));
  report.note(what + ", backward",
              bench::paired([&] { multiplies.backward_to_input(); }, [&] { convolves.backward_to_input(); }, pairs));
}

template <class Backend>
auto training_loop(std::size_t batch) {
  return ap::TrainingLoop(ap::simple_cnn(ap::Shape{28, 28, 1}, 10), ap::SoftmaxCrossEntropy{}, ap::adamw(),
                          ap::Constant{1e-3}, ap::ShuffledEpochs{.batch = batch}, Backend{});
}

void measure_step(bench::Report& report, std::size_t batch) {
  const ap::InMemory<float> data = ap::Glyphs{.count = 1024}.render();
  auto convolves = training_loop<ap::Host<float>>(batch);
  auto multiplies = training_loop<ByProducts>(batch);
  report.note("training step of the simple CNN, batch " + std::to_string(batch),
              bench::paired([&] { multiplies.step(data); }, [&] { convolves.step(data); }, {.pairs = 15}));
}

}  // namespace

int main() {
  bench::Report report;
  for (const std::size_t batch : {32u, 128u}) {
    measure(report, batch, 28, 1, 32, 5);
    measure(report, batch, 14, 32, 64, 5);
    measure(report, batch, 14, 64, 64, 3);
  }
  for (const std::size_t batch : {32u, 128u}) measure_step(report, batch);
}
