#!/bin/sh
# Fails when a C++ file is not in clang-format's form. Without clang-format the check is skipped, and says so.
set -eu
cd "$(dirname "$0")"
if ! command -v clang-format >/dev/null; then
  echo "format check of native/ skipped: clang-format is not installed (Debian: apt-get install clang-format)"
  exit 0
fi
find abi runtime ffi support kernels tests \
  \( -name '*.h' -o -name '*.c' -o -name '*.cc' -o -name '*.cu' -o -name '*.mu' \) \
  -exec clang-format --dry-run -Werror {} +
