#pragma once

#include "../../core/math.hpp"
#include "../concept.hpp"
#include "../init.hpp"

namespace algoperf {

// Layer normalisation of each row of the last axis:
//   y = (x - mean) rstd * scale + bias,   rstd = 1 / sqrt(mean of (x - mean)^2 + eps)
// Shapes: in {..., width}, out the same; an example of one axis is one row; `scale` {width} starts as ones, `bias`
//   {width} as zeros.
// Hyperparameters: eps > 0; affine: whether there are a scale and a bias (torch's elementwise_affine).
// Source: Ba et al. 2016, arXiv:1607.06450, equation 4 with the eps of torch; as torch's LayerNorm over the last axis.
// Cost: 8 FLOPs per element and 5 per row forward, 16 and 2 backward; keeps the mean and rstd of each row, and one
//   value per element for the scale's gradient. Not affine: 6 per element forward, 11 backward, and no such values.
struct LayerNorm {
  double eps = 1e-5;
  bool affine = true;

  struct Handles {
    TensorHandle scale, bias;
  };

  constexpr Shape output(Shape in) const { return in; }
  constexpr std::uint64_t parameters(Shape in) const { return affine ? 2 * width(in) : 0; }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t n = batch * in.size(), all_rows = batch * rows(in);
    tally.operation({"normalisation", (affine ? 8 : 6) * n + 5 * all_rows, n + parameters(in), n + 2 * all_rows});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t n = batch * in.size(), all_rows = batch * rows(in);
    if (!affine) {
      if (input_gradient) tally.operation({"normalisation, gradient", 11 * n + 2 * all_rows, 2 * n + 2 * all_rows, n});
      return;
    }
    const std::uint64_t flops = input_gradient ? 14 * n + 2 * all_rows : 3 * n;
    const std::uint64_t more = input_gradient ? n : 0;
    tally.operation({"normalisation, gradient", flops, 2 * n + 2 * all_rows + width(in), n + more});
    tally.operation({"scale gradient", n, n, width(in)});
    tally.operation({"bias gradient", n, n, width(in)});
  }
  constexpr LayerMemory memory(Shape in) const { return {.kept = affine ? in.size() : 0, .exact = 2 * rows(in)}; }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    require(eps > 0, name, ": LayerNorm has eps ", eps, ", expected more than 0");
    if (!affine) return {};
    return {layout.add({name + ".scale", Kind::layer_norm_scale, {width(in)}}),
            layout.add({name + ".bias", Kind::layer_norm_bias, {width(in)}})};
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& h, Shape) const {
    if (!affine) return;
    set(h.scale, Init::ones);
    set(h.bias, Init::zeros);
  }

  template <class S>
  struct Normalize {
    S mean, rstd;
    template <class T>
    ALGOPERF_HD T operator()(T, T x, T scale, T bias) const {
      return (x - T(mean)) * T(rstd) * scale + bias;
    }
  };
  template <class S>
  struct Standardize {
    S mean, rstd;
    template <class T>
    ALGOPERF_HD T operator()(T, T x) const {
      return (x - T(mean)) * T(rstd);
    }
  };
  // The contribution of a row to the scale's gradient.
  template <class S>
  struct ScaleGradient {
    S mean, rstd;
    template <class T>
    ALGOPERF_HD T operator()(T, T x, T dy) const {
      return dy * ((x - T(mean)) * T(rstd));
    }
  };
  // With g = dy * scale and n = (x - mean) rstd: dx = rstd (g - mean of g - n * mean of g n).
  template <class S>
  struct InputGradient {
    S mean, rstd, mean_g, mean_gn;
    template <class T>
    ALGOPERF_HD T operator()(T, T x, T dy, T scale) const {
      return T(rstd) * (dy * scale - T(mean_g) - (x - T(mean)) * T(rstd) * T(mean_gn));
    }
  };
  // The same without a scale.
  template <class S>
  struct PlainInputGradient {
    S mean, rstd, mean_g, mean_gn;
    template <class T>
    ALGOPERF_HD T operator()(T, T x, T dy) const {
      return T(rstd) * (dy - T(mean_g) - (x - T(mean)) * T(rstd) * T(mean_gn));
    }
  };

  template <class S>
  struct Forward {
    using T = Arithmetic<S>;
    std::size_t width;
    T eps;
    const S* x;
    const T* scale;  // null, as is bias, if the norm is not affine
    const T* bias;
    S* y;
    T* means;
    T* rstds;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const S* const row = x + r * width;
      const T n = static_cast<T>(width);
      const T mean = team.template sum<T>(width, [row](std::size_t c) { return row[c]; }) / n;
      const T square = team.template sum<T>(width, [row, mean](std::size_t c) {
        const T d = row[c] - mean;
        return d * d;
      });
      const T rstd = T(1) / math::sqrt(square / n + eps);
      means[r] = mean;
      rstds[r] = rstd;
      if (scale == nullptr)
        team.map(Standardize<T>{mean, rstd}, width, y + r * width, row);
      else
        team.map(Normalize<T>{mean, rstd}, width, y + r * width, row, scale, bias);
    }
  };
  template <class S>
  struct Backward {
    using T = Arithmetic<S>;
    std::size_t width;
    const S* x;
    const T* scale;  // null if the norm is not affine
    const S* dy;
    const T* means;
    const T* rstds;
    S* products;
    S* dx;  // null if not required

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const S* const row = x + r * width;
      const S* const d = dy + r * width;
      const T mean = means[r], rstd = rstds[r], n = static_cast<T>(width);
      if (scale == nullptr) {
        const T mean_g = team.template sum<T>(width, [d](std::size_t c) { return d[c]; }) / n;
        const T mean_gn =
            team.template sum<T>(width, [=](std::size_t c) { return d[c] * ((row[c] - mean) * rstd); }) / n;
        team.map(PlainInputGradient<T>{mean, rstd, mean_g, mean_gn}, width, dx + r * width, row, d);
        return;
      }
      S* const product = products + r * width;
      const T* const s = scale;
      team.map(ScaleGradient<T>{mean, rstd}, width, product, row, d);
      if (dx == nullptr) return;
      const T mean_g = team.template sum<T>(width, [d, s](std::size_t c) { return d[c] * s[c]; }) / n;
      const T mean_gn = team.template sum<T>(width, [product, s](std::size_t c) { return product[c] * s[c]; }) / n;
      team.map(InputGradient<T>{mean, rstd, mean_g, mean_gn}, width, dx + r * width, row, d, scale);
    }
  };

  template <class B, class S>
  void forward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, S* y) const {
    const Kept<B> kept(call, in);
    call.backend.for_each_row(
        call.batch * rows(in), 8 * width(in),
        Forward<S>{width(in), static_cast<Arithmetic<S>>(eps), x, affine ? call.value(h.scale) : nullptr,
                   affine ? call.value(h.bias) : nullptr, y, kept.means, kept.rstds});
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, const S*, const S* dy, S* dx) const {
    const Kept<B> kept(call, in);
    const std::size_t count = call.batch * rows(in);
    if (affine || dx != nullptr)
      call.backend.for_each_row(count, 12 * width(in),
                                Backward<S>{width(in), x, affine ? call.value(h.scale) : nullptr, dy, kept.means,
                                            kept.rstds, kept.products, dx});
    if (!affine) return;
    call.backend.column_sums(count, width(in), kept.products, call.gradient(h.scale));
    call.backend.column_sums(count, width(in), dy, call.gradient(h.bias));
  }

 private:
  template <class B>
  struct Kept {
    Stored<B>* products;
    typename B::Scalar* means;
    typename B::Scalar* rstds;
    Kept(const LayerCall<B>& call, Shape in)
        : products(call.kept), means(call.exact), rstds(means + call.capacity * rows(in)) {}
  };
  static constexpr std::size_t width(Shape in) { return in.rank == 0 ? 1 : in[in.rank - 1]; }
  static constexpr std::size_t rows(Shape in) { return in.size() / width(in); }
};

}  // namespace algoperf
