#!/usr/bin/env bash
# Installs the missing packages that the build needs. --all adds those for scripts/test.sh --all, --bench those for
# scripts/bench.sh, --peers those for scripts/bench.sh --peers.
set -euo pipefail

packages=(cmake ninja-build g++ libeigen3-dev doctest-dev libbenchmark-dev libcli11-dev nlohmann-json3-dev
          libfmt-dev zlib1g-dev libxtensor-dev libzip-dev libpng-dev libjpeg-dev gnuplot-nox)
for argument in "$@"; do
  case $argument in
    --all)
      packages+=(clang libclang-rt-dev clang-format-14 libdnnl-dev libopenblas-dev libopenmpi-dev openmpi-bin valgrind)
      [[ -d /usr/local/cuda || -d /opt/cuda ]] || packages+=(libthrust-dev)  # the one in CUDA is newer
      ;;
    --bench) packages+=(valgrind) ;;
    --peers) packages+=(libtorch-dev libdlib-dev libdnnl-dev libopenblas-dev) ;;
    *) echo "usage: scripts/setup.sh [--all] [--bench] [--peers]" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: apt was not found. Install the equivalents of these Debian packages: ${packages[*]}"
  for tool in cmake ninja c++; do
    command -v "$tool" >/dev/null || { echo "setup: $tool is missing" >&2; exit 1; }
  done
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if ((${#missing[@]} > 0)); then
  echo "setup: installing ${missing[*]}"
  as_root=()
  ((EUID == 0)) || as_root=(sudo)
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
fi
