#!/bin/sh
# Runs a command for Maven: run-suite.sh MARKER COMMAND...  A failure leaves its exit code in the file MARKER, and
# Maven's own message refers to it: the plugin that runs commands would print a stack trace below our last line.
marker=$1
shift
rm -f "$marker"
# As in scripts/musabench: in a locale without an encoding Java cannot name files with letters beyond ASCII.
if [ "$(locale charmap 2>/dev/null || true)" = ANSI_X3.4-1968 ]; then
  LC_ALL=C.UTF-8
  export LC_ALL
fi
"$@" || echo $? >"$marker"
