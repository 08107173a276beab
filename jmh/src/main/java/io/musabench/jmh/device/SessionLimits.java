package io.musabench.jmh.device;

/**
 * How many samples a session takes.
 *
 * @param seconds device time a session should take; fewer samples than {@code least} are never
 *     taken for it
 * @param least fewest samples of a session
 * @param most greatest number of samples of a session, which bounds the events it needs
 */
public record SessionLimits(double seconds, int least, int most) {
  /** System property with the device time of a session, in seconds. */
  public static final String SECONDS = "musabench.session.seconds";

  private static final int LEAST = 5;
  private static final int MOST = 1000;

  /** The limits that the runner hands to a fork. */
  public static SessionLimits fromProperties() {
    return new SessionLimits(Double.parseDouble(System.getProperty(SECONDS, "0.3")), LEAST, MOST);
  }

  /** Samples to take when one of them keeps the device busy for {@code nanos}. */
  public int samples(double nanos) {
    double wanted = seconds * 1e9 / Math.max(nanos, 1);
    return (int) Math.max(least, Math.min(most, wanted));
  }
}
