// Cost: what one example costs a layer or a model, in constant evaluation where the model is a constant.
#pragma once

#include <cstddef>
#include <cstdint>

namespace algoperf {

// Counts per example. FLOPs count a multiply-add as two and matrix products, biases and element-wise maths alike;
// backward counts both the input's and the weights' gradient (the first layer's input gradient is not computed and not
// counted).
struct Cost {
  std::uint64_t parameters = 0;
  std::uint64_t forward_flops = 0;
  std::uint64_t backward_flops = 0;
  std::uint64_t activations = 0;  // floats kept from forward to backward

  constexpr std::uint64_t flops() const { return forward_flops + backward_flops; }
  friend constexpr Cost operator+(const Cost& a, const Cost& b) {
    return {a.parameters + b.parameters, a.forward_flops + b.forward_flops, a.backward_flops + b.backward_flops,
            a.activations + b.activations};
  }
  friend constexpr bool operator==(const Cost&, const Cost&) = default;
};

}  // namespace algoperf
