#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/list.hpp"
#include "../../core/map_kernels.hpp"
#include "../../core/math.hpp"
#include "../matrix/kernels.hpp"
#include "moments.hpp"
#include "recipe.hpp"

namespace algoperf {
namespace detail {

// Consecutive elements of one tensor of a region.
struct TensorBlock {
  static constexpr std::size_t most_elements = 8192;

  std::size_t begin;  // within the region
  std::uint32_t size, tensor;
};

// The blocks of a tensor: [first, first + count).
struct BlockRange {
  std::uint32_t first, count;
};

// x + rest (y - x), which is exactly x where y = x
template <class S>
struct MoveTowards {
  S rest;
  template <class T>
  ALGOPERF_HD T operator()(T x, T y) const {
    return x + rest * (y - x);
  }
};

// The means after one more gradient, and the largest |u - mean| of block r.
template <class S>
struct UpdateMeanGradient {
  const TensorBlock* blocks;
  const S* u;
  S *means, *maxima_of_blocks;
  S rest;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const TensorBlock block = blocks[r];
    S* const mean = means + block.begin;
    const S* const from = u + block.begin;
    team.map(MoveTowards<S>{rest}, block.size, mean, from);
    maxima_of_blocks[r] =
        team.template max<S>(block.size, [=](std::size_t i) { return math::abs<S>(from[i] - mean[i]); });
  }
};

// The maximum over the blocks of tensor r. That of a tensor without elements stays 0.
template <class S>
struct MaximumOfBlocks {
  const BlockRange* tensors;
  const S* maxima_of_blocks;
  S* maxima_of_tensors;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    if (tensors[r].count == 0) return;
    const S* const from = maxima_of_blocks + tensors[r].first;
    maxima_of_tensors[r] = team.template max<S>(tensors[r].count, [=](std::size_t i) { return from[i]; });
  }
};

// scale m / ((1 + exp(-4 |u - mean| / most)) root(v)), where `slope` is -4 / most
template <class S>
struct DGradDirection {
  S scale, slope;
  Root<S> root;
  template <class T>
  ALGOPERF_HD T operator()(T u, T m, T v, T mean) const {
    const T friction = T(S(1)) + math::exp<T>(slope * math::abs<T>(u - mean));
    return math::fast_divide(scale * m, friction * root(v));
  }
};

// The moments and the direction of block r.
template <class S>
struct DGradStep {
  const TensorBlock* blocks;
  const S *maxima_of_tensors, *means;
  S *u, *m, *v;
  Moments<S> moments;
  Root<S> root;
  S scale;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const TensorBlock block = blocks[r];
    const S most = maxima_of_tensors[block.tensor];
    constexpr S least = positive<S>(0);  // the smallest normal number; -4 / most is finite above
    S *const to = u + block.begin, *const first = m + block.begin, *const second = v + block.begin;
    team.map(LinearCombination<S>{moments.beta1, moments.rest1}, block.size, first, static_cast<const S*>(to));
    team.map(SecondMoment<S>{moments.beta2, moments.rest2}, block.size, second, static_cast<const S*>(to));
    team.map(DGradDirection<S>{scale, most > least ? S(-4) / most : S(0), root}, block.size, to,
             static_cast<const S*>(first), static_cast<const S*>(second), means + block.begin);
  }
};

}  // namespace detail

// The direction of DGrad: Adam with smaller steps where the gradient is close to the mean of the gradients so far.
// m and v are as in Adam; with the mean a_t of u over steps 1 to t, d = |u - a_t|, its maximum over the tensor, and
// c = sqrt(1 - b2^t):
//   u' = sigmoid(4 d / max(d)) (m' / (1 - b1^t)) c / (sqrt(v') + eps)
// The sigmoid is in [1/2, 0.9821]; it is 1/2 where max(d) is 0, as at the first step, or too small to divide by.
// Hyperparameters: beta1, beta2 in [0, 1); eps > 0.
// Source: Nanni, Maguolo & Lumini 2021 (arXiv:2103.14689). Not verified: this follows a summary of the paper, because
// neither its formulas nor the authors' code could be read. Assumed are the arithmetic mean, which includes the current
// gradient; the maximum per tensor; and eps added to sqrt(v'), as in diffGrad.
// Cost: three floats of state per parameter, `exp_avg`, `exp_avg_sq` and `mean_grad`. The maximum needs a pass of its
// own: chain(DGrad{}, Descend{}) reads and writes 52 bytes per parameter and step.
struct DGrad {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;

  static constexpr std::size_t transform_traffic = 10;
  void check() const { detail::check_moments("DGrad", beta1, beta2, eps); }

  template <class Backend>
  struct State {
    using S = typename Backend::Scalar;
    using Array = typename Backend::template Array<S>;
    typename Backend::template Array<detail::TensorBlock> blocks;
    typename Backend::template Array<detail::BlockRange> tensors;
    Array m, v, means, maxima_of_blocks, maxima_of_tensors;

    // Archives the state of tensor i of the region.
    template <class Archive>
    void visit(Archive& archive, const Backend& backend, const auto& layout, const auto& region, std::size_t i) {
      const auto place = layout.place_of(region.tensors[i]);
      const std::size_t begin = place.offset - region.begin;
      archive.array("exp_avg", backend, m.data() + begin, place.size);
      archive.array("exp_avg_sq", backend, v.data() + begin, place.size);
      archive.array("mean_grad", backend, means.data() + begin, place.size);
    }
  };

  template <class Backend>
  State<Backend> state(const Backend& backend, const auto& layout, const auto& region) const {
    using detail::TensorBlock;
    List<TensorBlock> blocks;
    List<detail::BlockRange> tensors;
    for (std::size_t i = 0; i < region.tensors.size(); ++i) {
      const auto place = layout.place_of(region.tensors[i]);
      const std::size_t first = blocks.size();
      for (std::size_t begin = 0; begin < place.size; begin += TensorBlock::most_elements)
        blocks.push_back({place.offset - region.begin + begin,
                          static_cast<std::uint32_t>(math::min(place.size - begin, TensorBlock::most_elements)),
                          static_cast<std::uint32_t>(i)});
      tensors.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(blocks.size() - first)});
    }
    const auto array = [&](std::size_t n) { return backend.template array<typename Backend::Scalar>(n); };
    State<Backend> state{backend.template array<TensorBlock>(blocks.size()),
                         backend.template array<detail::BlockRange>(tensors.size()),
                         array(region.size()),
                         array(region.size()),
                         array(region.size()),
                         array(blocks.size()),
                         array(tensors.size())};
    backend.write(blocks.size(), static_cast<const TensorBlock*>(blocks.begin()), state.blocks.data());
    backend.write(tensors.size(), static_cast<const detail::BlockRange*>(tensors.begin()), state.tensors.data());
    return state;
  }

  template <class Backend>
  void transform(const MatrixWork<Backend>& work, State<Backend>& state) const {
    using S = typename Backend::Scalar;
    const std::size_t blocks = state.blocks.size(), tensors = state.tensors.size();
    if (blocks == 0) return;
    const double c = math::sqrt(detail::bias(beta2, work.step));
    const S rest = static_cast<S>(1 / static_cast<double>(work.step.t));
    work.backend.for_each_row(blocks, detail::TensorBlock::most_elements,
                              detail::UpdateMeanGradient<S>{state.blocks.data(), work.u, state.means.data(),
                                                            state.maxima_of_blocks.data(), rest});
    work.backend.for_each_row(tensors, 1 + blocks / tensors,
                              detail::MaximumOfBlocks<S>{state.tensors.data(), state.maxima_of_blocks.data(),
                                                         state.maxima_of_tensors.data()});
    work.backend.for_each_row(
        blocks, detail::TensorBlock::most_elements,
        detail::DGradStep<S>{state.blocks.data(), state.maxima_of_tensors.data(), state.means.data(), work.u,
                             state.m.data(), state.v.data(), detail::Moments<S>::of(beta1, beta2),
                             detail::Root<S>::of(EpsAt::uncorrected, eps),
                             static_cast<S>(c / detail::bias(beta1, work.step))});
  }
};

// The rule DGrad, chain(DGrad{...}, Descend{}): p' = p - lr dgrad(g).
// Hyperparameters and source: those of DGrad.
// Cost: three floats of state, 52 bytes per parameter and step.
inline constexpr auto dgrad = []<std::same_as<DGrad> Options = DGrad>(Options options = {}) {
  return chain(options, Descend{});
};

}  // namespace algoperf
