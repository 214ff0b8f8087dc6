// The counts that the artifact of Hestness et al. 2019 prints for its graphs (github.com/baidu-research/catamount),
// reproduced from this library's counts of matrix products and convolutions.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "algoperf/core/cost.hpp"
#include "algoperf/nn/layers/batch_norm.hpp"
#include "algoperf/nn/layers/conv2d.hpp"
#include "algoperf/nn/layers/dense.hpp"

namespace ap = algoperf;

namespace {

// A network's FLOPs of products, forward and in both directions, and its parameters.
struct Network {
  std::uint64_t batch, forward = 0, both = 0, parameters = 0;
  ap::Shape shape;

  // Adds a layer without its biases: the artifact's convolutions have none, its normalisations do.
  template <class Layer>
  void add(const Layer& layer, ap::Shape in, std::uint64_t biases) {
    Products of_forward, of_backward;
    layer.count_forward(in, batch, of_forward);
    layer.count_backward(in, batch, true, of_backward);
    forward += of_forward.flops;
    both += of_forward.flops + of_backward.flops;
    parameters += layer.parameters(in) - biases;
    shape = layer.output(in);
  }
  ap::Shape convolve(ap::Shape in, std::size_t filters, std::size_t size, std::size_t stride) {
    add(ap::Conv2d{.filters = filters, .size = size, .stride = stride, .padding = size / 2}, in, filters);
    parameters += ap::BatchNorm{}.parameters(shape);
    return shape;
  }

 private:
  struct Products {
    std::uint64_t flops = 0;
    void operation(const ap::Operation& o) { flops += 2 * o.m * o.n * o.k; }
    void hold(std::uint64_t) {}
    void release(std::uint64_t) {}
    void gradient(std::uint64_t, ap::ModelPart) {}
  };
};

// He et al. 2016, Table 1: blocks of two convolutions or, with bottlenecks, of three, with the stride in the 3 x 3
// one.
Network resnet(std::uint64_t batch, const std::vector<std::size_t>& blocks, bool bottlenecks) {
  Network net{.batch = batch, .shape = {224, 224, 3}};
  net.convolve(net.shape, 64, 7, 2);
  net.shape = {56, 56, 64};  // after pooling with stride 2
  for (std::size_t stage = 0; stage < blocks.size(); ++stage)
    for (std::size_t block = 0; block < blocks[stage]; ++block) {
      const std::size_t width = std::size_t{64} << stage, stride = stage > 0 && block == 0 ? 2 : 1;
      const ap::Shape in = net.shape;
      const std::size_t out = bottlenecks ? 4 * width : width;
      if (stride != 1 || in[2] != out) net.convolve(in, out, 1, stride);
      if (bottlenecks) {
        net.convolve(net.convolve(net.convolve(in, width, 1, 1), width, 3, stride), out, 1, 1);
      } else {
        net.convolve(net.convolve(in, width, 3, stride), width, 3, 1);
      }
    }
  net.add(ap::Dense{.units = 1000}, {net.shape[2]}, 0);
  return net;
}

}  // namespace

TEST_CASE("residual networks on 32 images: exact counts of parameters and products") {
  struct Row {
    std::vector<std::size_t> blocks;
    bool bottlenecks;
    std::uint64_t multiply_adds;      // forward, per image, as profilers print them
    std::uint64_t parameters, flops;  // FLOPs per step; both as the artifact prints them
  };
  const std::vector<Row> rows{{{2, 2, 2, 2}, false, 1814073344, 11689514, 349684163360},
                              {{3, 4, 6, 3}, false, 3663761408, 21797674, 705506994208},
                              {{3, 4, 6, 3}, true, 4089184256, 25557034, 790954958112},
                              {{3, 4, 23, 3}, true, 7801405440, 44549162, 1506507229472},
                              {{3, 8, 36, 3}, true, 11513626624, 60192810, 2222688328992}};
  for (const Row& row : rows) {
    const Network net = resnet(32, row.blocks, row.bottlenecks);
    CAPTURE(row.parameters);
    CHECK(net.parameters + 2 == row.parameters);  // the artifact also counts the learning rate and the step
    CHECK(net.forward == 2 * 32 * row.multiply_adds);
    CHECK(net.both == 3 * net.forward);
    // The rest are element-wise operations, as the artifact counts them.
    CHECK(net.both < row.flops);
    CHECK(static_cast<double>(net.both) > 0.99 * static_cast<double>(row.flops));
  }
}

TEST_CASE("the word language model, h = 2004, v = 10004, 80 words of 64 sentences") {
  constexpr std::uint64_t h = 2004, v = 10004, q = 80, b = 64;
  // Two LSTM layers, each with four gates for input and state, and the logits. Each product occurs once more for each
  // of its two gradients.
  const std::uint64_t word =
      2 * ap::matrix_product("gates", b, 4 * h, 2 * h).flops + ap::matrix_product("logits", b, v, h).flops;
  CHECK(3 * q * word == 2589827235840);
  CHECK(16 * h * h + 2 * h * v + 8 * h + v + 2 == 104378326);  // gates, two embeddings, biases, learning rate and step
  const std::uint64_t whole = 2 * q * (32 * b * h * h + 8 * h * h + 37 * h * b + 4 * h + 3) +
                              2 * q * (16 * b * h * h + 33 * h * b + 6) + 48 * h * h + 6 * h * q * b * v +
                              4 * h * q * b + 3 * h * v + 24 * h + 7 * q * b * v + 4 * q * b + 3 * v + 53;
  CHECK(whole == 2597058084257);  // the closed form and the value of the artifact
  CHECK(3 * q * word == 6 * q * b * (16 * h * h + h * v));
}
