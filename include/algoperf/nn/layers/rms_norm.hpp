#pragma once

#include "../../core/math.hpp"
#include "../concept.hpp"
#include "../init.hpp"

namespace algoperf {

// Root-mean-square normalisation of each row of the last axis, a layer norm without the mean and the bias:
//   y = x rstd * scale,   rstd = 1 / sqrt(mean of x^2 + eps)
// Shapes: in {..., width}, out the same; an example of one axis is one row; `scale` {width} starts as ones.
// Hyperparameters: eps > 0.
// Source: Zhang & Sennrich 2019, arXiv:1910.07467, equation 4, with an eps. torch's RMSNorm, whose default eps is the
//   element type's epsilon instead of 1e-6.
// Cost: 4 FLOPs per element and 4 per row forward, 10 and 1 backward; keeps the rstd of each row, and one value per
//   element for the scale's gradient.
struct RmsNorm {
  double eps = 1e-6;

  struct Handles {
    TensorHandle scale;
  };

  constexpr Shape output(Shape in) const { return in; }
  constexpr std::uint64_t parameters(Shape in) const { return width(in); }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t n = batch * in.size(), all_rows = batch * rows(in);
    tally.operation({"normalisation", 4 * n + 4 * all_rows, n + width(in), n + all_rows});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t n = batch * in.size(), all_rows = batch * rows(in);
    const std::uint64_t flops = input_gradient ? 9 * n + all_rows : 2 * n;
    const std::uint64_t more = input_gradient ? n : 0;
    tally.operation({"normalisation, gradient", flops, 2 * n + all_rows + width(in), n + more});
    tally.operation({"scale gradient", n, n, width(in)});
  }
  constexpr LayerMemory memory(Shape in) const { return {.kept = in.size(), .exact = rows(in)}; }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    require(eps > 0, name, ": RmsNorm has eps ", eps, ", expected more than 0");
    return {layout.add({name + ".scale", Kind::layer_norm_scale, {width(in)}})};
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& h, Shape) const {
    set(h.scale, Init::ones);
  }

  template <class S>
  struct Normalize {
    S rstd;
    template <class T>
    ALGOPERF_HD T operator()(T, T x, T scale) const {
      return x * T(rstd) * scale;
    }
  };
  // The contribution of a row to the scale's gradient.
  template <class S>
  struct ScaleGradient {
    S rstd;
    template <class T>
    ALGOPERF_HD T operator()(T, T x, T dy) const {
      return dy * (x * T(rstd));
    }
  };
  // With g = dy * scale and n = x rstd: dx = rstd (g - n * mean of g n).
  template <class S>
  struct InputGradient {
    S rstd, mean_gn;
    template <class T>
    ALGOPERF_HD T operator()(T, T x, T dy, T scale) const {
      return T(rstd) * (dy * scale - x * T(rstd) * T(mean_gn));
    }
  };

  template <class S>
  struct Forward {
    using T = Arithmetic<S>;
    std::size_t width;
    T eps;
    const S* x;
    const T* scale;
    S* y;
    T* rstds;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const S* const row = x + r * width;
      const T square = team.template sum<T>(width, [row](std::size_t c) {
        const T v = row[c];
        return v * v;
      });
      const T rstd = T(1) / math::sqrt(square / static_cast<T>(width) + eps);
      rstds[r] = rstd;
      team.map(Normalize<T>{rstd}, width, y + r * width, row, scale);
    }
  };
  template <class S>
  struct Backward {
    using T = Arithmetic<S>;
    std::size_t width;
    const S* x;
    const T* scale;
    const S* dy;
    const T* rstds;
    S* products;
    S* dx;  // null if not required

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const S* const row = x + r * width;
      const S* const d = dy + r * width;
      S* const product = products + r * width;
      const T* const s = scale;
      const T rstd = rstds[r];
      team.map(ScaleGradient<T>{rstd}, width, product, row, d);
      if (dx == nullptr) return;
      const T total = team.template sum<T>(width, [product, s](std::size_t c) { return product[c] * s[c]; });
      team.map(InputGradient<T>{rstd, total / static_cast<T>(width)}, width, dx + r * width, row, d, scale);
    }
  };

  template <class B, class S>
  void forward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, S* y) const {
    call.backend.for_each_row(
        call.batch * rows(in), 4 * width(in),
        Forward<S>{width(in), static_cast<Arithmetic<S>>(eps), x, call.value(h.scale), y, call.exact});
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, const S*, const S* dy, S* dx) const {
    const std::size_t count = call.batch * rows(in);
    call.backend.for_each_row(count, 10 * width(in),
                              Backward<S>{width(in), x, call.value(h.scale), dy, call.exact, call.kept, dx});
    call.backend.column_sums(count, width(in), call.kept, call.gradient(h.scale));
  }

 private:
  static constexpr std::size_t width(Shape in) { return in.rank == 0 ? 1 : in[in.rank - 1]; }
  static constexpr std::size_t rows(Shape in) { return in.size() / width(in); }
};

}  // namespace algoperf
