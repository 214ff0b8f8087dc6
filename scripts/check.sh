#!/usr/bin/env bash
# Builds and runs the tests of the given headers, for a quick answer while a header changes. A test belongs to a header if
# it is named after it, includes it by name, or is in the same folder and uses a type or function that the header declares.
# Of more than 8 tests, it takes those that use the header most; --all takes all. --list prints the tests instead of running
# them. Run scripts/test.sh before a commit.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { echo "usage: scripts/check.sh [--list] [--all] HEADER...   e.g. rules/stages/adam.hpp" >&2; exit 2; }
list=0
most=8
while [[ ${1:-} == --* ]]; do
  case $1 in
    --list) list=1 ;;
    --all) most=1000 ;;
    *) usage ;;
  esac
  shift
done
(($# > 0)) || usage

# Prints the types and functions that a header declares in namespace algoperf.
declared_names() {
  local public
  public=$(awk '/^namespace .*detail \{/ {hidden = 1} !hidden {print} /^}  \/\/ namespace (algoperf::)?detail/ {hidden = 0}' "$1")
  grep -oP '^(template <.*> )?(struct|class|enum class|concept) \K\w+' <<<"$public" || true
  grep -oP '^(constexpr|inline|void|std::\w+|double|bool|auto|[A-Z]\w*)[\w:<>,&\* ]*[ \*&]\K[a-z]\w{3,}(?=\()' <<<"$public" || true
}

tests=()
for argument in "$@"; do
  header=${argument#include/}
  header=include/algoperf/${header#algoperf/}
  [[ -f $header ]] || { echo "check: there is no header $header" >&2; exit 1; }
  path=${header#include/algoperf/}
  base=$(basename "${path%.*}")
  pattern="[\"<](algoperf/)?$path[\">]"
  while read -r name; do pattern+="|\\b$name\\b"; done < <(declared_names "$header" | sort -u)
  mapfile -t found < <(
    {
      find tests -name "${base}_test.cpp"
      grep -rlP --include='*_test.cpp' "[\"<](algoperf/)?$path[\">]" tests || true
      grep -rcP --include='*_test.cpp' "$pattern" "tests/${path%%/*}" 2>/dev/null | grep -v ':0$' | sort -t: -k2 -rn | cut -d: -f1
    } | grep -vP '/(cuda|thrust)\w*_test\.cpp$' | awk '!seen[$0]++'
  )
  ((${#found[@]} <= most)) || echo "check: $path: $most of its ${#found[@]} tests; --all takes all" >&2
  tests+=("${found[@]:0:most}")
done
mapfile -t tests < <(printf '%s\n' "${tests[@]}" | awk 'NF && !seen[$0]++')
((${#tests[@]} > 0)) || { echo "check: no test uses these headers by name; run scripts/test.sh" >&2; exit 1; }
if ((list)); then
  printf '%s\n' "${tests[@]}"
  exit 0
fi

targets=()
for file in "${tests[@]}"; do
  name=${file#tests/}
  name=${name%_test.cpp}
  targets+=("check_${name//\//_}")
done
cmake --preset check >/dev/null
cmake --build --preset check --parallel "$(nproc)" --target "${targets[@]}"
failed=0
for target in "${targets[@]}"; do
  "build/check/tests/$target" --minimal || failed=1
done
((failed == 0)) && echo "check: ${#targets[@]} passed" || { echo "check: a test failed" >&2; exit 1; }
