// Conv2d, whose products are oneDNN's here, beside oneDNN's own convolution on the same images and weights, which are
// reordered on the way as a layer would have to: the ratio of oneDNN's time to the layer's, on one thread. Below 1 a
// convolution through oneDNN would pay.
#include <omp.h>

#include <algoperf/backend/host.hpp>
#include <algoperf/nn/layers/conv2d.hpp>
#include <algoperf/nn/model.hpp>
#include <algoperf/nn/workspace.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "paired.hpp"

namespace ap = algoperf;

namespace {

struct Case {
  std::int64_t batch, side, channels, filters, size;
};

// oneDNN's convolution with its reorders of weights, images in rows x columns x channels as ours.
class OneDnn {
 public:
  OneDnn(const Case& c, float* x, float* weight, float* bias, float* y, float* dy, float* dx, float* d_weight,
         float* d_bias)
      : images_{c.batch, c.channels, c.side, c.side},
        outputs_{c.batch, c.filters, c.side, c.side},
        weights_{c.filters, c.channels, c.size, c.size},
        padding_{c.size / 2, c.size / 2},
        forward_({dnnl::prop_kind::forward_training,
                  direct,
                  at(images_, Tag::nhwc),
                  at(weights_, Tag::any),
                  at({c.filters}, Tag::x),
                  at(outputs_, Tag::nhwc),
                  {1, 1},
                  padding_,
                  padding_},
                 engine_),
        backward_data_({direct,
                        at(images_, Tag::nhwc),
                        at(weights_, Tag::any),
                        at(outputs_, Tag::nhwc),
                        {1, 1},
                        padding_,
                        padding_},
                       engine_, forward_),
        backward_weights_({direct,
                           at(images_, Tag::nhwc),
                           at(weights_, Tag::any),
                           at({c.filters}, Tag::x),
                           at(outputs_, Tag::nhwc),
                           {1, 1},
                           padding_,
                           padding_},
                          engine_, forward_),
        x_(at(images_, Tag::nhwc), engine_, x),
        y_(at(outputs_, Tag::nhwc), engine_, y),
        dy_(at(outputs_, Tag::nhwc), engine_, dy),
        dx_(at(images_, Tag::nhwc), engine_, dx),
        weight_(at(weights_, Tag::ohwi), engine_, weight),
        d_weight_(at(weights_, Tag::ohwi), engine_, d_weight),
        bias_(at({c.filters}, Tag::x), engine_, bias),
        d_bias_(at({c.filters}, Tag::x), engine_, d_bias),
        weight_forward_(forward_.weights_desc(), engine_),
        weight_backward_(backward_data_.weights_desc(), engine_),
        d_weight_own_(backward_weights_.diff_weights_desc(), engine_) {}

  void forward() {
    dnnl::reorder(weight_, weight_forward_).execute(stream_, weight_, weight_forward_);
    run_forward_.execute(
        stream_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, weight_forward_}, {DNNL_ARG_BIAS, bias_}, {DNNL_ARG_DST, y_}});
    stream_.wait();
  }
  void backward() {
    run_backward_weights_.execute(stream_, {{DNNL_ARG_SRC, x_},
                                            {DNNL_ARG_DIFF_DST, dy_},
                                            {DNNL_ARG_DIFF_WEIGHTS, d_weight_own_},
                                            {DNNL_ARG_DIFF_BIAS, d_bias_}});
    dnnl::reorder(d_weight_own_, d_weight_).execute(stream_, d_weight_own_, d_weight_);
    dnnl::reorder(weight_, weight_backward_).execute(stream_, weight_, weight_backward_);
    run_backward_data_.execute(
        stream_, {{DNNL_ARG_DIFF_DST, dy_}, {DNNL_ARG_WEIGHTS, weight_backward_}, {DNNL_ARG_DIFF_SRC, dx_}});
    stream_.wait();
  }

 private:
  using Tag = dnnl::memory::format_tag;
  static constexpr dnnl::algorithm direct = dnnl::algorithm::convolution_direct;
  static dnnl::memory::desc at(const dnnl::memory::dims& dims, Tag tag) {
    return {dims, dnnl::memory::data_type::f32, tag};
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::memory::dims images_, outputs_, weights_, padding_;
  dnnl::convolution_forward::primitive_desc forward_;
  dnnl::convolution_backward_data::primitive_desc backward_data_;
  dnnl::convolution_backward_weights::primitive_desc backward_weights_;
  dnnl::memory x_, y_, dy_, dx_, weight_, d_weight_, bias_, d_bias_, weight_forward_, weight_backward_, d_weight_own_;
  dnnl::convolution_forward run_forward_{forward_};
  dnnl::convolution_backward_data run_backward_data_{backward_data_};
  dnnl::convolution_backward_weights run_backward_weights_{backward_weights_};
};

void must_agree(const std::string& what, const std::vector<float>& a, const float* b) {
  float most = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::fmax(most, std::fabs(a[i] - b[i]));
    largest = std::fmax(largest, std::fabs(a[i]));
  }
  if (most <= 1e-4f * largest) return;
  std::fprintf(stderr, "%s: the two differ by %g of %g\n", what.c_str(), double{most}, double{largest});
  std::exit(2);
}

void measure(bench::Report& report, const Case& c) {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const ap::Model model(ap::Shape(c.side, c.side, c.channels),
                        ap::Conv2d{.filters = size(c.filters), .size = size(c.size), .padding = size(c.size / 2)});
  const ap::Host<float> host;
  ap::Layout layout;
  const auto handles = model.declare(layout);
  const std::size_t in = size(c.batch) * model.input().size(), out = size(c.batch) * model.output().size();
  std::vector<float> values(layout.size()), gradients(layout.size()), x(in), dy(out), dx(in);
  ap::RandomStream random(ap::RandomKey{1});
  for (auto* each : {&values, &x, &dy})
    for (float& v : *each) v = static_cast<float>(random.normal());
  ap::Workspace<ap::Host<float>> workspace(host, model, size(c.batch));
  const auto pass = workspace.pass(host, layout, values.data(), gradients.data(), size(c.batch));

  std::vector<float> y2(out), dx2(in), gradients2(layout.size());
  const auto place = [&](auto& arena, const char* name) {
    return arena.data() + layout.place_of(layout.find(name)).offset;
  };
  OneDnn onednn(c, x.data(), place(values, "0.weight"), place(values, "0.bias"), y2.data(), dy.data(), dx2.data(),
                place(gradients2, "0.weight"), place(gradients2, "0.bias"));
  const auto forward = [&] { return model.forward(pass, handles, x.data()); };
  const auto backward = [&] { model.backward(pass, handles, x.data(), dy.data(), dx.data()); };
  const std::string what = std::to_string(c.batch) + " images " + std::to_string(c.side) + " x " +
                           std::to_string(c.side) + " x " + std::to_string(c.channels) + ", " +
                           std::to_string(c.filters) + " filters of " + std::to_string(c.size);
  const float* const y = forward();
  backward();
  onednn.forward();
  onednn.backward();
  must_agree(what + ", outputs", y2, y);
  must_agree(what + ", input gradient", dx2, dx.data());
  must_agree(what + ", gradients", gradients2, gradients.data());
  report.note(what + ", forward", bench::paired([&] { onednn.forward(); }, forward, {.pairs = 15}));
  report.note(what + ", backward", bench::paired([&] { onednn.backward(); }, backward, {.pairs = 15}));
}

}  // namespace

int main() {
  omp_set_num_threads(1);
  bench::Report report;
  for (const std::int64_t batch : {32, 128}) {
    measure(report, {batch, 28, 1, 32, 5});
    measure(report, {batch, 14, 32, 64, 5});
    measure(report, {batch, 14, 64, 64, 3});
  }
}
