package io.musabench.results.run;

/**
 * What the samples of a case were taken under. A number that nobody could read is NaN.
 *
 * @param unmet which condition for stopping was not met when the time ceiling ended a session;
 *     empty if all were
 * @param throttledSamples samples that were dropped because the device's clock was throttled
 * @param coreClockMhz median clock of the device's cores
 * @param powerWatts median power
 * @param temperatureCelsius highest temperature
 * @param throttleReasons why the device slowed down, in its library's words; may be empty
 * @param otherCpuPercent share of all CPUs' time that other processes took meanwhile
 * @param stealPercent share of all CPUs' time that the hypervisor gave to others
 * @param otherProcesses other processes on the device, as {@code pid name}; may be empty
 */
public record Conditions(
    String unmet,
    int throttledSamples,
    double coreClockMhz,
    double powerWatts,
    double temperatureCelsius,
    String throttleReasons,
    double otherCpuPercent,
    double stealPercent,
    String otherProcesses) {
  /** Nothing known, nothing amiss. */
  public static final Conditions UNKNOWN =
      new Conditions("", 0, Double.NaN, Double.NaN, Double.NaN, "", Double.NaN, Double.NaN, "");

  // A twentieth of all CPUs, or a fiftieth stolen, already shows in times of 1 % accuracy.
  private static final double MUCH_OTHER_PERCENT = 5;
  private static final double MUCH_STEAL_PERCENT = 2;

  /** The same with what else ran on CPUs and device. */
  public Conditions withOtherWork(double otherCpuPercent, double stealPercent, String processes) {
    return new Conditions(
        unmet,
        throttledSamples,
        coreClockMhz,
        powerWatts,
        temperatureCelsius,
        throttleReasons,
        otherCpuPercent,
        stealPercent,
        processes);
  }

  /** Whether other work may have changed the times. */
  public boolean disturbed() {
    return otherCpuPercent > MUCH_OTHER_PERCENT
        || stealPercent > MUCH_STEAL_PERCENT
        || !otherProcesses.isEmpty();
  }
}
