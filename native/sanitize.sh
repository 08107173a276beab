#!/bin/sh
# Builds the native libraries with a sanitizer and runs their tests: sanitize.sh address|thread.
# `address` is AddressSanitizer with UndefinedBehaviorSanitizer.
set -eu
sanitizer=${1:?usage: sanitize.sh address|thread}
source=$(cd "$(dirname "$0")" && pwd)
build=$source/target/sanitize-$sanitizer
"$source/fresh.sh" "$source" "$build"
mkdir -p "$build"
cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMUSABENCH_TESTS=ON "-DMUSABENCH_SANITIZE=$sanitizer" \
  >"$build/configure.log" 2>&1 || {
  cat "$build/configure.log" >&2
  exit 1
}
cmake --build "$build" --parallel "$(nproc)"
cd "$build"
exec ctest --output-on-failure
