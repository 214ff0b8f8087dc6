#!/usr/bin/env bash
# Builds and runs the example compare_rules. All arguments are passed to it.
set -euo pipefail
cd "$(dirname "$0")/.."

for argument in "$@"; do
  [[ $argument == -h || $argument == --help ]] || continue
  cat <<'EOF'
usage: scripts/demo.sh [OPTION]...
Installs missing packages, builds the example compare_rules and runs it. It trains digits with each update rule until
the validation error reaches a target, and writes CSV, JSON and plots to out/. Without options, this takes a minute or
two. Some of its options:
  --quick              two rules, one seed, few steps
  --rules adamw,muon   the rules to compare
  --seeds N            trials per rule
  --target ERROR       the validation error to reach
  --threads N          threads; results do not depend on their number
All options, after a build: build/release/examples/compare_rules --help
EOF
  exit
done

scripts/setup.sh
cmake --preset release
cmake --build --preset release --parallel "$(nproc)" --target compare_rules
mkdir -p out
build/release/examples/compare_rules "$@"
echo "The output files are in $PWD/out:"
ls -1 out
