// Convolutions of the host backend on several threads.
#pragma once

#include <cstddef>
#include <new>

#include "../../core/element_count.hpp"
#include "../../core/error.hpp"
#include "../products/convolution.hpp"
#include "../products/tiles/buffer.hpp"
#include "thread_pool.hpp"

namespace algoperf {
namespace detail {

// Runs a Convolution or a DepthwiseConvolution on up to `threads` threads, in groups of at most 24 images: an even
// number of groups of about the same size, so that two threads have the same work. The groups do not depend on the
// number of threads, so neither does the result.
template <class S, class Parameters>
class ConvolutionThreads {
 public:
  ConvolutionThreads(const Parameters& whole, unsigned threads)
      : whole_(whole), threads_(threads), group_size_(images_of_group(whole.images)) {}

  void forward(const S* x, const S* weight, const S* bias, S* y) const {
    for_each_group([=, *this](const Parameters& group, std::size_t first) {
      convolve(group, x + first * whole_.inputs(), weight, bias, y + first * whole_.outputs());
    });
  }
  void back_to_input(const S* dy, const S* weight, S* dx) const {
    for_each_group([=, *this](const Parameters& group, std::size_t first) {
      convolve_back_to_input(group, dy + first * whole_.outputs(), weight, dx + first * whole_.inputs());
    });
  }
  // The sums of the groups are added in order. Each thread computes one group at a time, in memory that the calling
  // thread keeps.
  void back_to_weight(const S* x, const S* dy, S* d_weight) const {
    // Without images, one empty group sets d_weight to zeros.
    const std::size_t n = whole_.weights(), groups = whole_.images == 0 ? 1 : group_count();
    const std::size_t most_at_once = threads_ > 1 ? threads_ : 1;
    const std::size_t at_once = most_at_once < groups ? most_at_once : groups;
    thread_local tiled::Buffer<S> buffer;
    or_out_of_memory([&] {
      S* const later = groups > 1 ? buffer.of_size(n * at_once) : nullptr;  // the sums of all groups but the first
      for (std::size_t first = 0; first < groups; first += at_once) {
        const std::size_t count = groups - first < at_once ? groups - first : at_once;
        ThreadPool::instance().parallel_for(threads_, count, [&](std::size_t i) {
          const std::size_t image = (first + i) * group_size_;
          convolve_back_to_weight(group(first + i), x + image * whole_.inputs(), dy + image * whole_.outputs(),
                                  first + i == 0 ? d_weight : later + i * n);
        });
        for (std::size_t i = first == 0 ? 1 : 0; i < count; ++i)
          for (std::size_t k = 0; k < n; ++k) d_weight[k] += later[i * n + k];
      }
    });
  }

 private:
  static constexpr std::size_t most = 24;

  static std::size_t images_of_group(std::size_t images) {
    const std::size_t groups = images <= most ? 1 : (images + 2 * most - 1) / (2 * most) * 2;
    return (images + groups - 1) / groups;
  }
  std::size_t group_count() const { return whole_.images == 0 ? 0 : (whole_.images + group_size_ - 1) / group_size_; }
  Parameters group(std::size_t i) const {
    Parameters group = whole_;
    group.images = whole_.images - i * group_size_ < group_size_ ? whole_.images - i * group_size_ : group_size_;
    return group;
  }
  template <class F>
  void for_each_group(const F& f) const {
    or_out_of_memory([&] {
      ThreadPool::instance().parallel_for(threads_, group_count(),
                                          [&](std::size_t i) { f(group(i), i * group_size_); });
    });
  }
  // Calls f(). Throws OutOfMemory if an image with its padding does not fit in memory.
  template <class F>
  void or_out_of_memory(const F& f) const {
    std::size_t depth = whole_.channels;
    if constexpr (requires { whole_.filters; }) depth = depth > whole_.filters ? depth : whole_.filters;
    const std::size_t padded = element_count(whole_.rows + 2 * whole_.padding, whole_.cols + 2 * whole_.padding, depth);
    if (padded >= max_elements) fail_to_allocate(padded, sizeof(S));
    try {
      f();
    } catch (const std::bad_alloc&) {
      fail_to_allocate(padded, sizeof(S));
    }
  }

  Parameters whole_;
  unsigned threads_;
  std::size_t group_size_;
};

}  // namespace detail
}  // namespace algoperf
