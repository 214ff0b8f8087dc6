#!/usr/bin/env bash
# Installs the packages that the build needs and that are missing. --all adds those of scripts/test.sh --all,
# --bench those of scripts/bench.sh, --peers those of its --peers.
set -euo pipefail

packages=(cmake ninja-build g++ libeigen3-dev doctest-dev libbenchmark-dev libcli11-dev nlohmann-json3-dev
          libfmt-dev zlib1g-dev libxtensor-dev libzip-dev gnuplot-nox)
for argument in "$@"; do
  case $argument in
    --all)
      packages+=(clang libclang-rt-dev clang-format-14 libdnnl-dev libopenblas-dev)
      [[ -d /usr/local/cuda || -d /opt/cuda ]] || packages+=(libthrust-dev)  # CUDA's own is newer
      ;;
    --bench) packages+=(valgrind) ;;
    --peers) packages+=(libtorch-dev libdlib-dev libdnnl-dev libopenblas-dev) ;;
    *) echo "usage: scripts/setup.sh [--all] [--bench] [--peers]" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: no apt here. These Debian packages, by whatever name, are needed: ${packages[*]}"
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
