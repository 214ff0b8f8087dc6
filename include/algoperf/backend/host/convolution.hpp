// Convolutions of the host backend on several threads.
#pragma once

#include <cstddef>
#include <vector>

#include "../products/convolution.hpp"
#include "thread_pool.hpp"

namespace algoperf {
namespace detail {

// Runs a convolution on up to `threads` threads, in groups of 16 images. The groups do not depend on the number of
// threads, so neither does the result.
template <class S>
class ConvolutionThreads {
 public:
  ConvolutionThreads(const Convolution& whole, unsigned threads) : whole_(whole), threads_(threads) {}

  void forward(const S* x, const S* weight, const S* bias, S* y) const {
    for_each_group([=, *this](const Convolution& group, std::size_t first) {
      convolve(group, x + first * whole_.inputs(), weight, bias, y + first * whole_.outputs());
    });
  }
  void back_to_input(const S* dy, const S* weight, S* dx) const {
    for_each_group([=, *this](const Convolution& group, std::size_t first) {
      convolve_back_to_input(group, dy + first * whole_.outputs(), weight, dx + first * whole_.inputs());
    });
  }
  // The sums of the groups are added in order.
  void back_to_weight(const S* x, const S* dy, S* d_weight) const {
    const std::size_t n = whole_.weights();
    std::vector<S> later((groups() - 1) * n);
    for_each_group([=, *this, &later](const Convolution& group, std::size_t first) {
      convolve_back_to_weight(group, x + first * whole_.inputs(), dy + first * whole_.outputs(),
                              first == 0 ? d_weight : later.data() + (first / at_once - 1) * n);
    });
    for (std::size_t begin = 0; begin < later.size(); begin += n)
      for (std::size_t i = 0; i < n; ++i) d_weight[i] += later[begin + i];
  }

 private:
  static constexpr std::size_t at_once = 16;

  std::size_t groups() const { return (whole_.images + at_once - 1) / at_once; }
  template <class F>
  void for_each_group(const F& f) const {
    ThreadPool::instance().parallel_for(threads_, groups(), [&](std::size_t i) {
      Convolution group = whole_;
      group.images = whole_.images - i * at_once < at_once ? whole_.images - i * at_once : at_once;
      f(group, i * at_once);
    });
  }

  Convolution whole_;
  unsigned threads_;
};

}  // namespace detail
}  // namespace algoperf
