package io.musabench.jmh.cli;

import io.musabench.results.run.Environment;
import io.musabench.results.run.Environment.Clocks;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What every way of measuring cases needs to know.
 *
 * @param out where progress goes
 * @param runs folder of all runs
 * @param labels recorded in the runs' environments
 * @param limit time a fork may take
 * @param effort how long to measure; where settings are paired, its forks are the pairs
 * @param pace pauses, order and clock
 */
record Campaign(
    PrintWriter out,
    Path runs,
    Map<String, String> labels,
    Duration limit,
    Effort effort,
    Pace pace) {
  /**
   * How forks follow each other.
   *
   * @param coolDown pause before every fork
   * @param seed seed of the random order of cases; null if they are measured as listed
   * @param clockMode what the user says about the clock; null if nothing
   */
  record Pace(Duration coolDown, Long seed, ClockMode clockMode) {}

  Campaign withLimit(Duration limit) {
    return new Campaign(out, runs, labels, limit, effort, pace);
  }

  /** One line of progress, at once. */
  void say(String line) {
    out.println(line);
    out.flush();
  }

  /** Lets the device cool down, before a fork. */
  void coolDown() {
    try {
      Thread.sleep(pace.coolDown().toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * An environment that says how was measured.
   *
   * @param cases number of cases that the run is to measure
   */
  Environment recorded(Environment environment, int cases) {
    Map<String, String> how = new LinkedHashMap<>();
    how.put(Environment.CASES, Integer.toString(cases));
    how.put("measure.forks", Integer.toString(effort.forks()));
    how.put("measure.iterations", Integer.toString(effort.iterations()));
    how.put("measure.seconds", Double.toString(effort.seconds()));
    how.put("measure.ceiling", Double.toString(effort.ceiling()));
    how.put("measure.stop", effort.stopping().text());
    how.put("measure.cool_down_seconds", Double.toString(pace.coolDown().toMillis() / 1e3));
    how.put("measure.order", pace.seed() == null ? "as-listed" : "random");
    if (pace.seed() != null) {
      how.put("measure.seed", Long.toString(pace.seed()));
    }
    Environment recorded = environment.withVersions(how);
    if (pace.clockMode() == null) {
      return recorded;
    }
    Clocks c = environment.clocks() == null ? Clocks.UNKNOWN : environment.clocks();
    return recorded.withClocks(c.withMode(pace.clockMode().text()));
  }
}
