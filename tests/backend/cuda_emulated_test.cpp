// Tests of the CUDA backend that require the emulated device (tests/emulated_cuda): the number of launches and waits,
// the compute type of matrix products, and the error messages without a usable device.
#include <algoperf/algoperf.hpp>
#include <algoperf/backend/cuda.cuh>
#include <algoperf/rules/all.hpp>
#include <string>
#include <vector>

#include "../device/checks.hpp"
#include "../support/sentence.hpp"

using namespace algoperf;

namespace {

Layout tensors(std::size_t count) {
  Layout layout;
  for (std::size_t i = 0; i < count; ++i) layout.add({"tensor " + std::to_string(i), Kind::weight, {1 + i * 37 % 400}});
  return layout;
}

// Returns the number of kernels that the second step of a rule launches. The first step also writes tables.
template <class Rule>
std::size_t launches(const Rule& rule, const Layout& layout) {
  const Cuda<float> backend;
  const std::size_t n = layout.size();
  auto state = rule.state(backend, layout);
  auto gradients = agreement::on_device(backend, agreement::numbers<float>(n, 1));
  auto values = agreement::on_device(backend, agreement::numbers<float>(n, 2));
  std::size_t before = 0;
  for (unsigned t = 1; t <= 2; ++t) {
    backend.synchronize();
    before = emulated_cuda::launches;
    rule.step(Update<float>{gradients.data(), values.data()}, state, {.t = t, .learning_rate = 0.1});
  }
  return emulated_cuda::launches - before;
}

}  // namespace

TEST_CASE("the number of launches of a step does not depend on the number of tensors") {
  for (const std::size_t count : {1u, 300u}) {
    CAPTURE(count);
    const Layout layout = tensors(count);
    CHECK(launches(adamw(), layout) == 1);
    CHECK(launches(lamb(), layout) == 3);
    CHECK(launches(lars(), layout) == 3);
    // sums of chunks, of tensors and over all tensors, then the update
    CHECK(launches(chain(ClipByGlobalNorm{}, Adam{}, Descend{}), layout) == 4);
  }
}

TEST_CASE("matrix products use the compute type of their precision") {
  const auto computed = [](const auto& backend) {
    auto a = backend.template array<float>(4), b = backend.template array<float>(4),
         c = backend.template array<float>(4);
    backend.gemm_nn(2, 2, 2, a.data(), b.data(), c.data());
    backend.synchronize();
    return emulated_cuda::computed_in;
  };
  CHECK(computed(Cuda<float>{}) == CUBLAS_COMPUTE_32F);
  CHECK(computed(Cuda<float>{.precision = Precision::tf32}) == CUBLAS_COMPUTE_32F_FAST_TF32);
  CHECK(computed(Cuda<float>{.precision = Precision::bf16}) == CUBLAS_COMPUTE_32F_FAST_16BF);
  const Cuda<float> in_tf32{.precision = Precision::tf32};
  CHECK(computed(with_precision(in_tf32, Precision::bf16)) == CUBLAS_COMPUTE_32F_FAST_16BF);
  CHECK(computed(with_precision(in_tf32, Precision::fp32)) == CUBLAS_COMPUTE_32F_FAST_TF32);
  const Cuda<double> exact{.precision = Precision::tf32};
  auto x = exact.array<double>(1);
  exact.gemm_nn(1, 1, 1, x.data(), x.data(), x.data());
  CHECK(emulated_cuda::computed_in == CUBLAS_COMPUTE_64F);
}

TEST_CASE("the steps of a loop never wait for the device, and all but the first two are launched as one graph") {
  const auto task = Glyphs{.seed = 3, .count = 64}.render();
  const auto check = [&](const auto& rule) {
    TrainingLoop loop(mlp(Shape{28, 28, 1}, {8}, 10), SoftmaxCrossEntropy{}, rule, Constant{0.01},
                      ShuffledEpochs{.batch = 16}, Cuda<float>{});
    loop.make_resident(task);
    for (int i = 0; i < 3; ++i) loop.advance(task);
    const std::size_t before = emulated_cuda::waits;
    for (int i = 0; i < 50; ++i) loop.advance(task);
    CHECK(emulated_cuda::waits == before);
    CHECK(loop.recording().replays() == 51);
    loop.settle();
    CHECK(emulated_cuda::waits > before);
  };
  check(adamw());
  check(lamb());
  check(apply_if_finite(adamw()));
  check(partition(matrices, muon(), otherwise, adamw()));
}

TEST_CASE("sent data arrives, and steps remain graphs, when the ring wraps around") {
  constexpr std::size_t n = std::size_t{1} << 18;  // 1 MB, of the ring's 16
  const Cuda<float> backend;
  auto there = backend.array<float>(n), sum = backend.array<float>(n);
  std::vector<float> sent(n);
  Cuda<float>::Recording recording;
  // Each step sends 1 MB `sends` times and adds each block to `sum`.
  const auto run = [&](int steps, int sends) {
    float total = 0;
    backend.fill(n, sum.data(), 0.0f);
    for (int step = 0; step < steps; ++step)
      backend.replay(recording, [&] {
        for (int i = 0; i < sends; ++i) {
          const float value = static_cast<float>(step * sends + i + 1);
          sent.assign(n, value);
          total += value;
          backend.send(n, sent.data(), there.data());
          backend.map(Add{}, n, sum.data(), there.data());
        }
      });
    const std::vector<float> found = agreement::on_host(backend, sum);
    CAPTURE(found[0]);
    CAPTURE(total);
    CHECK(found == std::vector<float>(n, total));
  };
  run(40, 3);  // the ring wraps around within steps
  CHECK(recording.replays() == 38);
  run(4, 20);  // one step sends more than the ring holds, so deferred operations must be launched
}

TEST_CASE("a missing device and a device of another architecture produce an error message") {
  const Cuda<float> backend;
  auto x = backend.array<float>(4);
  emulated_cuda::has_no_device = cudaErrorNoDevice;
  CHECK(sentence([&] { backend.fill(4, x.data(), 1.0f); }) ==
        "cuda: querying the current device failed: an error: no CUDA device was found, or its driver is too old for "
        "this program's CUDA runtime");
  emulated_cuda::cannot_launch = cudaErrorNoKernelImageForDevice;
  CHECK(sentence([&] { backend.fill(4, x.data(), 1.0f); }) ==
        "cuda: launching a kernel failed: an error: the program was not compiled for emulated, compile it with "
        "-arch=sm_90");
  backend.fill(4, x.data(), 1.0f);
  CHECK(agreement::on_host(backend, x) == std::vector<float>(4, 1.0f));
}
