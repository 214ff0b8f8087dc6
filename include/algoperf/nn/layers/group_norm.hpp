#pragma once

#include "../../core/math.hpp"
#include "../concept.hpp"
#include "../init.hpp"
#include "layer_norm.hpp"

namespace algoperf {

// Group normalisation: the channels (the last axis) are split into `groups` contiguous groups. Each group of each
// example is normalised over its channels and all positions:
//   y = (x - mean) rstd * scale + bias,   rstd = 1 / sqrt(mean of (x - mean)^2 + eps)
// Shapes: in {..., channels}, out the same; `scale` {channels} starts as ones, `bias` {channels} as zeros.
// Hyperparameters: groups >= 1 divides the channels (1: layer norm over a whole example; channels: instance norm);
//   eps > 0.
// Source: Wu & He 2018, arXiv:1803.08494, equations 1, 2, 6 and 7; as torch's GroupNorm, with the channels last.
// Cost: 8 FLOPs per element and 19 per group forward, 16 and 16 backward; keeps the mean and rstd of each group, and
// one value per element for the scale's gradient.
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
    tally.operation({"normalisation", 8 * n + 19 * all_groups, n + 2 * channels(in), n + 2 * all_groups});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t n = batch * in.size(), all_groups = batch * groups;
    const std::uint64_t flops = input_gradient ? 14 * n + 16 * all_groups : 3 * n;
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

  // The positions of a group's elements, `width` adjacent channels of an example. Groups are numbered through all
  // examples.
  struct Places {
    std::size_t groups, width, channels, positions;

    ALGOPERF_HD std::size_t size() const { return positions * width; }
    ALGOPERF_HD std::size_t first_channel(std::size_t r) const { return r % groups * width; }
    ALGOPERF_HD std::size_t begin(std::size_t r) const { return r / groups * positions * channels + first_channel(r); }

    // Returns the sum of f(i, c) over the elements of group r, at offset i in channel c.
    template <class T, class Team, class F>
    ALGOPERF_HD T sum(const Team& team, std::size_t r, const F& f) const {
      const std::size_t start = begin(r), first = first_channel(r);
      if constexpr (Team::size > 1) {
        const Places self = *this;
        return team.template sum<T>(size(), [=](std::size_t k) {
          const std::size_t j = k % self.width;
          return f(start + k / self.width * self.channels + j, first + j);
        });
      } else {  // eight sums, which do not wait for each other
        T part[8] = {};
        for (std::size_t p = 0; p < positions; ++p) {
          const std::size_t row = start + p * channels;
          std::size_t j = 0;
          for (; j + 8 <= width; j += 8)
            for (std::size_t l = 0; l < 8; ++l) part[l] += f(row + j + l, first + j + l);
          for (std::size_t l = 0; j + l < width; ++l) part[l] += f(row + j + l, first + j + l);
        }
        return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
      }
    }
    // to[i] = kernel(to[i], in...) for each element of group r.
    template <class Team, class Kernel, class S, class... In>
    ALGOPERF_HD void map(const Team& team, std::size_t r, const Kernel kernel, S* to, const In... in) const {
      const std::size_t start = begin(r), first = first_channel(r);
      if constexpr (Team::size > 1) {
        const Places self = *this;
        team.each(size(), [=](std::size_t k) {
          const std::size_t j = k % self.width, i = start + k / self.width * self.channels + j;
          to[i] = S(kernel(Arithmetic<S>(to[i]), Arithmetic<S>(*in.at(i, first + j))...));
        });
      } else {
        for (std::size_t p = 0; p < positions; ++p)
          team.map(kernel, width, to + start + p * channels, in.at(start + p * channels, first)...);
      }
    }
  };
  // Arguments of map: an array with an entry per element, and one with an entry per channel.
  template <class S>
  struct PerElement {
    const S* of;
    ALGOPERF_HD const S* at(std::size_t i, std::size_t) const { return of + i; }
  };
  template <class T>
  struct PerChannel {
    const T* of;
    ALGOPERF_HD const T* at(std::size_t, std::size_t c) const { return of + c; }
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
      const T n = static_cast<T>(at.size());
      const T mean = at.template sum<T>(team, r, [self](std::size_t i, std::size_t) { return T(self.x[i]); }) / n;
      const T square = at.template sum<T>(team, r, [self, mean](std::size_t i, std::size_t) {
        const T d = self.x[i] - mean;
        return d * d;
      });
      const T rstd = T(1) / math::sqrt(square / n + eps);
      means[r] = mean;
      rstds[r] = rstd;
      at.map(team, r, LayerNorm::Normalize<T>{mean, rstd}, y, PerElement<S>{x}, PerChannel<T>{scale},
             PerChannel<T>{bias});
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
      const T mean = means[r], rstd = rstds[r], n = static_cast<T>(at.size());
      at.map(team, r, LayerNorm::ScaleGradient<T>{mean, rstd}, products, PerElement<S>{x}, PerElement<S>{dy});
      if (dx == nullptr) return;
      const T mean_g =
          at.template sum<T>(team, r, [self](std::size_t i, std::size_t c) { return self.dy[i] * self.scale[c]; }) / n;
      const T mean_gn = at.template sum<T>(team, r, [self](std::size_t i, std::size_t c) {
        return self.products[i] * self.scale[c];
      }) / n;
      at.map(team, r, LayerNorm::InputGradient<T>{mean, rstd, mean_g, mean_gn}, dx, PerElement<S>{x}, PerElement<S>{dy},
             PerChannel<T>{scale});
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
    return {groups, width, channels(in), in.size() / channels(in)};
  }
};

}  // namespace algoperf
