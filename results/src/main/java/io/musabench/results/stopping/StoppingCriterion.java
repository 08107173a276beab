package io.musabench.results.stopping;

/**
 * Says when the samples of one session are enough. One object serves one session, on one thread.
 *
 * <p>It sees times only: the floors and the ceiling around it are {@link StoppingRule}'s.
 */
public interface StoppingCriterion {
  /**
   * Takes the next sample.
   *
   * @param nanos time of one operation in nanoseconds, above zero
   */
  void add(double nanos);

  /** Whether the samples so far are enough. */
  boolean met();

  /**
   * What is missing, as a short clause with the value reached and the value wanted, for example
   * {@code relative standard error 1.2 % > 0.5 %}; only asked while it is not {@link #met}.
   */
  String unmet();

  /**
   * A guess at how many further samples it takes, at least 1. A session takes about so many before
   * it asks again.
   */
  default int missing() {
    return 1;
  }

  /**
   * Whether the session's floors of samples and of time apply. They keep an estimate that few
   * samples give by chance from being believed.
   */
  default boolean estimates() {
    return true;
  }
}
