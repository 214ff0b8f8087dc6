// Runs the rule contract on Cuda: on a GPU, or on the host with the emulation in tests/emulated_cuda.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/backend/cuda.cuh"
#include "rule_contract.hpp"

namespace ap = algoperf;

TEST_CASE("every rule satisfies its contract on Cuda") { ap::testing::check_rule_contract(ap::Cuda<float>{}); }

TEST_CASE("Cuda and the host compute the same values up to rounding") {
  ap::testing::check_agreement(ap::Host<float>{}, ap::Cuda<float>{});
}

namespace {

// Returns the updates and slots that a chain's first pass computes for one element in two consecutive calls.
template <class Program>
std::vector<double> made_of_one(const Program& program) {
  constexpr std::size_t n = Program::slot_count(0);
  ap::Slots<float, n> slots{};
  std::vector<double> made;
  for (const float u : {0.3f, -0.2f}) {
    const auto kernel = program.template fused<0>(nullptr, ap::TensorFacts{4, 2, 2});
    made.push_back(static_cast<double>(kernel(u, 0.7f, slots)));
    if constexpr (n > 0)
      for (std::size_t j = 0; j < n; ++j) made.push_back(static_cast<double>(slots[j]));
  }
  return made;
}

// Checks that a Program constructed on the device computes the same values as one constructed on the host, at several
// steps. Returns false, without a check, if the device cannot construct it (counts_on_device is false).
template <class... Stages>
bool check_program(const ap::Chain<Stages...>& chain) {
  if constexpr (ap::Chain<Stages...>::counts_on_device) {
    using Program = ap::Program<float, Stages...>;
    const auto plan = Program::plan(chain.stages(), {}, ap::TensorSpec{"weight", ap::Kind::weight, {2, 2}});
    const ap::Cuda<float> backend;
    for (const std::uint64_t t : {1u, 2u, 7u, 150u, 4000u}) {
      auto count = backend.array<std::uint64_t>(1);
      auto there = backend.array<unsigned char>(sizeof(Program));
      backend.write(1, &t, count.data());
      ap::detail::cuda_launch(ap::detail::CudaDevice::current(), 1, 1, ap::detail::cuda_make_program<Program>, plan,
                              0.1, static_cast<const std::uint64_t*>(count.data()),
                              reinterpret_cast<Program*>(there.data()));
      Program program(plan, {1, 0.5});
      backend.read(sizeof(Program), static_cast<const unsigned char*>(there.data()),
                   reinterpret_cast<unsigned char*>(&program));
      const std::vector<double> found = made_of_one(program), expected = made_of_one(Program(plan, {t, 0.1}));
      for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == near(expected[i], 1e-6));
    }
    return true;
  }
  return false;
}
bool check_program(const auto&) { return false; }

}  // namespace

TEST_CASE("device and host compute the same constants for every rule that depends only on the step count") {
  int checked = 0;
  ap::testing::for_each_rule([&](const auto& member) {
    INFO("rule: ", std::string(member.facts.name));
    checked += check_program(member.rule);
  });
  CHECK(checked >= 20);
}
