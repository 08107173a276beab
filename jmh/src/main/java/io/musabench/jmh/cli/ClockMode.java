package io.musabench.jmh.cli;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What the user says about the device's clock. musabench does not set it: that takes an
 * administrator. Runs of different modes are not compared.
 */
enum ClockMode {
  /** Locked at one frequency, so that times tell the code and not the power. */
  FIXED_FREQUENCY,
  /** Under a power limit, as devices are delivered: the clock goes as high as that allows. */
  FIXED_POWER,
  /** Neither. */
  FREE;

  /** As it is written on the command line and in the results. */
  String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static List<String> texts() {
    return Arrays.stream(values()).map(ClockMode::text).toList();
  }

  /**
   * @throws UsageException if there is no such mode
   */
  static ClockMode parse(String text) {
    return Arrays.stream(values())
        .filter(mode -> mode.text().equals(text))
        .findFirst()
        .orElseThrow(() -> new UsageException(Suggestions.unknown("clock mode", text, texts())));
  }
}
