#!/bin/sh
# Runs the native tests of a build made with build.sh --tests: test.sh <build folder> [library]. A library, the real
# libtvm_ffi, stands in for libtvm_ffi_host. Called by Maven.
set -eu
if [ -n "${2:-}" ]; then
  [ -f "$2" ] || {
    echo "musabench: no such file: $2" >&2
    exit 1
  }
  LD_PRELOAD=$(readlink -f "$2")
  export LD_PRELOAD
fi
cd "$1"
exec ctest --output-on-failure
