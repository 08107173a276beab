#!/bin/sh
# Configures and builds the native libraries: build.sh <build folder> [--tests]. Called by Maven. With
# MUSABENCH_WERROR=OFF a compiler's warning does not end the build.
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
mkdir -p "$build"
cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DMUSABENCH_TESTS=$tests \
  "-DMUSABENCH_WERROR=${MUSABENCH_WERROR:-ON}" >"$build.configure.log" 2>&1 || {
  cat "$build.configure.log" >&2
  exit 1
}
cmake --build "$build" --parallel "$(nproc)"
