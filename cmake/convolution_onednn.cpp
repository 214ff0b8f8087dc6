// The convolutions of algoperf::gemm with ALGOPERF_GEMM=onednn.
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "algoperf/backend/host_convolution.hpp"
#include "algoperf/core/error.hpp"
#include "onednn_thread.hpp"

namespace algoperf {
namespace {

using Tag = dnnl::memory::format_tag;

dnnl::memory::desc numbers(const dnnl::memory::dims& dims, Tag tag) {
  return {dims, dnnl::memory::data_type::f32, tag};
}

// oneDNN's three primitives for one convolution, its weights in the order that each of them likes best: ours go through
// a reorder on their way in and out. Made once a thread.
class Primitives {
 public:
  explicit Primitives(const Convolution& c) : Primitives(Dims(c)) {}

  void forward(const float* x, const float* weight, const float* bias, float* y) {
    set(x_, x);
    set(bias_, bias);
    set(y_, y);
    reorder(weight, forward_weight_);
    run_forward_.execute(
        stream_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, forward_weight_}, {DNNL_ARG_BIAS, bias_}, {DNNL_ARG_DST, y_}});
    stream_.wait();
  }
  void back_to_input(const float* dy, const float* weight, float* dx) {
    set(y_, dy);
    set(x_, dx);
    reorder(weight, input_weight_);
    run_to_input_.execute(stream_,
                          {{DNNL_ARG_DIFF_DST, y_}, {DNNL_ARG_WEIGHTS, input_weight_}, {DNNL_ARG_DIFF_SRC, x_}});
    stream_.wait();
  }
  void back_to_weight(const float* x, const float* dy, float* d_weight) {
    set(x_, x);
    set(y_, dy);
    run_to_weight_.execute(stream_,
                           {{DNNL_ARG_SRC, x_}, {DNNL_ARG_DIFF_DST, y_}, {DNNL_ARG_DIFF_WEIGHTS, own_d_weight_}});
    set(weight_, d_weight);
    dnnl::reorder(own_d_weight_, weight_).execute(stream_, own_d_weight_, weight_);
    stream_.wait();
  }

 private:
  struct Dims {
    dnnl::memory::dims x, y, weight, bias, stride, padding, padding_behind;
    explicit Dims(const Convolution& c)
        : x{d(c.images), d(c.channels), d(c.rows), d(c.cols)},
          y{d(c.images), d(c.filters), d(c.out_rows()), d(c.out_cols())},
          weight{d(c.filters), d(c.channels), d(c.size), d(c.size)},
          bias{d(c.filters)},
          stride{d(c.stride), d(c.stride)},
          padding{d(c.padding), d(c.padding)},
          padding_behind{behind(c.rows, c.out_rows(), c), behind(c.cols, c.out_cols(), c)} {}
    static dnnl::memory::dim d(std::size_t n) { return static_cast<dnnl::memory::dim>(n); }
    // Zeros behind the last row or column: as many as the last window covers, fewer than none where it ends before.
    static dnnl::memory::dim behind(std::size_t side, std::size_t out, const Convolution& c) {
      return d((out - 1) * c.stride + c.size) - d(side) - d(c.padding);
    }
  };
  explicit Primitives(const Dims& d)
      : x_(numbers(d.x, Tag::nhwc), engine_, nullptr),
        y_(numbers(d.y, Tag::nhwc), engine_, nullptr),
        weight_(numbers(d.weight, Tag::ohwi), engine_, nullptr),
        bias_(numbers(d.bias, Tag::x), engine_, nullptr),
        forward_({dnnl::prop_kind::forward_training, direct, x_.get_desc(), numbers(d.weight, Tag::any),
                  bias_.get_desc(), y_.get_desc(), d.stride, d.padding, d.padding_behind},
                 engine_),
        to_input_(
            {direct, x_.get_desc(), numbers(d.weight, Tag::any), y_.get_desc(), d.stride, d.padding, d.padding_behind},
            engine_, forward_),
        to_weight_(
            {direct, x_.get_desc(), numbers(d.weight, Tag::any), y_.get_desc(), d.stride, d.padding, d.padding_behind},
            engine_, forward_),
        forward_weight_(forward_.weights_desc(), engine_),
        input_weight_(to_input_.weights_desc(), engine_),
        own_d_weight_(to_weight_.diff_weights_desc(), engine_) {}

  static void set(dnnl::memory& memory, const float* data) { memory.set_data_handle(const_cast<float*>(data)); }
  void reorder(const float* weight, dnnl::memory& to) {
    set(weight_, weight);
    dnnl::reorder(weight_, to).execute(stream_, weight_, to);
  }

  static constexpr dnnl::algorithm direct = dnnl::algorithm::convolution_direct;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::memory x_, y_, weight_, bias_;
  dnnl::convolution_forward::primitive_desc forward_;
  dnnl::convolution_backward_data::primitive_desc to_input_;
  dnnl::convolution_backward_weights::primitive_desc to_weight_;
  dnnl::memory forward_weight_, input_weight_, own_d_weight_;
  dnnl::convolution_forward run_forward_{forward_};
  dnnl::convolution_backward_data run_to_input_{to_input_};
  dnnl::convolution_backward_weights run_to_weight_{to_weight_};
};

// f(primitives of c), on one thread.
template <class F>
void with_primitives(const Convolution& c, const F& f) {
  struct Made {
    Convolution of;
    std::unique_ptr<Primitives> primitives;
  };
  thread_local std::vector<Made> made;
  const OneOpenMpThread one;
  try {
    for (const Made& each : made)
      if (each.of == c) return f(*each.primitives);
    made.push_back({c, std::make_unique<Primitives>(c)});
    f(*made.back().primitives);
  } catch (const dnnl::error& error) {
    fail("oneDNN: a convolution of images ", c.rows, " x ", c.cols, " x ", c.channels, " by ", c.filters,
         " filters of ", c.size, " failed: ", error.what());
  }
}

}  // namespace

void convolve(const Convolution& c, const float* x, const float* weight, const float* bias, float* y) {
  with_primitives(c, [=](Primitives& primitives) { primitives.forward(x, weight, bias, y); });
}
void convolve_back_to_input(const Convolution& c, const float* dy, const float* weight, float* dx) {
  with_primitives(c, [=](Primitives& primitives) { primitives.back_to_input(dy, weight, dx); });
}
void convolve_back_to_weight(const Convolution& c, const float* x, const float* dy, float* d_weight) {
  with_primitives(c, [=](Primitives& primitives) { primitives.back_to_weight(x, dy, d_weight); });
}

}  // namespace algoperf
