// A handwritten training step of the MLP 784-256-256-10 on the backend's GEMM: gather, forward, softmax
// cross-entropy, backward, AdamW. Buffers are allocated once.
#pragma once

#include <algoperf/backend/products/gemm.hpp>
#include <algoperf/core/arena.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "handwritten.hpp"

namespace handwritten {

class Mlp {
 public:
  static constexpr std::size_t inputs = 784, hidden = 256, classes = 10;

  // The offsets of the tensors in the array of parameters, whose length is `size`.
  struct Places {
    std::size_t weight1, bias1, weight2, bias2, weight3, bias3, size;
  };

  Mlp(const Places& at, const float* parameters, std::size_t batch)
      : at_(at),
        p_(at.size),
        g_(at.size),
        m_(at.size),
        v_(at.size),
        x_(batch * inputs),
        h1_(batch * hidden),
        h2_(batch * hidden),
        z_(batch * classes),
        d1_(batch * hidden),
        d2_(batch * hidden),
        dz_(batch * classes),
        labels_(batch) {
    for (std::size_t i = 0; i < at.size; ++i) p_[i] = parameters[i];
  }

  const float* parameters() const { return p_.data(); }

  // Takes a step on n examples of the data, at most the batch size. Returns their mean loss before the step.
  double step(const AdamW& options, const float* data, const std::int32_t* labels, const std::uint32_t* indices,
              std::size_t n) {
    gather(data, labels, indices, n);
    forward(n);
    const double loss = softmax_cross_entropy(n);
    backward(n);
    adamw(options, ++t_, at_.size, g_.data(), p_.data(), m_.data(), v_.data());
    return loss;
  }

 private:
  void gather(const float* data, const std::int32_t* labels, const std::uint32_t* indices, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const float* const example = data + indices[i] * inputs;
      for (std::size_t j = 0; j < inputs; ++j) x_[i * inputs + j] = example[j];
      labels_[i] = labels[indices[i]];
    }
  }

  void forward(std::size_t n) {
    algoperf::gemm_nt(n, hidden, inputs, x_.data(), inputs, p_.data() + at_.weight1, inputs, h1_.data(), hidden, false);
    bias_and_relu(n, h1_.data(), p_.data() + at_.bias1);
    algoperf::gemm_nt(n, hidden, hidden, h1_.data(), hidden, p_.data() + at_.weight2, hidden, h2_.data(), hidden,
                      false);
    bias_and_relu(n, h2_.data(), p_.data() + at_.bias2);
    algoperf::gemm_nt(n, classes, hidden, h2_.data(), hidden, p_.data() + at_.weight3, hidden, z_.data(), classes,
                      false);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < classes; ++c) z_[i * classes + c] += p_[at_.bias3 + c];
  }

  double softmax_cross_entropy(std::size_t n) {
    double loss = 0;
    const float scale = 1.0f / static_cast<float>(n);
    for (std::size_t i = 0; i < n; ++i) {
      const float* const z = z_.data() + i * classes;
      float* const dz = dz_.data() + i * classes;
      const auto label = static_cast<std::size_t>(labels_[i]);
      float top = z[0], sum = 0;
      for (std::size_t c = 1; c < classes; ++c) top = z[c] > top ? z[c] : top;
      for (std::size_t c = 0; c < classes; ++c) sum += dz[c] = std::exp(z[c] - top);
      loss += static_cast<double>(std::log(sum) + top - z[label]);
      for (std::size_t c = 0; c < classes; ++c) dz[c] *= scale / sum;
      dz[label] -= scale;
    }
    return loss / static_cast<double>(n);
  }

  void backward(std::size_t n) {
    algoperf::gemm_tn(classes, hidden, n, dz_.data(), classes, h2_.data(), hidden, g_.data() + at_.weight3, hidden,
                      false);
    column_sums(n, classes, dz_.data(), g_.data() + at_.bias3);
    algoperf::gemm_nn(n, hidden, classes, dz_.data(), classes, p_.data() + at_.weight3, hidden, d2_.data(), hidden,
                      false);
    where_positive(n, h2_.data(), d2_.data());
    algoperf::gemm_tn(hidden, hidden, n, d2_.data(), hidden, h1_.data(), hidden, g_.data() + at_.weight2, hidden,
                      false);
    column_sums(n, hidden, d2_.data(), g_.data() + at_.bias2);
    algoperf::gemm_nn(n, hidden, hidden, d2_.data(), hidden, p_.data() + at_.weight2, hidden, d1_.data(), hidden,
                      false);
    where_positive(n, h1_.data(), d1_.data());
    algoperf::gemm_tn(hidden, inputs, n, d1_.data(), hidden, x_.data(), inputs, g_.data() + at_.weight1, inputs, false);
    column_sums(n, hidden, d1_.data(), g_.data() + at_.bias1);
  }

  static void bias_and_relu(std::size_t n, float* h, const float* bias) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < hidden; ++j) {
        const float y = h[i * hidden + j] + bias[j];
        h[i * hidden + j] = y < 0 ? 0 : y;
      }
  }
  static void where_positive(std::size_t n, const float* h, float* d) {
    for (std::size_t i = 0; i < n * hidden; ++i) d[i] = h[i] > 0 ? d[i] : 0;
  }
  static void column_sums(std::size_t n, std::size_t columns, const float* d, float* sums) {
    for (std::size_t j = 0; j < columns; ++j) sums[j] = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < columns; ++j) sums[j] += d[i * columns + j];
  }

  Places at_;
  algoperf::Arena<float> p_, g_, m_, v_, x_, h1_, h2_, z_, d1_, d2_, dz_;
  algoperf::Arena<std::int32_t> labels_;
  std::uint64_t t_ = 0;
};

}  // namespace handwritten
