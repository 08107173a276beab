package io.musabench.results.tpot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.musabench.results.tpot.Prediction.State;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Scale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClosedLoopTest {
  private static Prediction predict(double decode, double prefill, int concurrency, int output) {
    StepTimes steps = new MeasuredSteps(Map.of(concurrency, decode), Map.of(1024, prefill));
    return ClosedLoop.predict(steps, new Workload(concurrency, 1024, output));
  }

  @Test
  void theDocumentedNumbersAreRight() {
    Prediction p = predict(0.020, 0.050, 32, 256);
    assertThat(p.tpot().value()).isCloseTo(0.0260, within(0.00005));
    assertThat(p.requestsPerSecond()).isCloseTo(4.775, within(0.0005));
    assertThat(p.prefillShare().value()).isCloseTo(0.24, within(0.005));
    assertThat(p.ttftStaggered().value()).isCloseTo(0.067, within(0.0005));
    assertThat(p.ttftBurst().value()).isCloseTo(0.835, within(0.0005));
    assertThat(p.state()).isEqualTo(State.OK);
    assertThat(p.outputTokensPerSecond()).isCloseTo(256 * p.requestsPerSecond(), within(1e-9));
  }

  @Test
  void theReferenceTablesInterferenceComesOut() {
    // 27 ms without prefills, 31 ms at 5.2 requests a second: a prefill of 24.8 ms.
    int concurrency = 42;
    Prediction p = predict(0.027, 0.0248, concurrency, 256);
    assertThat(p.tpot().value()).isCloseTo(0.031, within(0.0002));
    assertThat(p.requestsPerSecond()).isCloseTo(5.2, within(0.15));
  }

  @Property
  void theSolutionSatisfiesTheEquations(
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 0.1) double t,
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 1) double prefill,
      @ForAll @IntRange(min = 1, max = 256) int c,
      @ForAll @IntRange(min = 2, max = 1024) int output) {
    Prediction p = predict(t, prefill, c, output);
    double others = (c - 1.0) / c;
    double rho = p.requestsPerSecond() * prefill * others;
    double x = c / (p.ttftStaggered().value() + (output - 1) * p.tpot().value());
    assertThat(p.requestsPerSecond()).isCloseTo(x, withinPercentage(1e-6));
    assertThat(p.prefillShare().value()).isCloseTo(x * prefill, within(1e-9)).isLessThan(1 + 1e-9);
    double busy = c * prefill + (output - 1) * t;
    assertThat(c / x).isGreaterThanOrEqualTo(busy * (1 - 1e-9));
    assertThat(p.tpot().value()).isCloseTo(t / (1 - rho), withinPercentage(1e-4));
    if (c / x > busy * (1 + 1e-6)) {
      double half = t / 2 * others;
      double own = prefill + rho * prefill / (2 * (1 - rho));
      assertThat(p.ttftStaggered().value()).isCloseTo(half + own, withinPercentage(1e-4));
      assertThat(p.ttftBurst().value())
          .isCloseTo(Math.max(half + own, half + (c + 1) / 2.0 * prefill), withinPercentage(1e-4));
    }
    assertThat(p.ttftBurst().value()).isGreaterThanOrEqualTo(p.ttftStaggered().value());
    assertThat(p.ttftBurst().value()).isGreaterThanOrEqualTo((c + 1) / 2.0 * prefill * (1 - 1e-12));
  }

  @Property
  void oneRequestHasNoInterferenceAndTakesTheSumOfItsSteps(
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 0.1) double decode,
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 1) double prefill) {
    Prediction p = predict(decode, prefill, 1, 256);
    assertThat(p.tpot().value()).isEqualTo(decode);
    assertThat(p.ttft().value()).isEqualTo(prefill);
    assertThat(p.ttftStaggered().value()).isEqualTo(prefill);
    assertThat(p.ttftBurst().value()).isEqualTo(prefill);
    assertThat(1 / p.requestsPerSecond()).isCloseTo(prefill + 255 * decode, withinPercentage(1e-9));
  }

  @Property
  void doublingEveryTimeDoublesTheLatencies(
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 0.1) double decode,
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 1) double prefill,
      @ForAll @IntRange(min = 1, max = 64) int c) {
    Prediction once = predict(decode, prefill, c, 128);
    Prediction twice = predict(2 * decode, 2 * prefill, c, 128);
    assertThat(twice.state()).isEqualTo(once.state());
    assertThat(twice.tpot().value()).isCloseTo(2 * once.tpot().value(), withinPercentage(1e-9));
    assertThat(twice.ttftStaggered().value())
        .isCloseTo(2 * once.ttftStaggered().value(), withinPercentage(1e-9));
    assertThat(twice.requestsPerSecond())
        .isCloseTo(once.requestsPerSecond() / 2, withinPercentage(1e-9));
  }

  @Property
  void aFasterStepNeverRaisesTpot(
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 0.1) double decode,
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 1) double prefill,
      @ForAll @IntRange(min = 1, max = 256) int c,
      @ForAll @IntRange(min = 2, max = 1024) int output,
      @ForAll @Scale(6) @DoubleRange(min = 0.5, max = 1) double faster) {
    double before = predict(decode, prefill, c, output).tpot().value() * (1 + 1e-9);
    assertThat(predict(decode, prefill * faster, c, output).tpot().value())
        .isLessThanOrEqualTo(before);
    // A faster decode raises the share of prefill, but not TPOT.
    assertThat(predict(decode * faster, prefill, c, output).tpot().value())
        .isLessThanOrEqualTo(before);
  }

  @ParameterizedTest
  @CsvSource({"0.01, OK", "0.02, OK", "0.1, STRAINED", "0.2, STRAINED", "3, SATURATED"})
  void theStateFollowsTheShareOfTheOthersPrefills(double prefill, State state) {
    Prediction p = predict(0.010, prefill, 32, 100);
    double share = p.prefillShare().value() * 31 / 32;
    assertThat(p.state()).isEqualTo(state);
    assertThat(share >= 0.5).isEqualTo(state != State.OK);
    assertThat(share >= 0.9).isEqualTo(state == State.SATURATED);
    assertThat(p.bound() == Bound.PREFILL).isEqualTo(state != State.OK);
  }

  @Test
  void remarksSayHowFarToTrustIt() {
    assertThat(predict(0.020, 0.050, 32, 256).remark()).isEmpty();
    assertThat(predict(0.010, 0.1, 32, 100).remark())
        .matches("\\d\\d % of the time is prefill: requests queue");
    assertThat(predict(0.001, 2, 64, 8).remark())
        .isEqualTo("saturated: 100 % of the time is prefill");
  }

  @Test
  void aPredictionIsAsCertainAsItsLessCertainStep() {
    StepTimes steps = new MeasuredSteps(Map.of(8, 0.02, 16, 0.03), Map.of(512, 0.1));
    assertThat(ClosedLoop.predict(steps, new Workload(8, 512, 256)).provenance())
        .isEqualTo(Provenance.MEASURED);
    assertThat(ClosedLoop.predict(steps, new Workload(12, 512, 256)).provenance())
        .isEqualTo(Provenance.INTERPOLATED);
    assertThat(ClosedLoop.predict(steps, new Workload(12, 1024, 256)).provenance())
        .isEqualTo(Provenance.EXTRAPOLATED);
    assertThat(Provenance.MEASURED.worse(Provenance.INTERPOLATED))
        .isEqualTo(Provenance.INTERPOLATED);
    assertThat(Provenance.EXTRAPOLATED.worse(Provenance.MEASURED))
        .isEqualTo(Provenance.EXTRAPOLATED);
  }

  @ParameterizedTest
  @CsvSource({"0, 1, 2", "1, 0, 2", "1, 1, 1"})
  void aWorkloadNeedsRequestsAndTokens(int concurrency, int input, int output) {
    assertThatThrownBy(() -> new Workload(concurrency, input, output))
        .hasMessageContaining("at least 1 request in flight, 1 input token and 2 output tokens");
    assertThat(new Workload(1, 1, 2).outputTokens()).isEqualTo(2);
  }
}
