package io.musabench.jmh.cli;

import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Conditions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The line that is printed when a case has ended. */
final class Progress {
  private Progress() {}

  static String line(int number, int total, CaseSpec spec, CaseResult result, double seconds) {
    String place = "[%d/%d]".formatted(number, total);
    String outcome =
        result.ok()
            ? time(primary(result)) + rate(result) + disturbance(result.conditions())
            : result.status().text().toUpperCase(Locale.ROOT) + " " + firstLine(result.reason());
    return "%-8s %-56s %s  (%.1f s)".formatted(place, spec.title(), outcome, seconds);
  }

  // The report at the end has all of it.
  private static String firstLine(String reason) {
    int end = reason.indexOf(" | ");
    return end < 0 ? reason : reason.substring(0, end) + " …";
  }

  private static String disturbance(Conditions c) {
    List<String> found = new ArrayList<>();
    if (c.disturbed()) {
      if (c.otherCpuPercent() > 0) {
        found.add("others took %.0f %% of the CPUs".formatted(c.otherCpuPercent()));
      }
      if (c.stealPercent() > 0) {
        found.add("%.0f %% were stolen".formatted(c.stealPercent()));
      }
      if (!c.otherProcesses().isEmpty()) {
        found.add("also on the device: " + c.otherProcesses());
      }
    }
    if (c.throttledSamples() > 0) {
      found.add(c.throttledSamples() + " throttled samples dropped");
    }
    return found.isEmpty() ? "" : "  warning: " + String.join(", ", found);
  }

  private static double primary(CaseResult result) {
    double device = result.deviceTimeMedianUs();
    return Double.isNaN(device) ? result.hostTimeMedianUs() : device;
  }

  /** A time with a unit that keeps it between 1 and 1000. */
  static String time(double us) {
    if (us < 1) {
      return "%8.1f ns".formatted(us * 1e3);
    }
    if (us < 1e3) {
      return "%8.2f us".formatted(us);
    }
    return us < 1e6 ? "%8.2f ms".formatted(us / 1e3) : "%8.2f s ".formatted(us / 1e6);
  }

  private static String rate(CaseResult result) {
    String bytes = Double.isNaN(result.gbPerS()) ? "" : " %7.2f GB/s".formatted(result.gbPerS());
    String flops =
        Double.isNaN(result.tflopPerS())
            ? ""
            : " %7.1f GFLOP/s".formatted(result.tflopPerS() * 1e3);
    return bytes + flops;
  }
}
