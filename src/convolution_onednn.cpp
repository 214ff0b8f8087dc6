// The convolutions of algoperf::gemm if ALGOPERF_GEMM=onednn: those of float by oneDNN, those of double and depthwise
// convolutions by the library's own tiles.
#include <cstddef>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <tuple>
#include <vector>

#include "algoperf/backend/products/convolution_tiles.hpp"
#include "algoperf/backend/products/depthwise_tiles.hpp"
#include "algoperf/core/error.hpp"
#include "instances.hpp"
#include "onednn_thread.hpp"

namespace algoperf {
namespace {

using Tag = dnnl::memory::format_tag;
using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

// Returns a description of the primitive P. Backward primitives take the forward description as `hint`.
template <class P, class... Hint, class... Arguments>
typename P::primitive_desc description(const dnnl::engine& engine, const std::tuple<Hint...>& hint,
                                       const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return std::apply([&](const auto&... h) { return typename P::primitive_desc(engine, arguments..., h...); }, hint);
#else
  return std::apply(
      [&](const auto&... h) { return typename P::primitive_desc(typename P::desc(arguments...), engine, h...); }, hint);
#endif
}

// oneDNN's three primitives for one convolution. Each primitive chooses its own weight format, and weights are
// reordered on the way in and out. The backward primitives are created on first use.
class Primitives {
 public:
  explicit Primitives(const Convolution& c) : Primitives(Shapes(c)) {}

  void forward(const float* x, const float* weight, const float* bias, float* y) {
    set(x_, x);
    set(bias_, bias != nullptr ? bias : no_bias_.data());
    set(y_, y);
    reorder(weight, forward_weight_);
    run_forward_.execute(
        stream_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, forward_weight_}, {DNNL_ARG_BIAS, bias_}, {DNNL_ARG_DST, y_}});
    stream_.wait();
  }
  void back_to_input(const float* dy, const float* weight, float* dx) {
    if (!to_input_) to_input_.emplace(*this);
    set(y_, dy);
    set(x_, dx);
    reorder(weight, to_input_->weight);
    to_input_->run.execute(stream_,
                           {{DNNL_ARG_DIFF_DST, y_}, {DNNL_ARG_WEIGHTS, to_input_->weight}, {DNNL_ARG_DIFF_SRC, x_}});
    stream_.wait();
  }
  void back_to_weight(const float* x, const float* dy, float* d_weight) {
    if (!to_weight_) to_weight_.emplace(*this);
    set(x_, x);
    set(y_, dy);
    dnnl::memory& own = to_weight_->d_weight;
    to_weight_->run.execute(stream_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_DIFF_DST, y_}, {DNNL_ARG_DIFF_WEIGHTS, own}});
    set(weight_, d_weight);
    dnnl::reorder(own, weight_).execute(stream_, own, weight_);
    stream_.wait();
  }

 private:
  struct Shapes {
    Dims x, y, weight, bias, stride, padding, padding_behind;
    explicit Shapes(const Convolution& c)
        : x{d(c.images), d(c.channels), d(c.rows), d(c.cols)},
          y{d(c.images), d(c.filters), d(c.out_rows()), d(c.out_cols())},
          weight{d(c.filters), d(c.channels), d(c.size), d(c.size)},
          bias{d(c.filters)},
          stride{d(c.stride), d(c.stride)},
          padding{d(c.padding), d(c.padding)},
          padding_behind{behind(c.rows, c.out_rows(), c), behind(c.cols, c.out_cols(), c)} {}
    static dnnl::memory::dim d(std::size_t n) { return static_cast<dnnl::memory::dim>(n); }
    // The number of padding rows or columns after the image that the last window covers. It is negative if the last
    // window ends before the end of the image.
    static dnnl::memory::dim behind(std::size_t side, std::size_t out, const Convolution& c) {
      return d((out - 1) * c.stride + c.size) - d(side) - d(c.padding);
    }
    Desc of(const Dims& dims, Tag tag) const { return {dims, dnnl::memory::data_type::f32, tag}; }
  };
  struct ToInput {
    dnnl::convolution_backward_data::primitive_desc description;
    dnnl::memory weight;
    dnnl::convolution_backward_data run{description};
    explicit ToInput(const Primitives& p)
        : description(algoperf::description<dnnl::convolution_backward_data>(
              p.engine_, std::tuple(p.forward_), direct, p.x_.get_desc(), p.any_weight_, p.y_.get_desc(),
              p.shapes_.stride, p.shapes_.padding, p.shapes_.padding_behind)),
          weight(description.weights_desc(), p.engine_) {}
  };
  struct ToWeight {
    dnnl::convolution_backward_weights::primitive_desc description;
    dnnl::memory d_weight;
    dnnl::convolution_backward_weights run{description};
    explicit ToWeight(const Primitives& p)
        : description(algoperf::description<dnnl::convolution_backward_weights>(
              p.engine_, std::tuple(p.forward_), direct, p.x_.get_desc(), p.any_weight_, p.y_.get_desc(),
              p.shapes_.stride, p.shapes_.padding, p.shapes_.padding_behind)),
          d_weight(description.diff_weights_desc(), p.engine_) {}
  };

  explicit Primitives(const Shapes& s)
      : shapes_(s),
        x_(s.of(s.x, Tag::nhwc), engine_, nullptr),
        y_(s.of(s.y, Tag::nhwc), engine_, nullptr),
        weight_(s.of(s.weight, Tag::ohwi), engine_, nullptr),
        bias_(s.of(s.bias, Tag::x), engine_, nullptr),
        any_weight_(s.of(s.weight, Tag::any)),
        forward_(description<dnnl::convolution_forward>(engine_, std::tuple(), dnnl::prop_kind::forward_training,
                                                        direct, x_.get_desc(), any_weight_, bias_.get_desc(),
                                                        y_.get_desc(), s.stride, s.padding, s.padding_behind)),
        forward_weight_(forward_.weights_desc(), engine_),
        no_bias_(static_cast<std::size_t>(s.bias[0]), 0.0f) {}

  static void set(dnnl::memory& memory, const float* data) { memory.set_data_handle(const_cast<float*>(data)); }
  void reorder(const float* weight, dnnl::memory& to) {
    set(weight_, weight);
    dnnl::reorder(weight_, to).execute(stream_, weight_, to);
  }

  static constexpr dnnl::algorithm direct = dnnl::algorithm::convolution_direct;
  Shapes shapes_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::memory x_, y_, weight_, bias_;
  Desc any_weight_;
  dnnl::convolution_forward::primitive_desc forward_;
  dnnl::memory forward_weight_;
  std::vector<float> no_bias_;  // zeros
  dnnl::convolution_forward run_forward_{forward_};
  std::optional<ToInput> to_input_;
  std::optional<ToWeight> to_weight_;
};

// Calls f(primitives of c) with oneDNN on one thread. The primitives are cached per calling thread.
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
    fail("oneDNN: a convolution of ", c.rows, " x ", c.cols, " x ", c.channels, " images with ", c.filters,
         " filters of size ", c.size, " failed: ", error.what());
  }
}

}  // namespace

template <>
void convolve<float>(const Convolution& c, const float* x, const float* weight, const float* bias, float* y) {
  with_primitives(c, [=](Primitives& primitives) { primitives.forward(x, weight, bias, y); });
}
template <>
void convolve_back_to_input<float>(const Convolution& c, const float* dy, const float* weight, float* dx) {
  with_primitives(c, [=](Primitives& primitives) { primitives.back_to_input(dy, weight, dx); });
}
template <>
void convolve_back_to_weight<float>(const Convolution& c, const float* x, const float* dy, float* d_weight) {
  with_primitives(c, [=](Primitives& primitives) { primitives.back_to_weight(x, dy, d_weight); });
}

}  // namespace algoperf

ALGOPERF_INSTANTIATE_CONVOLUTIONS_OF(DepthwiseConvolution, float);
ALGOPERF_INSTANTIATE_CONVOLUTIONS(double);
