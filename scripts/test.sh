#!/usr/bin/env bash
# Builds the library's tests, optimised, and runs them. --all optimises fully, tests device backends too (Thrust on two
# systems, CUDA on a device made of the host), holds compile times to their budgets, and checks everything else before:
# the format, compilation for devices, a second compiler, sanitizers.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { echo "usage: scripts/test.sh [--all]" >&2; exit 2; }
(($# <= 1)) && [[ ${1:---all} == --all ]] || usage
all=$#

build() { # preset
  printf '\n== %s ==\n' "$1"
  cmake --preset "$1"
  cmake --build --preset "$1"
}

build_and_test() { # preset [command to run ctest under...]
  build "$1"
  "${@:2}" ctest --preset "$1"
}

compile_for_devices() {
  printf '\n== device ==\n'
  local nvcc
  nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
  [[ -n $nvcc ]] || { echo "no nvcc here: device code is not compiled"; return; }
  local out=build/device
  mkdir -p "$out"
  # 20011 to 20015: a function without ALGOPERF_HD called from one that has it.
  ls tests/device/*.cu examples/*.cu | xargs -P 2 -I{} sh -c 'echo "nvcc $1" && "$0" -std=c++20 -arch=sm_90 \
    -DEIGEN_NO_CUDA --Werror cross-execution-space-call -diag-error 20011,20012,20013,20014,20015 -Iinclude \
    -isystem /usr/include/eigen3 -c "$1" -o "$2/$(basename "$1" .cu).o"' "$nvcc" {} "$out"
}

if ((all)); then
  scripts/setup.sh --all
  scripts/format.sh --check
  compile_for_devices
  build_and_test asan
  # ThreadSanitizer of older compilers cannot place its shadow memory where addresses are much randomised.
  fixed_addresses=(setarch "$(uname -m)" -R)
  "${fixed_addresses[@]}" true 2>/dev/null || fixed_addresses=()
  build_and_test tsan "${fixed_addresses[@]}"
  cmake --preset release "-DALGOPERF_TEST_DEVICES=cpp;omp;cuda" >/dev/null
  build_and_test release
else
  scripts/setup.sh
  build_and_test quick
fi
