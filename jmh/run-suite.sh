#!/bin/sh
# Runs a command for Maven: run-suite.sh MARKER COMMAND...  A failure leaves its exit code in the file MARKER, and
# Maven's own message refers to it: the plugin that runs commands would print a stack trace below our last line.
marker=$1
shift
rm -f "$marker"
"$@" || echo $? >"$marker"
