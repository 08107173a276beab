package io.musabench.jmh.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/**
 * What every way of measuring cases needs to know.
 *
 * @param out where progress goes
 * @param runs folder of all runs
 * @param labels recorded in the runs' environments
 * @param limit time a fork may take
 * @param effort how long to measure; where settings are paired, its forks are the pairs
 */
record Campaign(
    PrintWriter out, Path runs, Map<String, String> labels, Duration limit, Effort effort) {
  /** One line of progress, at once. */
  void say(String line) {
    out.println(line);
    out.flush();
  }
}
