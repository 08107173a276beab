#!/bin/sh
# build.sh without its compiling: build_script_test.sh <native folder>. Says what is wrong and exits with 1.
set -eu
native=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/musabench build.XXXXXX") # With a space, which a checkout's path may have.
trap 'rm -rf "$folder"' EXIT
build=$folder/build
lib=$build/lib

# Configures as ever, and compiles nothing.
mkdir "$folder/bin"
cat >"$folder/bin/cmake" <<STUB
#!/bin/sh
[ "\$1" = --build ] && exit 0
exec "$(command -v cmake)" "\$@"
STUB
chmod +x "$folder/bin/cmake"
PATH=$folder/bin:$PATH
MUSABENCH_NVCC=off
MUSABENCH_MCC=off
export PATH MUSABENCH_NVCC MUSABENCH_MCC

fail() {
  echo "$1; build.sh said:" >&2
  cat "$folder/out" >&2
  exit 1
}
build() {
  "$native/build.sh" "$build" >"$folder/out" 2>&1 || fail "build.sh failed"
}

# A folder that was configured for a checkout elsewhere.
mkdir -p "$lib"
printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s\n' /nowhere/native /nowhere/native/build \
  >"$build/CMakeCache.txt"
touch "$lib/libmusart_host.so"
build
grep -q "^musabench: .*/build was built from /nowhere/native and is built afresh: " "$folder/out" ||
  fail "nothing says that the checkout was moved"
[ ! -e "$lib/libmusart_host.so" ] || fail "a library of the other checkout is still there"

# The same again: nothing was moved. Device code that is not built any more must not be found.
mkdir -p "$lib"
touch "$lib/libmusart_host.so" "$lib/libmusabench_kernels_cuda.so" "$lib/libmusabench_kernels_musa.so"
build
! grep -q afresh "$folder/out" || fail "built afresh without a reason"
[ -e "$lib/libmusart_host.so" ] || fail "a library that is built was removed"
for device in cuda musa; do
  [ ! -e "$lib/libmusabench_kernels_$device.so" ] || fail "the kernels for $device are still there"
done

# The folder under another name: what CMake wrote in it names the old one.
mv "$build" "$folder/moved"
build=$folder/moved
build
grep -q "is built afresh" "$folder/out" || fail "a moved folder was taken as it is"
