package io.musabench.results.audit;

import io.musabench.results.model.Precision;

/**
 * What the table does not say of itself. A column of the table goes before an option; null is "not
 * given".
 *
 * <p>A table whose columns tell nothing of its load is taken to be of the course's test bed, whose
 * figures stand here as constants: such tables are what that course publishes. Every figure so
 * assumed is reported as assumed.
 *
 * @param model name or path of a model
 * @param tp tensor-parallel ranks
 * @param inputTokens tokens of a prompt
 * @param outputTokens tokens of an answer
 * @param concurrency requests in flight that the client keeps; a mean may be a fraction
 * @param sloTtftMs limit on TTFT behind the goodput
 * @param sloTpotMs limit on TPOT behind the goodput
 * @param device name or path of a data sheet
 * @param precision in which the model runs; null is bf16
 * @param tolerance relative error of the table's rates and latencies, 0.1 for 10 %
 */
public record AuditOptions(
    String model,
    Integer tp,
    Integer inputTokens,
    Integer outputTokens,
    Double concurrency,
    Double sloTtftMs,
    Double sloTpotMs,
    String device,
    Precision precision,
    double tolerance) {
  /** Error that the course's page states for its table. */
  public static final double DEFAULT_TOLERANCE = 0.10;

  /** Nothing given. */
  public static final AuditOptions NONE =
      new AuditOptions(null, null, null, null, null, null, null, null, null, DEFAULT_TOLERANCE);

  // The course's test bed: Qwen3-32B on four S5000, 1024 tokens in, 256 out, 128 in flight, goodput
  // under TTFT < 1000 ms and TPOT < 50 ms.
  static final String COURSE_MODEL = "Qwen3-32B";
  static final int COURSE_TP = 4;
  static final String COURSE_DEVICE = "MTT S5000";
  static final int COURSE_INPUT = 1024;
  static final int COURSE_OUTPUT = 256;
  static final int COURSE_CONCURRENCY = 128;
  static final double COURSE_TTFT_MS = 1000;
  static final double COURSE_TPOT_MS = 50;

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException if one is not above 0, or the tolerance not from 0 to below 1
   */
  public AuditOptions {
    positive("tp", tp);
    positive("input tokens", inputTokens);
    positive("output tokens", outputTokens);
    positive("concurrency", concurrency);
    positive("the limit on TTFT", sloTtftMs);
    positive("the limit on TPOT", sloTpotMs);
    if (!(tolerance >= 0 && tolerance < 1)) {
      throw new IllegalArgumentException(
          "The tolerance must lie from 0 to below 100 %, not " + 100 * tolerance + " %");
    }
  }

  private static void positive(String what, Number value) {
    if (value != null && !(value.doubleValue() > 0 && Double.isFinite(value.doubleValue()))) {
      throw new IllegalArgumentException(what + " must be above 0, not " + value);
    }
  }
}
