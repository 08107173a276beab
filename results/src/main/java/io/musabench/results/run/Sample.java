package io.musabench.results.run;

/**
 * One measured value.
 *
 * @param caseId {@link CaseResult#id} of its case
 * @param metric what was measured, for example {@link #DEVICE_TIME}
 * @param fork number of the fork, from 1
 * @param iteration number of the iteration in its fork, from 1
 * @param index number of the sample in its iteration, from 0
 * @param value the value
 * @param unit unit of the value, for example {@code ns/op}
 */
public record Sample(
    String caseId, String metric, int fork, int iteration, int index, double value, String unit) {

  /** Metric: time of one operation by events on the stream, {@code ns/op}. */
  public static final String DEVICE_TIME = "device.time";

  /** Metric: host time of one operation from the first call to the end of the work. */
  public static final String HOST_TIME = "host.time";

  /** Metric: clock of the device's cores while samples were taken, in MHz. */
  public static final String DEVICE_CLOCK = "device.clock";

  /**
   * Metric: in which turn the time of the same number was taken, {@link #DEVICE_TIME} or, of a case
   * without one, {@link #HOST_TIME}, where two forks ran side by side: turn n of one was next to
   * turn n of the other.
   */
  public static final String TURN = "turn";
}
