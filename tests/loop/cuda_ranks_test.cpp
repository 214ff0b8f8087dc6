// Training on several CUDA devices, which are threads here: on one machine with as many devices, or on the host with
// emulated ones.
#include <algoperf/backend/cuda.cuh>
#include <array>
#include <cmath>

#include <algoperf/combine/group/nccl.cuh>
#include <algoperf/combine/group/threads.hpp>
#include <algoperf/loop/observers/until.hpp>

#include "device_loops.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// Calls f(group) on each rank, each with a device of its own.
template <class F>
void run_on_devices(std::size_t ranks, const F& f) {
  run_ranks(ranks, [&](Threads group) {
    REQUIRE(cudaSetDevice(static_cast<int>(group.rank())) == cudaSuccess);
    f(group);
  });
}

// Returns whether there are as many devices.
bool has_devices(int ranks) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices >= ranks) return true;
  MESSAGE("skipped: there are ", devices, " devices, and the test needs ", ranks);
  return false;
}

// What a rank ends with.
struct Ended {
  std::vector<float> values;
  std::optional<double> loss;
  double metric = 0;
  std::size_t replays = 0;
};

template <class Loop>
Ended run(Loop& loop, std::uint64_t steps) {
  const Tiny task;
  const RunReport report = loop.run(task.train(), Evaluate{task, {.every = 5}}, UntilStep{steps});
  return {values_of(loop), report.last.loss, report.best.metric, loop.recording().replays()};
}

}  // namespace

TEST_CASE_TEMPLATE("Nccl: devices train as as many workers of one device do", C, Mean, WorkerSum<Of::gradients>,
                   WorkerSum<Of::updates>, Adasum<Of::gradients>, Adasum<Of::updates>) {
  if (!has_devices(3)) return;
  const auto train = [](const auto& group) {
    auto loop = tiny_loop(momentum(), 0.02, C{}, group, Cuda<float>{});
    return run(loop, 12);
  };
  for (const std::size_t ranks : {2u, 3u}) {
    CAPTURE(ranks);
    const Ended expected = train(InProcess{.workers = ranks});
    std::vector<Ended> found(ranks), copied(ranks);
    run_on_devices(ranks, [&](Threads group) { found[group.rank()] = train(Nccl{group}); });
    // Without NCCL, arrays travel through host memory.
    run_on_devices(ranks, [&](Threads group) { copied[group.rank()] = train(group); });
    double largest = 0, apart = 0;
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      largest = std::fmax(largest, std::fabs(double{expected.values[i]}));
      apart = larger_or_nan(apart, std::fabs(double{expected.values[i]} - double{found[0].values[i]}));
    }
    CHECK(apart < 1e-5 * largest);
    for (std::size_t r = 0; r < ranks; ++r) {
      CHECK(same_bits(found[r].values, found[0].values));
      CHECK(same_bits(copied[r].values, found[0].values));
      CHECK(*found[r].loss == near(*expected.loss, 1e-5));
      CHECK(found[r].loss == found[0].loss);
      CHECK(copied[r].loss == found[0].loss);
      CHECK(found[r].metric == near(expected.metric, 1e-9));
      // Steps are graphs, exchanges included, unless the host reads products.
      const bool reads = std::is_same_v<C, Adasum<Of::gradients>> || std::is_same_v<C, Adasum<Of::updates>>;
      CHECK(found[r].replays == (reads ? 0 : 10));
    }
  }
}

TEST_CASE("Nccl: batches smaller than the number of devices, buffers, and steps that are left out") {
  if (!has_devices(4)) return;
  const auto check = [&](std::size_t ranks, const auto& make, const auto& data, int steps) {
    CAPTURE(ranks);
    auto expected = make(InProcess{.workers = ranks}, Host<float>{});
    train(expected, data, steps);
    std::vector<std::vector<float>> found(ranks);
    std::vector<double> apart(ranks);
    run_on_devices(ranks, [&](Threads group) {
      auto loop = make(Nccl{group}, Cuda<float>{});
      train(loop, data, steps);
      found[group.rank()] = values_of(loop);
      apart[group.rank()] = difference(expected, loop);
    });
    for (std::size_t r = 0; r < ranks; ++r) {
      CHECK(apart[r] < 1e-4);
      CHECK(same_bits(found[r], found[0]));
    }
  };
  const Tiny task;
  check(
      4,
      [](const auto& group, const auto& backend) {
        Always selector(range(0, 3));
        selector.batch = 8;
        return TrainingLoop(Tiny::model(), Tiny::loss(), momentum(), Constant{0.01}, selector, Mean{}, group, backend);
      },
      task.train(), 4);
  check(
      2,
      [](const auto& group, const auto& backend) {
        const auto model = Model(Shape{28, 28, 1}, Dense{.units = 12}, BatchNorm{}, Relu{}, Dense{.units = 10});
        return TrainingLoop(model, SoftmaxCrossEntropy{}, momentum(), Constant{0.02}, ShuffledEpochs{.batch = 32},
                            Mean{}, group, backend);
      },
      task.train(), 10);
  check(
      2,
      [](const auto& group, const auto& backend) {
        return TrainingLoop(Tiny::model(), Tiny::loss(), apply_if_finite(momentum()), Constant{0.02},
                            ShuffledEpochs{.batch = 4}, Mean{}, group, backend);
      },
      spoilt_digits(), 20);
}

namespace {

// Reads the losses of every step on rank 0 alone, as a ProgressBar does.
struct RootReadsLosses {
  static constexpr bool root_only = true;
  static bool reads_loss(const StepReport&) { return true; }
  template <class Run>
  Control after_step(Run&, const StepReport&) const {
    return Control::go_on;
  }
};

}  // namespace

TEST_CASE_TEMPLATE("Nccl: a loss that is not finite on one device ends training on all, with the same parameters", C,
                   Mean, WorkerSum<Of::gradients>, WorkerSum<Of::updates>, Adasum<Of::updates>) {
  if (!has_devices(3)) return;
  const InMemory<float> data = spoilt_digits();
  // Example 5 is the first with a NaN, and one of rank 1.
  // make() returns an observer.
  const auto check = [&](const auto& make, std::uint64_t steps, const std::string& cause) {
    std::vector<std::string> told(3);
    std::vector<std::vector<float>> values(3);
    std::array<bool, 3> unchanged{}, goes_on{};  // not vector<bool>, whose elements share bytes
    run_on_devices(3, [&](Threads group) {
      TrainingLoop loop(Tiny::model(), Tiny::loss(), momentum(), Constant{0.02}, Always(range(0, 9)), C{}, Nccl{group},
                        Cuda<float>{});
      const std::vector<float> before = values_of(loop);
      auto observer = make();
      try {
        loop.run(data, observer, UntilStep{steps});
      } catch (const Diverged& diverged) {
        told[group.rank()] = diverged.what();
        if (diverged.step != 1 || diverged.report.reason != Control::diverged) told[group.rank()] += " (no report)";
      }
      values[group.rank()] = values_of(loop);
      unchanged[group.rank()] = same_bits(before, values[group.rank()]);
      // A caller that handles it can go on.
      loop.run(Tiny::digits(), UntilStep{loop.steps() + 2});
      goes_on[group.rank()] = !same_bits(before, values_of(loop));
    });
    for (std::size_t r = 0; r < 3; ++r) {
      CAPTURE(told[r]);
      CHECK(contains(told[r], "training diverged at step 1"));
      CHECK(contains(told[r], cause));
      CHECK(told[r] == told[0]);
      CHECK(unchanged[r]);
      CHECK(goes_on[r]);
    }
  };
  check([] { return RootReadsLosses{}; }, 3,
        "rank 0 of 3: training diverged at step 1: the loss is not finite; it is that of rank 1");
  check([] { return AfterStep{[](std::uint64_t) {}}; }, 3,
        "rank 1 of 3: training diverged at step 1: the loss is not finite; the parameters are finite, but an input");
  const TemporaryFile file;
  check([&] { return Checkpoints(file.path(), {.every = 1}); }, 3, "rank 1 of 3: training diverged at step 1");
  CHECK(!file.exists());
}

TEST_CASE("Nccl: a rank that fails before training ends all") {
  if (!has_devices(3)) return;
  std::vector<std::string> told(3);
  const std::string thrown = sentence([&] {
    run_on_devices(3, [&](Threads group) {
      told[group.rank()] = sentence([&] {
        auto loop = tiny_loop(momentum(), 0.02, Mean{}, Nccl{group}, Cuda<float>{});
        require(group.rank() != 1, "no memory");
        loop.run(Tiny{}.train(), UntilStep{2});
      });
      if (group.rank() == 1) fail(told[1]);
    });
  });
  CHECK(thrown == "no memory");
  CHECK(told[0] == "rank 1 of 3 has ended: no memory");
  CHECK(told[2] == "rank 1 of 3 has ended: no memory");
}

TEST_CASE("Nccl: ranks that share a device are refused") {
  if (!has_devices(2)) return;
  std::vector<std::string> told(3);
  run_ranks(3, [&](Threads group) {
    REQUIRE(cudaSetDevice(group.rank() == 1 ? 1 : 0) == cudaSuccess);
    told[group.rank()] = sentence([&] { delete Nccl{group}.connect(); });
  });
  for (const std::string& each : told) {
    CAPTURE(each);
    CHECK(contains(each, "Nccl: ranks 0 and 2 of 3 use the same device; each rank needs one of its own"));
  }
  CHECK(Nccl{Threads{}}.connect() == nullptr);  // a single rank needs no NCCL
}
