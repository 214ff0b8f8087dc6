#pragma once

#include "../../core/map_kernels.hpp"
#include "../../core/math.hpp"
#include "../../core/slots.hpp"
#include "../concept.hpp"
#include "../init.hpp"

namespace algoperf {

// Batch normalisation of each channel (the last axis). In training, the mean and variance are taken over the examples
// of a batch and all their positions:
//   y = (x - mean) rstd * scale + bias,   rstd = 1 / sqrt(mean of (x - mean)^2 + eps)
// In evaluation, they are running averages, which each training step updates:
//   running' = running - momentum (running - s)
// where s is the batch's mean, or its variance times n / (n - 1) for n values per channel. s is averaged over ghost
// batches and, by the combiner, over workers.
// Shapes: in {..., channels}, out the same; `scale` {channels} starts as `init`, `bias` {channels} as zeros. The
//   buffers `mean` {channels}, which starts as zeros, and `variance` {channels}, which starts as ones, are hidden from
//   rules.
// Hyperparameters: eps > 0; momentum in [0, 1], as in torch; ghost: the number of examples normalised together, 0 for
//   a worker's whole part of the batch. The last ghost batch also gets the remainder. A ghost batch with fewer than two
//   values per channel throws Error.
// Source: Ioffe & Szegedy 2015, arXiv:1502.03167, algorithms 1 and 2; ghost batches: Hoffer et al. 2017,
//   arXiv:1705.08741, algorithm 1 (whose running averages give earlier ghost batches less weight). Otherwise as torch's
//   BatchNorm, with the channels last.
// Cost: 8 FLOPs per element and 6 per channel forward, 14 and 10 backward; keeps five values per channel and example.
// backward computes (x - mean) rstd anew instead of keeping it, and requires a forward pass in training mode.
struct BatchNorm {
  double eps = 1e-5;
  double momentum = 0.1;
  std::size_t ghost = 0;
  Init init = Init::ones;  // of the scale

  static constexpr bool has_buffers = true;
  struct Handles {
    TensorHandle scale, bias, mean, variance;
  };

  constexpr Shape output(Shape in) const { return in; }
  constexpr std::uint64_t parameters(Shape in) const { return 2 * channels(in); }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t n = batch * in.size(), c = channels(in) * ghosts(batch);
    tally.operation({"mean", n + c, n, c});
    tally.operation({"variance", 3 * n + 5 * c + 3 * ghosts(batch), n + c, 2 * c});
    tally.operation({"normalisation", 4 * n, n + 2 * c + 2 * channels(in), n});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t n = batch * in.size(), c = channels(in) * ghosts(batch);
    tally.operation({"scale and bias gradients", 5 * n, 2 * n + 2 * c, 2 * c});
    if (input_gradient)
      tally.operation({"normalisation, gradient", 9 * n + ghosts(batch), 2 * n + 4 * c + channels(in), n});
    tally.operation({"statistics", 4 * c + 6 * channels(in), 4 * c + 2 * channels(in), 4 * channels(in)});
  }
  constexpr LayerMemory memory(Shape in) const { return {.exact = 5 * channels(in)}; }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    require(eps > 0, name, ": BatchNorm has eps ", eps, ", expected more than 0");
    require(momentum >= 0 && momentum <= 1, name, ": BatchNorm has momentum ", momentum, ", expected [0, 1]");
    require(ghost != 1 || in.size() > channels(in), name,
            ": BatchNorm has ghost 1 and examples with one value per channel, expected at least 2 values to normalise");
    const Shape shape{channels(in)};
    return {layout.add({name + ".scale", Kind::batch_norm_scale, shape}),
            layout.add({name + ".bias", Kind::batch_norm_bias, shape}),
            layout.add({.name = name + ".mean", .kind = Kind::batch_norm_bias, .shape = shape, .buffer = true}),
            layout.add({.name = name + ".variance", .kind = Kind::batch_norm_scale, .shape = shape, .buffer = true})};
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& h, Shape) const {
    set(h.scale, init);
    set(h.bias, Init::zeros);
    set(h.mean, Init::zeros);
    set(h.variance, Init::ones);
  }

  struct SquaredDistance {
    static constexpr std::size_t sums = 1;
    template <class T>
    ALGOPERF_HD Sums<T, 1> operator()(T x, T mean) const {
      const T distance = x - mean;
      return {{distance * distance}};
    }
  };
  struct Normalize {
    template <class T>
    ALGOPERF_HD T operator()(T, T x, T mean, T rstd, T scale, T bias) const {
      return (x - mean) * rstd * scale + bias;
    }
  };
  // With running statistics: y = (x - mean) factor + bias, factor = scale / sqrt(variance + eps).
  template <class S>
  struct Factor {
    S eps;
    template <class T>
    ALGOPERF_HD T operator()(T, T variance, T scale) const {
      return scale / math::sqrt(variance + T(eps));
    }
  };
  struct Evaluated {
    template <class T>
    ALGOPERF_HD T operator()(T, T x, T mean, T factor, T bias) const {
      return (x - mean) * factor + bias;
    }
  };
  // Computes rstds = 1 / sqrt(variance + eps), and the unbiased variances, from the sums of (x - mean)^2 in
  // `variances`.
  template <class T>
  struct Variances {
    T rows, unbiased, eps;  // unbiased: rows / (rows - 1)
    T* variances;
    T* rstds;

    // Works on channel c.
    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t c) const {
      const Variances self = *this;
      team.each(1, [=](std::size_t) {
        const T variance = self.variances[c] / self.rows;
        self.rstds[c] = T(1) / math::sqrt(variance + self.eps);
        self.variances[c] = variance * self.unbiased;
      });
    }
  };
  // The terms of the gradients of bias and scale: dy, and dy n with n = (x - mean) rstd.
  struct Gradients {
    static constexpr std::size_t sums = 2;
    template <class T>
    ALGOPERF_HD Sums<T, 2> operator()(T dy, T x, T mean, T rstd) const {
      return {{dy, dy * ((x - mean) * rstd)}};
    }
  };
  // dx = scale rstd (dy - mean of dy - n * mean of dy n)
  template <class S>
  struct InputGradient {
    S share;
    template <class T>
    ALGOPERF_HD T operator()(T, T dy, T x, T mean, T rstd, T scale, T sum_dy, T sum_dy_n) const {
      return scale * rstd * (dy - T(share) * sum_dy - (x - mean) * rstd * T(share) * sum_dy_n);
    }
  };
  // The gradients of the parameters, and the amounts that a step subtracts from the running averages: momentum
  // (running - mean over the ghost batches).
  template <class T>
  struct Totals {
    std::size_t ghosts, width;
    const T *sums_dy_n, *sums_dy, *means, *variances;  // of each ghost batch
    T momentum;
    const T *running_mean, *running_variance;
    T *of_scale, *of_bias, *of_mean, *of_variance;

    // Works on channel c.
    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t c) const {
      const Totals self = *this;
      team.each(1, [=](std::size_t) {
        T by_scale = 0, by_bias = 0, mean = 0, variance = 0;
        for (std::size_t i = c; i < self.ghosts * self.width; i += self.width) {
          by_scale += self.sums_dy_n[i];
          by_bias += self.sums_dy[i];
          mean += self.means[i];
          variance += self.variances[i];
        }
        const T n = static_cast<T>(self.ghosts);
        self.of_scale[c] = by_scale;
        self.of_bias[c] = by_bias;
        self.of_mean[c] = self.momentum * (self.running_mean[c] - mean / n);
        self.of_variance[c] = self.momentum * (self.running_variance[c] - variance / n);
      });
    }
  };
  // to[r] = kernel(to[r], from[r]..., of_columns...), elementwise on rows of equal width.
  template <class S, class Kernel, std::size_t rows, std::size_t columns>
  struct OnRow {
    static constexpr bool elementwise = true;
    Kernel kernel;
    std::size_t width;
    S* to;
    const S* from[rows];
    const Arithmetic<S>* of_columns[columns];

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      apply(team, r, std::make_index_sequence<rows>{}, std::make_index_sequence<columns>{});
    }

   private:
    template <class Team, std::size_t... I, std::size_t... J>
    ALGOPERF_HD void apply(const Team& team, std::size_t r, std::index_sequence<I...>,
                           std::index_sequence<J...>) const {
      team.map(kernel, width, to + r * width, from[I] + r * width..., of_columns[J]...);
    }
  };

  template <class B, class S>
  void forward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, S* y) const {
    const std::size_t width = channels(in);
    using T = Arithmetic<S>;
    const T *const scale = call.value(h.scale), *const bias = call.value(h.bias);
    const T e = static_cast<T>(eps);
    const Kept<B> kept(call, in);
    if (call.mode == Mode::evaluate) {
      call.backend.map(Factor<T>{e}, width, kept.rstds, call.value(h.variance), scale);
      on_rows(call, call.batch * in.size() / width, width, Evaluated{}, y, {x},
              {call.value(h.mean), static_cast<const T*>(kept.rstds), bias});
      return;
    }
    for_each_ghost(call, in, [&](std::size_t g, std::size_t first, std::size_t rows) {
      const std::size_t at = first * width;
      require(
          rows > 1,
          "BatchNorm: a batch has one value per channel, expected at least 2 to normalise (LastBatch::drop leaves out "
          "a last batch of one example)");
      const T n = static_cast<T>(rows);
      T *const mean = kept.means + g * width, *const variance = kept.variances + g * width;
      T* const rstd = kept.rstds + g * width;
      call.backend.column_sums(rows, width, x + at, mean);
      call.backend.map(Multiply<T>{T(1) / n}, width, mean);
      call.backend.column_sums(SquaredDistance{}, rows, width, {variance}, {x + at}, {mean});
      call.backend.for_each_row(width, 1, Variances<T>{n, n / (n - T(1)), e, variance, rstd});
      on_rows(call, rows, width, Normalize{}, y + at, {x + at}, {mean, rstd, scale, bias});
    });
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, const S*, const S* dy, S* dx) const {
    require(call.mode == Mode::train, "BatchNorm: backward requires a forward pass in training mode");
    using T = Arithmetic<S>;
    const std::size_t width = channels(in);
    const Kept<B> kept(call, in);
    for_each_ghost(call, in, [&](std::size_t g, std::size_t first, std::size_t rows) {
      const std::size_t at = first * width;
      T *const sum_dy = kept.sums_dy + g * width, *const sum_dy_n = kept.sums_dy_n + g * width;
      const T *const mean = kept.means + g * width, *const rstd = kept.rstds + g * width;
      call.backend.column_sums(Gradients{}, rows, width, {sum_dy, sum_dy_n}, {dy + at, x + at}, {mean, rstd});
      if (dx != nullptr)
        on_rows(call, rows, width, InputGradient<T>{T(1) / static_cast<T>(rows)}, dx + at, {dy + at, x + at},
                {mean, rstd, call.value(h.scale), sum_dy, sum_dy_n});
    });
    const std::size_t count = ghosts(call.batch);
    call.backend.for_each_row(
        width, count,
        Totals<T>{count, width, kept.sums_dy_n, kept.sums_dy, kept.means, kept.variances, static_cast<T>(momentum),
                  call.value(h.mean), call.value(h.variance), call.gradient(h.scale), call.gradient(h.bias),
                  call.gradient(h.mean), call.gradient(h.variance)});
  }

 private:
  template <class B>
  struct Kept {
    typename B::Scalar *means, *variances, *rstds, *sums_dy, *sums_dy_n;
    Kept(const LayerCall<B>& call, Shape in) : means(call.exact) {
      const std::size_t all = call.capacity * channels(in);
      variances = means + all;
      rstds = variances + all;
      sums_dy = rstds + all;
      sums_dy_n = sums_dy + all;
    }
  };
  static constexpr std::size_t channels(Shape in) { return in.rank == 0 ? 1 : in[in.rank - 1]; }

  constexpr std::size_t ghosts(std::size_t batch) const {
    const std::size_t together = ghost == 0 ? batch : ghost;
    return batch < together ? 1 : batch / together;
  }
  // Calls f(index, first row, number of rows) for each ghost batch. A row holds the channels of one position.
  template <class B, class F>
  void for_each_ghost(const LayerCall<B>& call, Shape in, const F& f) const {
    const std::size_t places = in.size() / channels(in), together = ghost == 0 ? call.batch : ghost;
    const std::size_t count = ghosts(call.batch);
    for (std::size_t g = 0; g < count; ++g) {
      const std::size_t first = g * together, end = g + 1 < count ? first + together : call.batch;
      f(g, first * places, (end - first) * places);
    }
  }
  // Applies OnRow to `rows` rows. Each array of `from` has one row per row of `to`; each array of `of_columns` is a
  // single row, used for all of them.
  template <class B, class Kernel, class S, std::size_t rows_of, std::size_t columns>
  static void on_rows(const LayerCall<B>& call, std::size_t rows, std::size_t width, const Kernel& kernel, S* to,
                      const S* const (&from)[rows_of], const Arithmetic<S>* const (&of_columns)[columns]) {
    OnRow<S, Kernel, rows_of, columns> on_row{kernel, width, to, {}, {}};
    for (std::size_t i = 0; i < rows_of; ++i) on_row.from[i] = from[i];
    for (std::size_t i = 0; i < columns; ++i) on_row.of_columns[i] = of_columns[i];
    call.backend.for_each_row(rows, (rows_of + 1) * width, on_row);
  }
};

}  // namespace algoperf
