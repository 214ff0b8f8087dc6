#!/usr/bin/env bash
# Builds the benchmarks and runs them; every argument is passed to each, for example
#   scripts/bench.sh --benchmark_filter=adam
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --bench
cmake --preset bench
cmake --build --preset bench
for program in build/bench/benchmarks/bench_*; do
  [[ -f $program && -x $program ]] || continue
  printf '\n== %s ==\n' "$(basename "$program")"
  "$program" "$@"
done
