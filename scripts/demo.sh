#!/usr/bin/env bash
# Builds and runs the example compare_rules. All arguments are passed to it (try --help).
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
cmake --preset release
cmake --build --preset release --parallel "$(nproc)" --target compare_rules
mkdir -p out
build/release/examples/compare_rules "$@"
echo "The output files are in $PWD/out:"
ls -1 out
