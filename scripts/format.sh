#!/usr/bin/env bash
# Formats all source files of the project. --check only prints what would change, and fails if anything would.
set -euo pipefail
cd "$(dirname "$0")/.."

clang_format=$(command -v clang-format-14 || true)
[[ -n $clang_format ]] || { echo "format: clang-format-14 is missing: scripts/setup.sh --all" >&2; exit 1; }

action=(-i)
case ${1:-} in
  "") ;;
  --check) action=(--dry-run -Werror) ;;
  *) echo "usage: scripts/format.sh [--check]" >&2; exit 2 ;;
esac

find include tests examples benchmarks src -regex '.*\.\(h\|hpp\|cpp\|cu\|cuh\)' -print0 |
  xargs -0 -P 2 -n 16 "$clang_format" "${action[@]}"

# clang-format does not reflow comments, because it would join the lines of tables.
if grep -rnP '^(?=.{121}) *\/\/' include tests examples benchmarks src --include='*.[hc]pp' --include='*.cu*'; then
  echo "format: these comments are longer than 120 columns" >&2
  exit 1
fi
