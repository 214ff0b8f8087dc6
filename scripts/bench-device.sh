#!/usr/bin/env bash
# Measures the library on a GPU and compares it with a plain copy, PyTorch and the CPU. Builds benchmarks/device with
# nvcc and g++, runs it and prints the tables, within ten minutes. Exits with 1 if a bar is missed. Without a GPU
# everything is built, and the tables contain "not measured".
#
#   scripts/bench-device.sh [--tests] [--save]     --tests: first runs the device tests, also under compute-sanitizer
#   scripts/bench-device.sh --gather [FOLDER]      copies dependencies that a machine with a GPU may lack (Eigen,
#                                                  doctest, zlib, and MNIST from ALGOPERF_DATA) to FOLDER (default
#                                                  .deps)
#   scripts/bench-device.sh --build [--tests]      only builds the programs for the GPU, in build/device; --built in
#                                                  place of --build runs them, perhaps on another machine, and builds
#                                                  only the program for the CPU
#
# DEPS is the folder of dependencies (default .deps); dependencies missing there must be installed. PYTHON (default
# python3) is the interpreter for the PyTorch columns, which are not measured if it lacks torch. ARCH is the
# architecture to compile for (default native with a GPU, else sm_90). LIMIT is the number of seconds after which
# programs are terminated (default 540).
set -euo pipefail
cd "$(dirname "$0")/.."

save=false tests=false build_only=false built=false gather=
while (($#)); do
  case $1 in
    --save) save=true ;;
    --tests) tests=true ;;
    --build) build_only=true ;;
    --built) built=true ;;
    --gather) gather=${2:-.deps}; (($# < 2)) || shift ;;
    *) sed -n 's/^#   /usage: /p' "$0" | head -n 1 >&2; exit 2 ;;
  esac
  shift
done

if [[ $gather ]]; then
  mkdir -p "$gather/include/eigen3" "$gather/lib"
  eigen=$(find /usr/include /usr/local/include -type d -path '*eigen3/Eigen' 2>/dev/null | head -n 1)
  [[ $eigen ]] || { echo "bench-device: no Eigen here; scripts/setup.sh installs it" >&2; exit 1; }
  cp -rL "$eigen" "$gather/include/eigen3/"
  cp -rL /usr/include/doctest /usr/include/zlib.h "$gather/include/"
  find /usr/include -name zconf.h -exec cp -L {} "$gather/include/" \;
  cp -L "$(gcc -print-file-name=libz.a)" "$gather/lib/"
  [[ -z ${ALGOPERF_DATA:-} ]] || cp -rL "$ALGOPERF_DATA/mnist" "$gather/"
  chmod -R u+w "$gather"
  du -sh "$gather"
  (($(du -sm "$gather" | cut -f1) <= 64)) || { echo "bench-device: that is more than 64 MiB" >&2; exit 1; }
  exit
fi

deps=${DEPS:-.deps}
python=${PYTHON:-python3}
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[[ -x $nvcc ]] || { echo "bench-device: no nvcc here" >&2; exit 1; }
gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null) || true
gpu=${gpus%%$'\n'*}
arch=${ARCH:-$([[ $gpu ]] && echo native || echo sm_90)}
[[ -d $deps/mnist && -z ${ALGOPERF_DATA:-} ]] && export ALGOPERF_DATA=$(realpath "$deps")
build=build/device
mkdir -p "$build"

include=(-Iinclude)
for folder in "$deps/include" "$deps/include/eigen3" /usr/include/eigen3; do
  [[ ! -d $folder ]] || include+=(-isystem "$folder")
done
link=(-L"$deps/lib" -lz)
[[ $(wc -l <<<"$gpus") == 1 ]] || link+=(-DALGOPERF_TEST_NCCL -lnccl)
cuda() { # program source [optimisation]
  "$nvcc" -std=c++20 "${3:--O3}" -arch="$arch" -DEIGEN_NO_CUDA "${include[@]}" "$2" -o "$build/$1" -lcublas -lcusolver \
    "${link[@]}" >"$build/$1.log" 2>&1 || { cat "$build/$1.log" >&2; exit 1; }
}
programs=(rules matrix_rules training models target_gpu)
jobs=()
if ! $built; then
  echo "building ..." >&2
  for program in "${programs[@]}"; do
    cuda "$program" "benchmarks/device/$program.cu" & jobs+=($!)
  done
  for program in cuda_tests thrust_tests; do
    if $tests; then cuda "$program" "tests/device/$program.cu" -O1 & jobs+=($!); fi
  done
fi
if ! $build_only; then  # for the processor of the machine that runs it
  g++ -std=c++20 -O3 -march=native "${include[@]}" benchmarks/device/target_cpu.cpp -o "$build/target_cpu" \
    "${link[@]}" -lpthread & jobs+=($!)
fi
for job in "${jobs[@]}"; do wait "$job"; done
! $build_only || exit 0

# within SECONDS PROGRAM...: runs a program for at most SECONDS, and not beyond LIMIT seconds after the start of the
# script. Returns 124 if the time was up.
within() {
  local left=$((${LIMIT:-540} - SECONDS))
  ((left > 0)) || return 124
  timeout "$(($1 < left ? $1 : left))" "${@:2}"
}

if $tests; then
  status=0
  "$build/cuda_tests" || status=$?
  ((status != 0)) || "$build/thrust_tests" || status=$?
  sanitizer=$(command -v compute-sanitizer || echo "$(dirname "$nvcc")/compute-sanitizer")
  if ((status == 77)); then
    echo "no device: tests are built only" >&2
  else
    ((status == 0)) || exit "$status"
    within 60 "$sanitizer" --error-exitcode 1 "$build/cuda_tests" \
      --test-case="*primitives*,*layers agree*,*mixed precision agrees*,*as graphs*,*numbers of rows*" || status=$?
    ((status == 0 || status == 124)) || exit "$status"
    ((status == 0)) || echo "compute-sanitizer found nothing until its time was up" >&2
  fi
fi

status=0
incomplete() {
  echo "bench-device: $1 failed or was cut: its columns have gaps" >&2
  status=1
}
lines=$build/lines
rm -f "$lines".*
cpu=$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)
echo "# ${gpu:-no GPU}; ${cpu:-unknown CPU}, $(nproc) cores; $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/CUDA \1/p'); $(date -u +%Y-%m-%d);" \
  "scripts/bench-device.sh" >"$lines.0"
for program in "${programs[@]}"; do
  echo "$program ..." >&2
  within 240 "$build/$program" >"$lines.$program" || incomplete "$program"
done
echo "target_cpu ..." >&2
for threads in 1 "$(nproc)"; do
  within 120 "$build/target_cpu" "$threads" >>"$lines.target_cpu" || incomplete target_cpu
done
if [[ $gpu ]]; then
  if "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    "$python" -c 'import torch; print("# torch", torch.__version__)' >"$lines.1"
    for program in rules matrix_rules models training; do
      echo "torch_$program ..." >&2
      within 120 "$python" -B "benchmarks/device/torch_$program.py" >"$lines.torch_$program" ||
        echo "torch_$program.py failed: its columns have gaps" >&2
    done
  fi
fi

"$python" -B benchmarks/device/table.py "$lines".* | tee "$build/table.md" || status=$?
if $save; then
  name=$(tr -cs 'A-Za-z0-9\n' - <<<"${gpu:-none}")
  target=benchmarks/results/$(date -u +%Y-%m-%d)-device-$name.md
  cp "$build/table.md" "$target.partial"
  mv "$target.partial" "$target"
  echo "written to $target" >&2
fi
exit "$status"
