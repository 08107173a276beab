#!/bin/sh
# Removes a build folder that was not configured for these sources there, as after the checkout was moved or copied:
# fresh.sh <source folder> <build folder>. CMake would refuse it, and what was compiled names the files of the other place.
set -eu
source=$1
build=$2
[ -f "$build/CMakeCache.txt" ] || exit 0
configured=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
made=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$build/CMakeCache.txt")
if [ "$(realpath -m -- "$configured")" = "$(realpath -- "$source")" ] &&
  [ "$(realpath -m -- "$made")" = "$(realpath -- "$build")" ]; then
  exit 0
fi
if [ -f "$build/CMakeLists.txt" ]; then
  echo "musabench: $build holds sources; name a folder of its own to build in" >&2
  exit 1
fi
echo "musabench: $build was built from $configured and is built afresh: the checkout was moved or copied"
rm -rf -- "$build"
