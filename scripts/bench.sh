#!/usr/bin/env bash
# Builds the benchmarks and prints one table: what is measured, its bar, median [quartiles], verdict. Exits with 1 if
# a bar is missed. --save also writes the table to benchmarks/results/<date>-<cpu>.md. --absolute then runs the
# absolute timings of Google Benchmark.
#
# --peers prints a different table. It compares the library with libtorch, dlib and whole-array statements, and with
# PyTorch and optax if PYTHON (default python3) provides them; matrix products with those of Eigen, oneDNN, OpenBLAS and,
# if PYTHON provides it, MKL; and, if ALGOPERF_DATA contains the runs, fits of scaling laws with scipy's. --save then
# writes to <date>-peers-<cpu>.md. scripts/bench_peers.sh compares every update rule with other implementations.
set -euo pipefail
cd "$(dirname "$0")/.."

save=false absolute=false peers=false
for argument in "$@"; do
  case $argument in
    --save) save=true ;;
    --absolute) absolute=true ;;
    --peers) peers=true ;;
    *) echo "usage: [PYTHON=<interpreter>] scripts/bench.sh [--peers] [--save] [--absolute]" >&2; exit 2 ;;
  esac
done

if $peers; then scripts/setup.sh --bench --peers; else scripts/setup.sh --bench; fi
cmake --preset bench >/dev/null
cmake --build --preset bench
programs=build/bench/benchmarks
table=$(mktemp)
trap 'rm -f "$table" "$table".*' EXIT
missed=false

row() { printf '| %-66s | %-22s | %-22s | %-4s |\n' "$@" | tee -a "$table"; }
# Appends the rows that a program prints. Its exit status must be 0, or 1 if it missed a bar.
rows() {
  local status=0
  "$@" | tee -a "$table" || status=$?
  ((status <= 1)) || { echo "bench: $1 failed with status $status" >&2; exit "$status"; }
  ((status == 0)) || missed=true
}
# Counts the instructions of ten training steps of one side. callgrind counts string instructions once per byte, so
# memset is configured not to use them.
instructions() {
  GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000 \
    valgrind --tool=callgrind --collect-atstart=no --toggle-collect='count_steps*' \
    --callgrind-out-file="$table.callgrind" "$programs/bench_training_step_avx2" --count "$1" --batch "$2" --steps 10 \
    2>&1 | awk '/Collected/ { print $NF }'
}

cpu=$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)
compiler=$(awk -F= '/^CMAKE_CXX_COMPILER:/ { print $2 }' build/bench/CMakeCache.txt)
{
  echo "$cpu, $(nproc) cores; $("$compiler" --version | head -n 1); training step and native rows at" \
    "-O3 -march=native; $(date -u +%Y-%m-%d); load $(cut -d' ' -f1 /proc/loadavg)"
  "$programs/bench_turns" describe
  echo
} | tee -a "$table"
row what bar measured ''
echo '| --- | --- | --- | --- |' | tee -a "$table"

if $peers; then
  python=${PYTHON:-python3}
  export OPENBLAS_NUM_THREADS=1
  rows "$programs/bench_statements"
  rows "$programs/bench_libtorch_default"
  rows "$programs/bench_libtorch_onednn"
  rows "$programs/bench_dlib"
  for peer in torch optax; do
    if "$python" -c "import $peer" 2>/dev/null; then
      rows "$python" -B benchmarks/peers/python_training.py "$programs/bench_turns" "$peer"
    else
      row "$peer" "" "not here" ""
    fi
  done
  version() { dpkg-query -W -f='${Version}' "$1" 2>/dev/null || echo "of unknown version"; }
  # PyTorch's wheels contain MKL's products; `pip install mkl` has them as a library of their own.
  row "products, our time to that of the fastest other" "" "" ""
  mkl=$("$python" -c 'import glob, sys; print(*glob.glob(sys.prefix + "/lib/libmkl_rt.so*")[:1])')
  rows env MKL_THREADING_LAYER=SEQUENTIAL OMP_NUM_THREADS=1 "$programs/bench_products" libdnnl.so libopenblas.so.0 ${mkl:+"$mkl"}
  row "convolutions, the time of products of unrolled windows to theirs" "" "" ""
  rows "$programs/bench_convolutions"
  row "convolutions by oneDNN $(version libdnnl-dev), its products' time to theirs" "" "" ""
  rows "$programs/bench_convolutions_onednn"
  if "$python" -c "import torch" 2>/dev/null; then
    rows "$python" -B benchmarks/peers/python_models.py "$programs/bench_turns"
    rows "$python" -B benchmarks/peers/python_models.py "$programs/bench_turns" 2
    rows "$python" -B benchmarks/peers/torch_translation.py "$programs/bench_turns"
  fi
  if [[ -f ${ALGOPERF_DATA:-data}/scaling/chinchilla_subset_apache2.csv ]]; then
    rows "$programs/bench_scaling_fits"
    if "$python" -c "import scipy" 2>/dev/null; then
      rows "$python" -B benchmarks/peers/scipy_fits.py "$programs/bench_scaling_fits"
    fi
  fi
else
  rows "$programs/bench_rules_plain"
  rows "$programs/bench_rules_native"
  rows "$programs/bench_training_step"
  rows "$programs/bench_graph_overhead"
  if (($(nproc) > 1)); then rows "$programs/bench_two_threads"; fi
  if command -v valgrind >/dev/null; then
    for batch in 32 128; do
      ratio=$(awk -v a="$(instructions lib $batch)" -v b="$(instructions hand $batch)" 'BEGIN { printf "%.4f", a / b }')
      verdict=$(awk -v r="$ratio" 'BEGIN { print r <= 1.03 ? "pass" : "MISS" }')
      [[ $verdict == pass ]] || missed=true
      row "training step, batch $batch, instructions (AVX2) vs handwritten" "<= 1.03" "$ratio" "$verdict"
    done
  fi
fi

if $save; then
  mkdir -p benchmarks/results
  name=$(tr -cs 'A-Za-z0-9\n' - <<<"$cpu" | sed 's/^-*//; s/-*$//')
  if $peers; then name=peers-$name; fi
  target=benchmarks/results/$(date -u +%Y-%m-%d)-$name.md
  cp "$table" "$target.partial"
  mv "$target.partial" "$target"
  echo "written to $target"
fi
if $absolute; then "$programs/bench_optimizer_step"; fi
! $missed
