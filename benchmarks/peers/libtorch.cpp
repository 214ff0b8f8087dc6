// Compares libtorch's training step and AdamW step with the library's, on one thread in one process: ratios of
// libtorch's time to the library's. If BENCH_PRODUCTS is defined, only the training step is compared, with the
// library's matrix products by that provider.
#include <torch/torch.h>
#include <torch/version.h>

#include "../paired.hpp"
#include "turns.hpp"

namespace {

class TorchTraining {
 public:
  explicit TorchTraining(std::int64_t batch)
      : batch_(batch),
        model_(torch::nn::Linear(784, 256), torch::nn::ReLU(), torch::nn::Linear(256, 256), torch::nn::ReLU(),
               torch::nn::Linear(256, 10)),
        optimizer_(model_->parameters(), torch::optim::AdamWOptions(1e-3)) {}

  void operator()() {
    if (at_ + batch_ > order_.size(0)) order_ = torch::randperm(std::int64_t{bench::examples}), at_ = 0;
    const auto indices = order_.narrow(0, at_, batch_);
    at_ += batch_;
    optimizer_.zero_grad();
    const auto outputs = model_->forward(inputs_.index_select(0, indices));
    torch::nn::functional::cross_entropy(outputs, labels_.index_select(0, indices)).backward();
    optimizer_.step();
  }

 private:
  std::int64_t batch_, at_ = 0;
  torch::nn::Sequential model_;
  torch::optim::AdamW optimizer_;
  torch::Tensor inputs_ = torch::rand({std::int64_t{bench::examples}, 784});
  torch::Tensor labels_ = torch::randint(10, {std::int64_t{bench::examples}}), order_ = torch::zeros(0);
};

class TorchAdamW {
 public:
  explicit TorchAdamW(std::int64_t n)
      : parameter_(torch::rand(n).requires_grad_()),
        optimizer_({parameter_}, torch::optim::AdamWOptions(bench::rate).weight_decay(0.01)) {
    parameter_.mutable_grad() = torch::rand(n);
  }
  void operator()() { optimizer_.step(); }

 private:
  torch::Tensor parameter_;
  torch::optim::AdamW optimizer_;
};

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(1);
  at::globalContext().setFlushDenormal(true);
  bench::Report report;
#if defined(BENCH_PRODUCTS)
  const std::string name = "libtorch " TORCH_VERSION ", ours with " BENCH_PRODUCTS;
#else
  const std::string name = "libtorch " TORCH_VERSION;
#endif
  for (const std::size_t batch : bench::batches) {
    bench::LibraryTraining library(batch);
    TorchTraining torch(static_cast<std::int64_t>(batch));
    const auto ratio = bench::paired(torch, library, {.turn_seconds = 0.005});
    report.at_least("training step, batch " + std::to_string(batch) + ": " + name,
                    batch == 32    ? 3.5
                    : batch == 128 ? 2
                                   : 1,
                    ratio);
  }
#if !defined(BENCH_PRODUCTS)
  for (const std::size_t n : bench::sizes) {
    bench::LibraryAdamW library(n);
    TorchAdamW torch(static_cast<std::int64_t>(n));
    report.at_least("AdamW step, " + std::to_string(n) + " parameters: " + name, 1, bench::paired(torch, library));
  }
#endif
  return report.status();
}
