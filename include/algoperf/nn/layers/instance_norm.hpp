#pragma once

#include "../../core/math.hpp"
#include "../concept.hpp"

namespace algoperf {

// Instance normalisation: each channel (the last axis) of each example is normalised over its positions, without a
// scale and a bias:
//   y = (x - mean) rstd,   rstd = 1 / sqrt(mean of (x - mean)^2 + eps)
// Shapes: in {..., channels}, out the same. Hyperparameters: eps > 0. An example with one position becomes zeros.
// Source: Ulyanov et al. 2016, arXiv:1607.08022; as torch's InstanceNorm without affine parameters and
// running averages, with the channels last. For a scale and a bias, use GroupNorm with as many groups as channels.
// Cost: 6 FLOPs per element and 11 per channel and example forward, 11 and 8 backward; keeps the mean and rstd of each
// channel of an example.
struct InstanceNorm {
  double eps = 1e-5;

  struct Handles {};

  constexpr Shape output(Shape in) const { return in; }
  constexpr std::uint64_t parameters(Shape) const { return 0; }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t n = batch * in.size(), c = batch * channels(in);
    tally.operation({"normalisation", 6 * n + 11 * c, n, n + 2 * c});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t n = batch * in.size(), c = batch * channels(in);
    if (input_gradient) tally.operation({"normalisation, gradient", 11 * n + 8 * c, 2 * n + 2 * c, n});
  }
  constexpr LayerMemory memory(Shape in) const { return {.exact = 2 * channels(in)}; }

  Handles declare(Layout&, const std::string& name, Shape) const {
    require(eps > 0, name, ": InstanceNorm has eps ", eps, ", expected more than 0");
    return {};
  }

  // Blocks of up to `width` adjacent channels of an example, numbered through all examples. A team works on one block.
  struct Blocks {
    static constexpr std::size_t width = 16;
    std::size_t channels, positions;

    struct Block {
      std::size_t first, statistics, channels;  // first: the offset of its first element
    };
    ALGOPERF_HD std::size_t per_example() const { return (channels + width - 1) / width; }
    ALGOPERF_HD Block block(std::size_t r) const {
      const std::size_t example = r / per_example(), channel = r % per_example() * width;
      return {example * positions * channels + channel, example * channels + channel,
              channels - channel < width ? channels - channel : width};
    }

    // to[j] = sum over the positions of f(i, j), where i is the offset of channel j's element from the block's first.
    // On a CPU, 16 and 8 channels are constants: the loops then take a quarter to three quarters of the time.
    template <class Team, class T, class F>
    ALGOPERF_HD void sum(const Team& team, const Block& block, T (&to)[width], const F& f) const {
      if constexpr (Team::size > 1) {
        const std::size_t stride = channels;
        for (std::size_t j = 0; j < block.channels; ++j)
          to[j] = team.template sum<T>(positions, [=](std::size_t p) { return f(p * stride + j, j); });
      } else {
        if (block.channels == width)
          sum_channels<width>(width, to, f);
        else if (block.channels == width / 2)
          sum_channels<width / 2>(width / 2, to, f);
        else
          sum_channels<width>(block.channels, to, f);
      }
    }
    // Calls f(i, j) for the offset i of every element of the block, of its channel j.
    template <class Team, class F>
    ALGOPERF_HD void each(const Team& team, const Block& block, const F& f) const {
      if constexpr (Team::size > 1) {
        const std::size_t stride = channels, n = block.channels;
        team.each(positions * n, [=](std::size_t k) { f(k / n * stride + k % n, k % n); });
      } else {
        if (block.channels == width)
          each_channel<width>(width, f);
        else if (block.channels == width / 2)
          each_channel<width / 2>(width / 2, f);
        else
          each_channel<0>(block.channels, f);
      }
    }

   private:
    // Adds every fourth position to one of four sums per channel, which do not wait for each other. n <= most.
    template <std::size_t most, class T, class F>
    ALGOPERF_HD void sum_channels(std::size_t n, T (&to)[width], const F& f) const {
      constexpr std::size_t parts = 4;
      T part[parts][most] = {};
      std::size_t p = 0;
      for (; p + parts <= positions; p += parts)
        for (std::size_t k = 0; k < parts; ++k)
          for (std::size_t j = 0; j < n; ++j) part[k][j] += f((p + k) * channels + j, j);
      for (; p < positions; ++p)
        for (std::size_t j = 0; j < n; ++j) part[0][j] += f(p * channels + j, j);
      for (std::size_t j = 0; j < n; ++j) to[j] = (part[0][j] + part[1][j]) + (part[2][j] + part[3][j]);
    }
    // Calls f for n channels. `known` is n as a constant, or 0.
    template <std::size_t known, class F>
    ALGOPERF_HD void each_channel(std::size_t n, const F& f) const {
      for (std::size_t p = 0; p < positions; ++p)
        for (std::size_t j = 0; j < (known > 0 ? known : n); ++j) f(p * channels + j, j);
    }
  };

  template <class S>
  struct Forward {
    using T = Arithmetic<S>;
    Blocks at;
    T eps;
    const S* x;
    S* y;
    T* means;
    T* rstds;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const auto block = at.block(r);
      const S* const from = x + block.first;
      S* const to = y + block.first;
      const T n = static_cast<T>(at.positions);
      Values<T> mean, rstd;
      at.sum(team, block, mean.of, [from](std::size_t i, std::size_t) { return T(from[i]); });
      for (std::size_t j = 0; j < block.channels; ++j) mean.of[j] = mean.of[j] / n;
      at.sum(team, block, rstd.of, [from, mean](std::size_t i, std::size_t j) {
        const T distance = from[i] - mean.of[j];
        return distance * distance;
      });
      for (std::size_t j = 0; j < block.channels; ++j) {
        rstd.of[j] = T(1) / math::sqrt(rstd.of[j] / n + eps);
        means[block.statistics + j] = mean.of[j];
        rstds[block.statistics + j] = rstd.of[j];
      }
      at.each(team, block,
              [from, to, mean, rstd](std::size_t i, std::size_t j) { to[i] = S((from[i] - mean.of[j]) * rstd.of[j]); });
    }
  };
  // With n = (x - mean) rstd: dx = rstd (dy - mean of dy - n * mean of dy n).
  template <class S>
  struct Backward {
    using T = Arithmetic<S>;
    Blocks at;
    const S* x;
    const S* dy;
    const T* means;
    const T* rstds;
    S* dx;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const auto block = at.block(r);
      const S *const from = x + block.first, *const d = dy + block.first;
      S* const to = dx + block.first;
      const T n = static_cast<T>(at.positions);
      Values<T> mean, rstd, mean_d, mean_dn;
      for (std::size_t j = 0; j < block.channels; ++j) {
        mean.of[j] = means[block.statistics + j];
        rstd.of[j] = rstds[block.statistics + j];
      }
      at.sum(team, block, mean_d.of, [d](std::size_t i, std::size_t) { return T(d[i]); });
      at.sum(team, block, mean_dn.of, [d, from, mean, rstd](std::size_t i, std::size_t j) {
        return d[i] * ((from[i] - mean.of[j]) * rstd.of[j]);
      });
      for (std::size_t j = 0; j < block.channels; ++j) {
        mean_d.of[j] = mean_d.of[j] / n;
        mean_dn.of[j] = mean_dn.of[j] / n;
      }
      at.each(team, block, [=](std::size_t i, std::size_t j) {
        to[i] = S(rstd.of[j] * (d[i] - mean_d.of[j] - (from[i] - mean.of[j]) * rstd.of[j] * mean_dn.of[j]));
      });
    }
  };

  template <class B, class S>
  void forward(const LayerCall<B>& call, Handles, Shape in, const S* x, S* y) const {
    const Blocks at = blocks(in);
    call.backend.for_each_row(call.batch * at.per_example(), 6 * at.positions * Blocks::width,
                              Forward<S>{at, static_cast<Arithmetic<S>>(eps), x, y, call.exact, rstds(call, in)});
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, Handles, Shape in, const S* x, const S*, const S* dy, S* dx) const {
    if (dx == nullptr) return;
    const Blocks at = blocks(in);
    call.backend.for_each_row(call.batch * at.per_example(), 11 * at.positions * Blocks::width,
                              Backward<S>{at, x, dy, call.exact, rstds(call, in), dx});
  }

 private:
  template <class T>
  struct Values {
    T of[Blocks::width] = {};
  };
  static constexpr std::size_t channels(Shape in) { return in.rank == 0 ? 1 : in[in.rank - 1]; }
  static constexpr Blocks blocks(Shape in) { return {channels(in), in.size() / channels(in)}; }
  template <class B>
  static typename B::Scalar* rstds(const LayerCall<B>& call, Shape in) {
    return call.exact + call.capacity * channels(in);
  }
};

}  // namespace algoperf
