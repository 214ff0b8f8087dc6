// Measures whole training steps on a device: gathering the next batch from resident data, forward pass, backward pass
// and AdamW. The variants are one CUDA graph, no graph, products in tf32, and activations in bfloat16.
// torch_training.py takes the same steps. The amount is the FLOPs of a step. The rows of table "products" measure
// cuBLAS on 8192 x 8192 matrices on this device.
#include <algoperf/algoperf.hpp>

#include "device.cuh"
#include "stamps.hpp"

namespace ap = algoperf;

namespace {

template <class Model, class Backend>
double step_seconds(const Model& model, std::size_t batch, const Backend& backend, const ap::InMemory<float>& data) {
  ap::TrainingLoop loop(model, ap::SoftmaxCrossEntropy{}, ap::adamw(), ap::Constant{1e-3},
                        ap::ShuffledEpochs{.batch = batch, .seed = 1}, backend);
  return bench::training_seconds(loop, data, batch < 1000 ? 100 : 10);
}

template <class Model>
void measure(const std::string& name, const Model& model) {
  // The number of examples is a multiple of every batch size, so that all batches are full.
  static const ap::InMemory<float> data = ap::Glyphs{.count = 4096 * 12}.render();
  for (const std::size_t batch : {128, 4096}) {
    const std::string row = name + ", batch " + std::to_string(batch);
    const ap::Cost cost = model.cost();
    const double flops = static_cast<double>(cost.flops() * batch);
    bench::not_measured("parameters", row, "ours", static_cast<double>(cost.parameters));
    const auto with = [&](const char* column, const auto& backend) {
      bench::line_of("training", row, column, flops, [&] { return step_seconds(model, batch, backend, data); });
    };
    with("ours", ap::Cuda<>{});
    with("ours, no graph", ap::Cuda<>{.graphs = false});
    with("ours, tf32", ap::Cuda<>{.precision = ap::Precision::tf32});
    with("ours, bf16", ap::Cuda<float, ap::bfloat16>{});
  }
}

template <class Backend>
void products(const char* column, const Backend& backend) {
  using T = ap::Stored<Backend>;
  constexpr std::size_t side = 8192;
  bench::line_of("products", "8192 x 8192", column, 2.0 * side * side * side, [&] {
    const auto a = backend.template array<T>(side * side), b = backend.template array<T>(side * side);
    auto c = backend.template array<T>(side * side);
    return bench::seconds([&] { backend.gemm_nn(side, side, side, a.data(), b.data(), c.data()); });
  });
}

}  // namespace

int main() {
  products("fp32", ap::Cuda<>{});
  products("tf32", ap::Cuda<>{.precision = ap::Precision::tf32});
  products("bf16", ap::Cuda<float, ap::bfloat16>{});
  measure("MLP", ap::mlp(ap::Shape{28, 28, 1}, {256, 256}, 10));
  measure("CNN", ap::simple_cnn(ap::Shape{28, 28, 1}, 10));
}
