#!/bin/sh
# Configures and builds the native libraries: build.sh <build folder> [--tests]. Called by Maven. Settings that are in
# the environment go to CMake: MUSABENCH_WERROR=OFF (a compiler's warning does not end the build), MUSABENCH_NVCC and
# MUSABENCH_MCC (a path, or off), MUSABENCH_CUDA_ARCHITECTURES and MUSABENCH_MUSA_ARCHITECTURES ("80;90").
set -eu
source=$(cd "$(dirname "$0")" && pwd)
build=$1
tests=OFF
[ "${2:-}" = --tests ] && tests=ON
for tool in cmake c++; do
  command -v "$tool" >/dev/null || {
    echo "musabench: '$tool' is not on the PATH; install CMake and a C++17 compiler (Debian: apt-get install cmake g++ make)" >&2
    exit 1
  }
done
"$source/fresh.sh" "$source" "$build"
mkdir -p "$build"
set --
for name in MUSABENCH_WERROR MUSABENCH_NVCC MUSABENCH_MCC MUSABENCH_CUDA_ARCHITECTURES MUSABENCH_MUSA_ARCHITECTURES; do
  value=$(printenv "$name" || true)
  # Without a value the one that an earlier build was given is forgotten.
  if [ -n "$value" ]; then set -- "$@" "-D$name=$value"; else set -- "$@" "-U$name"; fi
done
cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DMUSABENCH_TESTS=$tests "$@" >"$build.configure.log" 2>&1 || {
  cat "$build.configure.log" >&2
  exit 1
}
# Which device code is built, and which compiler is missing.
sed -n 's/^-- \(musabench: .*\)/\1/p' "$build.configure.log"
cmake --build "$build" --parallel "$(nproc)"
