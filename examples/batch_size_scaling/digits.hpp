// Small networks on digits, with targets that a fraction of an epoch reaches, and 2500 examples for validation, so that
// a study of many batch sizes takes minutes.
#pragma once

#include <algoperf/workloads/digit_networks.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <algoperf/workloads/mnist.hpp>
#include <string>

// An MLP with layers 784-64-64-10.
struct DigitFc {
  static constexpr const char* name = "fc";
  using Variants = algoperf::Tuple<>;
  static constexpr double glyph_error = 0.08, mnist_error = 0.06;
  static constexpr std::uint64_t step_hint = 400;
  static constexpr auto model() { return algoperf::mlp(algoperf::detail::digit_shape, {64, 64}, 10); }
};
// A CNN with 8 and 16 filters of 5 x 5 pixels, and 64 units.
struct DigitSmallCnn {
  static constexpr const char* name = "small_cnn";
  using Variants = algoperf::Tuple<>;
  static constexpr double glyph_error = 0.03, mnist_error = 0.03;
  static constexpr std::uint64_t step_hint = 300;
  static constexpr auto model() {
    return algoperf::simple_cnn(algoperf::detail::digit_shape, 10, {.filters1 = 8, .filters2 = 16, .units = 64});
  }
};

template <class Base>
struct FewValidated : Base {
  auto validation() const { return Base::validation().subset(0, 2500); }
};
