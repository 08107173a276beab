package io.musabench.jmh.device;

/**
 * How many samples a session takes: as many as fill its time, but at least {@code least} of them;
 * of samples so long that these would take more than {@code ceiling}, fewer, but never below two.
 *
 * @param seconds device time a session should take
 * @param ceiling device time above which the least number of samples is not insisted on, in seconds
 * @param least fewest samples of a session
 * @param most greatest number of samples of a session, which bounds the events it needs
 */
public record SessionLimits(double seconds, double ceiling, int least, int most) {
  /** System property with the device time of a session, in seconds. */
  public static final String SECONDS = "musabench.session.seconds";

  private static final double CEILING_PER_SECOND = 8;
  private static final int LEAST = 5;
  private static final int MOST = 1000;

  /** The limits that the runner hands to a fork. */
  public static SessionLimits fromProperties() {
    double seconds = Double.parseDouble(System.getProperty(SECONDS, "0.3"));
    return new SessionLimits(seconds, CEILING_PER_SECOND * seconds, LEAST, MOST);
  }

  /** Samples to take when one of them keeps the device busy for {@code nanos}. */
  public int samples(double nanos) {
    double one = Math.max(nanos, 1) / 1e9;
    double insisted = Math.min(least, Math.max(2, ceiling / one));
    return (int) Math.min(most, Math.max(insisted, seconds / one));
  }
}
