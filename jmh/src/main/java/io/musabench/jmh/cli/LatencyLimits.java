package io.musabench.jmh.cli;

import io.musabench.results.serving.Slo;
import picocli.CommandLine.Option;

/** Limits on the latencies of a service: of every command that reads serving files. */
final class LatencyLimits {
  @Option(
      names = "--ttft",
      paramLabel = "TIME",
      description = "limit on TTFT with its unit, such as 1000ms or 1s")
  private String ttft;

  @Option(
      names = "--tpot",
      paramLabel = "TIME",
      description = "limit on TPOT with its unit, such as 50ms")
  private String tpot;

  @Option(
      names = "--slo",
      paramLabel = "NAME",
      description = "named limits; musabench serving --list-slo lists them")
  private String slo;

  /**
   * The named limits with those that are given besides.
   *
   * @param e2e limit on the whole latency, with its unit; null for none
   * @throws IllegalArgumentException if one is no time, or the name is unknown
   */
  Slo with(String e2e) {
    Slo named = slo == null ? Slo.NONE : Slo.named().get(slo);
    if (named == null) {
      throw new IllegalArgumentException(
          "--slo does not know \""
              + slo
              + "\"; it takes "
              + String.join(", ", Slo.named().keySet()));
    }
    return named.with(new Slo(time(ttft), time(tpot), time(e2e)));
  }

  private static double time(String text) {
    return text == null ? Double.NaN : Slo.milliseconds(text);
  }
}
