#!/usr/bin/env bash
# Builds the example compare_rules and runs it; every argument is passed on (try --help).
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
cmake --preset release
cmake --build --preset release --target compare_rules
mkdir -p out
build/release/examples/compare_rules "$@"
echo "What it wrote is in $PWD/out:"
ls -1 out
