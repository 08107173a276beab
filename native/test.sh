#!/bin/sh
# Runs the native tests of a build made with build.sh --tests. Called by Maven.
set -eu
cd "$1"
exec ctest --output-on-failure
