#!/usr/bin/env bash
# Builds and runs the example time_to_target. All arguments are passed to it.
set -euo pipefail
cd "$(dirname "$0")/.."

for argument in "$@"; do
  [[ $argument == -h || $argument == --help ]] || continue
  cat <<'EOF'
usage: scripts/demo.sh [OPTION]...
Installs missing packages, builds the example time_to_target and runs it. It tunes training algorithms on two workloads,
ranks them by their time to a validation target, and writes an HTML report. Without options, this takes two minutes
after the build. Some of its options:
  --submissions adamw,muon    the training algorithms to compare, or all
  --workloads glyphs_mlp      the workloads, or all
  --studies N --trials N      repetitions of the tuning, and points per repetition
  --variants                  include changed models, as held-out workloads
  --jobs N                    trials at a time
  --out FOLDER                for the journal, the logs and the report; default: out/study
All options, after a build: build/release/examples/time_to_target --help
EOF
  exit
done

scripts/setup.sh
cmake --preset release
cmake --build --preset release --parallel "$(nproc)" --target time_to_target
build/release/examples/time_to_target "$@"
