#!/usr/bin/env bash
# Builds the library's tests with little optimisation and runs them. --all is what CI runs: the format; clang++ with
# AddressSanitizer and UndefinedBehaviorSanitizer, which also compiles every header alone; ThreadSanitizer; a sample of
# mutants; and an optimised build by g++ that also tests Thrust and CUDA (on an emulated device, and by nvcc if it is
# installed) and measures compile times.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { echo "usage: scripts/test.sh [--all]" >&2; exit 2; }
(($# <= 1)) && [[ ${1:---all} == --all ]] || usage
all=$#

# One job per core, because more take longer, but no more than fit into memory: a compiler may need 3.5 GB, and 5.5 GB
# for the tests of the emulated device.
jobs=$(awk -v cores="$(nproc)" -v job=$((all ? 5500000 : 3500000)) \
  '/^MemAvailable:/ { fit = int($2 / job); print fit < 1 ? 1 : fit < cores ? fit : cores }' /proc/meminfo)

build_and_test() { # preset [command to run ctest under...]
  printf '\n== %s ==\n' "$1"
  cmake --preset "$1"
  cmake --build --preset "$1" --parallel "$jobs"
  "${@:2}" ctest --preset "$1"
}

if ((all)); then
  scripts/setup.sh --all
  scripts/format.sh --check
  build_and_test asan
  # ThreadSanitizer of older compilers cannot map its shadow memory if addresses are randomised over a wide range.
  fixed_addresses=(setarch "$(uname -m)" -R)
  "${fixed_addresses[@]}" true 2>/dev/null || fixed_addresses=()
  # A sample of mutants runs beside this build, which often leaves a core idle: it consists of two large files.
  mkdir -p build
  scripts/mutate.py --count 4 --least 0.5 > build/mutants.log 2>&1 &
  mutants=$!
  build_and_test tsan "${fixed_addresses[@]}"
  killed=0
  wait "$mutants" || killed=$?
  printf '\n== a sample of mutants ==\n'
  cat build/mutants.log
  ((killed == 0)) || exit "$killed"
  build_and_test ci
else
  scripts/setup.sh
  build_and_test quick
fi
