#!/usr/bin/env bash
# Builds the library's tests, optimised a little, and runs them. --all optimises more, compiles every header by itself,
# tests device backends too (Thrust on two systems; CUDA on a device made of the host, and compiled by nvcc where it is
# found), holds compile times to their budgets, and checks everything else before: the format, a second compiler,
# sanitizers.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { echo "usage: scripts/test.sh [--all]" >&2; exit 2; }
(($# <= 1)) && [[ ${1:---all} == --all ]] || usage
all=$#

build_and_test() { # preset [command to run ctest under...]
  printf '\n== %s ==\n' "$1"
  cmake --preset "$1"
  cmake --build --preset "$1"
  "${@:2}" ctest --preset "$1"
}

if ((all)); then
  scripts/setup.sh --all
  scripts/format.sh --check
  build_and_test asan
  # ThreadSanitizer of older compilers cannot place its shadow memory where addresses are much randomised.
  fixed_addresses=(setarch "$(uname -m)" -R)
  "${fixed_addresses[@]}" true 2>/dev/null || fixed_addresses=()
  build_and_test tsan "${fixed_addresses[@]}"
  build_and_test ci
else
  scripts/setup.sh
  build_and_test quick
fi
