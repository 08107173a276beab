package io.musabench.jmh.cli;

import io.musabench.jmh.device.SessionLimits;
import io.musabench.results.stopping.Stopping;
import java.util.List;

/**
 * How long to measure each case.
 *
 * @param forks fresh JVMs a case
 * @param iterations sampling sessions a fork
 * @param seconds least time of a session, in seconds
 * @param ceiling most time of a session, in seconds
 * @param stopping when a session has enough samples, between the two
 */
record Effort(int forks, int iterations, double seconds, double ceiling, Stopping stopping) {
  static final Effort DEFAULT =
      new Effort(
          1,
          3,
          0.2,
          0.2 * SessionLimits.CEILING_PER_SECOND,
          new Stopping(SessionLimits.DEFAULT_STOP));

  private static final List<String> NAMES =
      List.of("forks", "iterations", "seconds", "ceiling", "stop");

  Effort {
    if (forks < 1 || iterations < 1 || !(seconds > 0)) {
      throw new UsageException("forks, iterations and seconds must be greater than zero");
    }
    if (!(ceiling >= seconds) || Double.isInfinite(ceiling)) {
      throw new UsageException(
          "the ceiling of %s s is below the %s s that a session takes at least"
              .formatted(ceiling, seconds));
    }
  }

  Effort withForks(int forks) {
    return new Effort(forks, iterations, seconds, ceiling, stopping);
  }

  Effort withIterations(int iterations) {
    return new Effort(forks, iterations, seconds, ceiling, stopping);
  }

  /** Another least time, and a ceiling that goes with it. */
  Effort withSeconds(double seconds) {
    return new Effort(
        forks, iterations, seconds, seconds * SessionLimits.CEILING_PER_SECOND, stopping);
  }

  Effort withCeiling(double ceiling) {
    return new Effort(forks, iterations, seconds, ceiling, stopping);
  }

  /**
   * @throws UsageException if there is no such criterion
   */
  Effort withStop(String stop) {
    try {
      return new Effort(forks, iterations, seconds, ceiling, new Stopping(stop));
    } catch (IllegalArgumentException e) {
      throw new UsageException("--stop " + e.getMessage());
    }
  }

  Effort with(List<String> settings) {
    Effort effort = this;
    for (String setting : settings) {
      int equals = setting.indexOf('=');
      String name = equals < 0 ? setting : setting.substring(0, equals);
      String value = setting.substring(equals + 1);
      try {
        effort =
            switch (name) {
              case "forks" -> effort.withForks(Integer.parseInt(value));
              case "iterations" -> effort.withIterations(Integer.parseInt(value));
              case "seconds" -> effort.withSeconds(Double.parseDouble(value));
              case "ceiling" -> effort.withCeiling(Double.parseDouble(value));
              case "stop" -> effort.withStop(value);
              default -> throw new UsageException(Suggestions.unknown("setting", name, NAMES));
            };
      } catch (NumberFormatException e) {
        throw new UsageException("\"%s\" is not a number in \"%s\"".formatted(value, setting));
      }
    }
    return effort;
  }

  /** Properties of a fork that measures for so long. */
  List<String> arguments() {
    return List.of(
        "-D" + SessionLimits.SECONDS + "=" + seconds,
        "-D" + SessionLimits.CEILING + "=" + ceiling,
        "-D" + SessionLimits.STOP + "=" + stopping);
  }
}
