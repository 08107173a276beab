# To be read by scripts that configure: removes the build folder $build if it was not configured for $source there, as
# after the checkout was moved or copied. CMake would refuse it, and what was compiled names the files of the other place.
if [ -f "$build/CMakeCache.txt" ]; then
  configured=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
  made=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$build/CMakeCache.txt")
  if [ ! "$configured" -ef "$source" ] || [ ! "$made" -ef "$build" ]; then
    if [ -f "$build/CMakeLists.txt" ]; then
      echo "musabench: $build holds sources; name a folder of its own to build in" >&2
      exit 1
    fi
    echo "musabench: $build was built from $configured and is built afresh: the checkout was moved or copied"
    rm -rf -- "$build"
  fi
fi
