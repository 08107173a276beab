package io.musabench.results.tpot;

import java.util.Map;

/**
 * Step times from measured steps: exact where one was measured, linear between two, pessimistic
 * outside (held below the smallest; above the largest the line through the last two, or in
 * proportion where there is only one).
 */
public final class MeasuredSteps implements StepTimes {
  private final Curve decode;
  private final Curve prefill;

  /**
   * Keeps a copy of the points.
   *
   * @param decode seconds of a decode step by batch size
   * @param prefill seconds of a prefill step by tokens
   * @throws IllegalArgumentException if one of them is empty or a time is not above 0
   */
  public MeasuredSteps(Map<Integer, Double> decode, Map<Integer, Double> prefill) {
    this.decode = new Curve("decode", decode);
    this.prefill = new Curve("prefill", prefill);
  }

  @Override
  public Timing decode(int batch) {
    return decode.at(batch);
  }

  @Override
  public Timing prefill(int tokens) {
    return prefill.at(tokens);
  }
}
