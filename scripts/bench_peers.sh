#!/usr/bin/env bash
# Compares every update rule with memory streams, and with PyTorch, optax and whole-array statements, in about a quarter
# of an hour. With --matrices it also compares the matrix rules with their products, with PyTorch and with packages for
# PyTorch, in some ten more minutes. Exits with 1 if a bar is missed. --save also writes the tables to
# benchmarks/results/<date>-rules-<cpu>.md.
#
#   PYTHON=<a Python with torch, jax, optax, muon-optimizer, pytorch_optimizer> scripts/bench_peers.sh [--save] [--matrices]
#
# Columns of packages that PYTHON (default python3) lacks stay empty. BUILD is the build folder (default build/bench).
set -euo pipefail
cd "$(dirname "$0")/.."

save=false matrices=false
for argument in "$@"; do
  case $argument in
    --save) save=true ;;
    --matrices) matrices=true ;;
    *) echo "usage: PYTHON=<interpreter> scripts/bench_peers.sh [--save] [--matrices]" >&2; exit 2 ;;
  esac
done

python=${PYTHON:-python3}
build=${BUILD:-build/bench}
scripts/setup.sh --bench
cmake --preset bench -B "$build" >/dev/null
cmake --build "$build" --target bench_all_rules bench_peers bench_matrix_peers bench_matrix_rules
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
table=$parts/table.md
missed=false

has() { "$python" -c "import $1" 2>/dev/null; }

cpu=$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)
compiler=$(awk -F= '/^CMAKE_CXX_COMPILER:/ { print $2 }' "$build/CMakeCache.txt")
{
  echo "$cpu, $(nproc) cores, one thread; $("$compiler" --version | head -n 1), -O3 -march=native;" \
    "$(date -u +%Y-%m-%d); scripts/bench_peers.sh; load $(cut -d' ' -f1 /proc/loadavg)"
  echo
  echo "Ratios are medians of samples taken in turn, with quartiles in the first table: times are processor time."
  echo
  echo "## Every rule, as a multiple of bare streams with the same reads and in-place writes"
  echo
  echo "Bytes are a parameter's, pass by pass. A rule of one pass may take 1.10 times its stream at 10^7."
  echo
} | tee -a "$table"
status=0
"$build/benchmarks/bench_all_rules" | tee -a "$table" || status=$?
((status <= 1)) || { echo "bench_peers: bench_all_rules failed with status $status" >&2; exit "$status"; }
((status == 0)) || missed=true

files=("$parts/library")
echo "beside others ..." >&2
"$build/benchmarks/bench_peers" >"$parts/library"
for peer in torch optax; do
  if has "$peer" && has torch; then
    "$python" -B "benchmarks/peers/${peer}_steps.py" >"$parts/$peer"
    files+=("$parts/$peer")
  else
    echo "$python has no $peer: its columns stay empty" >&2
  fi
done
{
  printf '\n## Beside others\n\n'
  echo "Whole-array: each rule in a few statements of Eigen arrays. The stream is p += tiny g, 12 bytes a parameter," \
    "over at least 8 MiB in turn."
  echo
  "$python" -B benchmarks/peers/table.py "${files[@]}"
} | tee -a "$table"

if $matrices; then
  echo "matrix rules ..." >&2
  {
    printf '\n## Matrix rules against their products, in full\n\n'
    echo '| what | bar | measured | |'
    echo '| --- | --- | --- | --- |'
  } | tee -a "$table"
  status=0
  "$build/benchmarks/bench_matrix_rules" | tee -a "$table" || status=$?
  ((status <= 1)) || { echo "bench_peers: bench_matrix_rules failed with status $status" >&2; exit "$status"; }
  ((status == 0)) || missed=true
  "$build/benchmarks/bench_matrix_peers" >"$parts/matrices"
  files=("$parts/matrices")
  if has torch; then
    "$python" -B benchmarks/peers/torch_matrix_steps.py >"$parts/torch_matrices"
    files+=("$parts/torch_matrices")
  fi
  {
    printf '\n## Matrix rules beside PyTorch\n\n'
    echo "Milliseconds a step, over a whole period of roots (20 steps) or bases (10), and in brackets as a multiple" \
      "of a product of two 1024 x 1024 matrices in the same process. SOAP has no basis for sides above 2048 here." \
      "Package: muon-optimizer; pytorch_optimizer for Shampoo and SOAP."
    echo
    "$python" -B benchmarks/peers/matrix_table.py "${files[@]}"
  } | tee -a "$table"
fi

if $save; then
  mkdir -p benchmarks/results
  name=$(tr -cs 'A-Za-z0-9\n' - <<<"$cpu" | sed 's/^-*//; s/-*$//')
  target=benchmarks/results/$(date -u +%Y-%m-%d)-rules-$name.md
  cp "$table" "$target.partial"
  mv "$target.partial" "$target"
  echo "written to $target"
fi
! $missed
