// Measures training steps of whole models (../model_tasks.hpp) on a device, with AdamW and as CUDA graphs.
// torch_models.py takes the same steps, as graphs only if all batches have one size.
#include "../model_tasks.hpp"
#include "device.cuh"
#include "stamps.hpp"

namespace ap = algoperf;

int main() {
  bench::for_each_model_task(
      [](const char* name, std::size_t batch, const auto& model, const auto& loss, const auto& make_data) {
        const auto data = make_data();
        const auto measure = [&](const char* column, const auto& backend) {
          bench::line_of("models", std::string(name) + ", batch " + std::to_string(batch), column, 0, [&] {
            ap::TrainingLoop loop(model, loss, ap::adamw(), ap::Constant{1e-3},
                                  ap::ShuffledEpochs{.batch = batch, .seed = 1}, backend);
            return bench::training_seconds(loop, data, 50);
          });
        };
        measure("ours, fp32", ap::Cuda<>{});
        measure("ours, bf16", ap::Cuda<float, ap::bfloat16>{});
      });
}
