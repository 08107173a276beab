package io.musabench.results.tpot;

import io.musabench.results.tpot.Prediction.State;

/**
 * Steady state of a closed loop on one device that either prefills one request or runs one decode
 * step for all others.
 *
 * <p>With {@code C} requests in flight, a decode step {@code T}, a prefill {@code P}, and answers
 * of {@code n + 1} tokens:
 *
 * <pre>
 *   TPOT = T / (1 - rho)              decodes wait while a prefill runs
 *   rho  = X P (C - 1) / C            share of time in the prefills of the other requests
 *   X    = C / (TTFT + n TPOT)        requests a second (Little's law)
 *   TTFT = P
 * </pre>
 *
 * <p>A request never waits for its own prefill while it decodes, so {@code rho} leaves it out: a
 * single request has TPOT = T exactly. No decode step runs while a request is prefilled, so each
 * decode step has all {@code C} requests in it. The equations are quadratic in {@code n TPOT} and
 * have one positive solution.
 *
 * <p>Worked numbers: T = 20 ms, P = 50 ms, 32 requests, 256 output tokens: TPOT 26.0 ms, X = 4.78
 * requests a second, prefill share 0.24.
 */
public final class ClosedLoop {
  /**
   * From here on queueing for the prefill is a sizeable part of TTFT: an M/D/1 queue waits {@code
   * share / (2 (1 - share))} = half a prefill.
   */
  static final double STRAINED_SHARE = 0.5;

  /** Here that queue already waits 4.5 prefills, and TTFT = P has lost its meaning. */
  static final double SATURATED_SHARE = 0.9;

  private ClosedLoop() {}

  /** Predicts the loop from its two steps. */
  public static Prediction predict(StepTimes steps, Workload workload) {
    Timing decode = steps.decode(workload.concurrency());
    Timing prefill = steps.prefill(workload.inputTokens());
    double c = workload.concurrency();
    double p = prefill.seconds();
    int gaps = workload.outputTokens() - 1;

    double decodeTime = decodeTime(gaps * decode.seconds(), p, c);
    double rate = c / (p + decodeTime);
    double share = rate * p;
    if (share >= SATURATED_SHARE) {
      double nan = Double.NaN;
      return new Prediction(
          workload,
          State.SATURATED,
          decode,
          prefill,
          nan,
          nan,
          nan,
          Math.min(rate, 1 / p),
          Math.min(share, 1));
    }
    return new Prediction(
        workload,
        share >= STRAINED_SHARE ? State.STRAINED : State.OK,
        decode,
        prefill,
        decodeTime / gaps,
        p,
        c * p,
        rate,
        share);
  }

  /**
   * The positive {@code D} with {@code D (1 - (c - 1) p / (p + D)) = own}: time from the first to
   * the last token of a request whose decode steps alone take {@code own}.
   */
  private static double decodeTime(double own, double p, double c) {
    double b = own + (c - 2) * p;
    double root = Math.sqrt(b * b + 4 * own * p);
    // The two forms are equal; the second does not cancel when b is negative.
    return b >= 0 ? (b + root) / 2 : 2 * own * p / (root - b);
  }
}
