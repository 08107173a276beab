package io.musabench.jmh.cli;

import java.util.List;

/**
 * How long to measure each case.
 *
 * @param forks fresh JVMs a case
 * @param iterations sampling sessions a fork
 * @param seconds device time one sampling session may take; it always takes the minimum of samples
 */
record Effort(int forks, int iterations, double seconds) {
  static final Effort DEFAULT = new Effort(1, 3, 0.3);

  private static final List<String> NAMES = List.of("forks", "iterations", "seconds");

  Effort {
    if (forks < 1 || iterations < 1 || !(seconds > 0)) {
      throw new UsageException("forks, iterations and seconds must be greater than zero");
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
              case "forks" ->
                  new Effort(Integer.parseInt(value), effort.iterations, effort.seconds);
              case "iterations" ->
                  new Effort(effort.forks, Integer.parseInt(value), effort.seconds);
              case "seconds" ->
                  new Effort(effort.forks, effort.iterations, Double.parseDouble(value));
              default -> throw new UsageException(Suggestions.unknown("setting", name, NAMES));
            };
      } catch (NumberFormatException e) {
        throw new UsageException("\"%s\" is not a number in \"%s\"".formatted(value, setting));
      }
    }
    return effort;
  }
}
