#pragma once

#include "../../core/math.hpp"
#include "../concept.hpp"
#include "../init.hpp"

namespace algoperf {

// Group normalisation: the channels (the last axis) are split into `groups` contiguous groups. Each group of each
// example is normalised over its channels and all positions:
//   y = (x - mean) rstd * scale + bias,   rstd = 1 / sqrt(mean of (x - mean)^2 + eps)
// Shapes: in {..., channels}, out the same; `scale` {channels} starts as ones, `bias` {channels} as zeros.
// Hyperparameters: groups >= 1 divides the channels (1: layer norm over a whole example; channels: instance norm);
//   eps > 0.
// Source: Wu & He 2018, arXiv:1803.08494, equations 1, 2 and 7; as torch's GroupNorm, with the channels last.
// Cost: 8 FLOPs per element and 5 per group forward, 16 and 2 backward; keeps the mean and rstd of each group, and one
// value per element for the scale's gradient.
struct GroupNorm {
  std::size_t groups = 1;
  double eps = 1e-5;

  struct Handles {
    TensorHandle scale, bias;
  };

  constexpr Shape output(Shape in) const { return in; }
  constexpr std::uint64_t parameters(Shape in) const { return 2 * channels(in); }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t n = batch * in.size(), all_groups = batch * groups;
    tally.operation({"normalisation", 8 * n + 5 * all_groups, n + 2 * channels(in), n + 2 * all_groups});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t n = batch * in.size(), all_groups = batch * groups;
    const std::uint64_t flops = input_gradient ? 14 * n + 2 * all_groups : 3 * n;
    const std::uint64_t more = input_gradient ? n : 0;
    tally.operation({"normalisation, gradient", flops, 2 * n + 2 * all_groups + channels(in), n + more});
    tally.operation({"scale gradient", n, n, channels(in)});
    tally.operation({"bias gradient", n, n, channels(in)});
  }
  constexpr LayerMemory memory(Shape in) const { return {.kept = in.size(), .exact = 2 * groups}; }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    require(eps > 0, name, ": GroupNorm has eps ", eps, ", expected more than 0");
    require(groups > 0 && channels(in) % groups == 0, name, ": GroupNorm has groups ", groups,
            ", expected a divisor of the ", channels(in), " channels");
    return {layout.add({name + ".scale", Kind::layer_norm_scale, {channels(in)}}),
            layout.add({name + ".bias", Kind::layer_norm_bias, {channels(in)}})};
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& h, Shape) const {
    set(h.scale, Init::ones);
    set(h.bias, Init::zeros);
  }

  // The positions of a group's elements. Element i of group r is at offset place(r, i), in channel channel(r, i).
  // Groups are numbered through all examples.
  struct Places {
    std::size_t groups, width, channels, size;  // width: channels per group; size: elements per group
    ALGOPERF_HD std::size_t channel(std::size_t r, std::size_t i) const { return r % groups * width + i % width; }
    ALGOPERF_HD std::size_t place(std::size_t r, std::size_t i) const {
      return (r / groups * (size / width) + i / width) * channels + channel(r, i);
    }
  };

  template <class S>
  struct Forward {
    using T = Arithmetic<S>;
    Places at;
    T eps;
    const S* x;
    const T* scale;
    const T* bias;
    S* y;
    T* means;
    T* rstds;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const Forward self = *this;
      const T n = static_cast<T>(at.size);
      const T mean =
          team.template sum<T>(at.size, [self, r](std::size_t i) { return self.x[self.at.place(r, i)]; }) / n;
      const T square = team.template sum<T>(at.size, [self, r, mean](std::size_t i) {
        const T d = self.x[self.at.place(r, i)] - mean;
        return d * d;
      });
      const T rstd = T(1) / math::sqrt(square / n + eps);
      means[r] = mean;
      rstds[r] = rstd;
      team.each(at.size, [self, r, mean, rstd](std::size_t i) {
        const std::size_t place = self.at.place(r, i), c = self.at.channel(r, i);
        self.y[place] = S((self.x[place] - mean) * rstd * self.scale[c] + self.bias[c]);
      });
    }
  };
  // With g = dy * scale and n = (x - mean) rstd: dx = rstd (g - mean of g - n * mean of g n).
  template <class S>
  struct Backward {
    using T = Arithmetic<S>;
    Places at;
    const S* x;
    const T* scale;
    const S* dy;
    const T* means;
    const T* rstds;
    S* products;  // dy n; their sums over positions are the scale's gradient
    S* dx;        // null if not required

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const Backward self = *this;
      const T mean = means[r], rstd = rstds[r], n = static_cast<T>(at.size);
      team.each(at.size, [self, r, mean, rstd](std::size_t i) {
        const std::size_t place = self.at.place(r, i);
        self.products[place] = S(self.dy[place] * ((self.x[place] - mean) * rstd));
      });
      if (dx == nullptr) return;
      const T mean_g = team.template sum<T>(at.size, [self, r](std::size_t i) {
        return self.dy[self.at.place(r, i)] * self.scale[self.at.channel(r, i)];
      }) / n;
      const T mean_gn = team.template sum<T>(at.size, [self, r](std::size_t i) {
        return self.products[self.at.place(r, i)] * self.scale[self.at.channel(r, i)];
      }) / n;
      team.each(at.size, [self, r, mean, rstd, mean_g, mean_gn](std::size_t i) {
        const std::size_t place = self.at.place(r, i);
        const T g = self.dy[place] * self.scale[self.at.channel(r, i)];
        self.dx[place] = S(rstd * (g - mean_g - (self.x[place] - mean) * rstd * mean_gn));
      });
    }
  };

  template <class B, class S>
  void forward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, S* y) const {
    const Kept<B> kept(call, groups);
    call.backend.for_each_row(call.batch * groups, 8 * in.size() / groups,
                              Forward<S>{places(in), static_cast<Arithmetic<S>>(eps), x, call.value(h.scale),
                                         call.value(h.bias), y, kept.means, kept.rstds});
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, const S*, const S* dy, S* dx) const {
    const Kept<B> kept(call, groups);
    call.backend.for_each_row(
        call.batch * groups, 12 * in.size() / groups,
        Backward<S>{places(in), x, call.value(h.scale), dy, kept.means, kept.rstds, kept.products, dx});
    const std::size_t rows = call.batch * in.size() / channels(in);
    call.backend.column_sums(rows, channels(in), kept.products, call.gradient(h.scale));
    call.backend.column_sums(rows, channels(in), dy, call.gradient(h.bias));
  }

 private:
  template <class B>
  struct Kept {
    Stored<B>* products;
    typename B::Scalar* means;
    typename B::Scalar* rstds;
    Kept(const LayerCall<B>& call, std::size_t groups)
        : products(call.kept), means(call.exact), rstds(means + call.capacity * groups) {}
  };
  static constexpr std::size_t channels(Shape in) { return in.rank == 0 ? 1 : in[in.rank - 1]; }
  constexpr Places places(Shape in) const {
    const std::size_t width = channels(in) / groups;
    return {groups, width, channels(in), in.size() / groups};
  }
};

}  // namespace algoperf
