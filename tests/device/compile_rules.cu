// Every recipe, stage, layer and loss on Thrust's CUDA system. Compiling it, with the warnings about host functions
// called from device code made errors, is the test that all of core, rules and nn that is marked ALGOPERF_HD compiles
// for a device; where there is one, running it compares with the host.
//   nvcc -std=c++20 -arch=sm_90 -Iinclude -isystem <eigen3> -DEIGEN_NO_CUDA
//        -diag-error 20011,20012,20013,20014,20015 --Werror cross-execution-space-call compile_rules.cu
#include <cuda_runtime.h>

#include <algoperf/backend/host.hpp>
#include <algoperf/backend/thrust.hpp>
#include <cstdio>

#include "agreement.hpp"

using namespace algoperf;

namespace {

template <class S>
int compare_all() {
  int failures = 0;
  const auto compare = [&](const char* what, const auto& got, const auto& again, const auto& expected, double most) {
    const double ulps = agreement::ulps(got, expected);
    const bool ok = ulps < most && got == again;
    std::printf("%-24s %10.3g ulps%s\n", what, ulps, ok ? "" : got == again ? "  FAILED" : "  NOT REPRODUCIBLE");
    failures += !ok;
  };
  const auto compare_rule = [&](const char* name, const auto& rule) {
    compare(name, agreement::train(Thrust<S>{}, rule), agreement::train(Thrust<S>{}, rule),
            agreement::train(Host<S>{}, rule), 256);
  };
  agreement::for_each_rule(compare_rule);
  agreement::for_each_matrix_rule(compare_rule);
  agreement::for_each_model([&](const char* name, const auto& model) {
    compare(name, agreement::propagate(Thrust<S>{}, model), agreement::propagate(Thrust<S>{}, model),
            agreement::propagate(Host<S>{}, model), 256);
  });
  return failures;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no CUDA device: compiled only");
    return 77;
  }
  return compare_all<float>() + compare_all<double>() == 0 ? 0 : 1;
}
