package io.musabench.results.tpot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

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
    assertThat(p.tpot()).isCloseTo(0.0260, within(0.00005));
    assertThat(p.requestsPerSecond()).isCloseTo(4.78, within(0.005));
    assertThat(p.prefillShare()).isCloseTo(0.24, within(0.005));
    assertThat(p.state()).isEqualTo(State.OK);
    assertThat(p.outputTokensPerSecond()).isCloseTo(256 * p.requestsPerSecond(), within(1e-9));
  }

  @Test
  void theReferenceTablesInterferenceComesOut() {
    // 27 ms without prefills, 31 ms at 5.2 requests a second: a prefill of 24.8 ms.
    int concurrency = 42;
    Prediction p = predict(0.027, 0.0248, concurrency, 256);
    assertThat(p.tpot()).isCloseTo(0.031, within(0.0002));
    assertThat(p.requestsPerSecond()).isCloseTo(5.2, within(0.15));
  }

  @Property
  void theSolutionSatisfiesTheEquations(
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 0.1) double decode,
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 1) double prefill,
      @ForAll @IntRange(min = 1, max = 256) int c,
      @ForAll @IntRange(min = 2, max = 1024) int output) {
    Prediction p = predict(decode, prefill, c, output);
    if (p.state() == State.SATURATED) {
      assertThat(p.tpot()).isNaN();
      return;
    }
    double x = c / (prefill + (output - 1) * p.tpot());
    double rho = x * prefill * (c - 1) / c;
    assertThat(p.requestsPerSecond()).isCloseTo(x, within(1e-9 * x));
    assertThat(p.tpot()).isCloseTo(decode / (1 - rho), within(1e-9 * p.tpot()));
    assertThat(p.prefillShare()).isCloseTo(x * prefill, within(1e-9));
    assertThat(p.tpot()).isGreaterThanOrEqualTo(decode * (1 - 1e-12));
    assertThat(p.ttftStaggered()).isEqualTo(prefill);
    assertThat(p.ttftBurst()).isCloseTo(c * prefill, within(1e-9 * c));
  }

  @Property
  void oneRequestHasNoInterferenceAndTakesTheSumOfItsSteps(
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 0.1) double decode,
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 1) double prefill) {
    Prediction p = predict(decode, prefill, 1, 256);
    if (p.state() != State.SATURATED) {
      assertThat(p.tpot()).isCloseTo(decode, within(1e-9 * decode));
      assertThat(1 / p.requestsPerSecond())
          .isCloseTo(prefill + 255 * decode, within(1e-9 * (prefill + 255 * decode)));
    }
  }

  @Property
  void doublingEveryTimeDoublesTheLatencies(
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 0.1) double decode,
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 0.1) double prefill,
      @ForAll @IntRange(min = 1, max = 64) int c) {
    Prediction once = predict(decode, prefill, c, 128);
    Prediction twice = predict(2 * decode, 2 * prefill, c, 128);
    assertThat(twice.state()).isEqualTo(once.state());
    if (once.state() != State.SATURATED) {
      assertThat(twice.tpot()).isCloseTo(2 * once.tpot(), within(1e-9 * once.tpot()));
      assertThat(twice.requestsPerSecond())
          .isCloseTo(once.requestsPerSecond() / 2, within(1e-9 * once.requestsPerSecond()));
    }
  }

  @Property
  void aFasterStepNeverRaisesTpot(
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 0.1) double decode,
      @ForAll @Scale(6) @DoubleRange(min = 0.001, max = 0.1) double prefill,
      @ForAll @IntRange(min = 1, max = 64) int c,
      @ForAll @Scale(6) @DoubleRange(min = 0.5, max = 1) double faster) {
    Prediction before = predict(decode, prefill, c, 128);
    if (before.state() == State.SATURATED) {
      return;
    }
    double slack = 1e-9 * before.tpot();
    Prediction prefillFaster = predict(decode, prefill * faster, c, 128);
    assertThat(prefillFaster.tpot()).isLessThanOrEqualTo(before.tpot() + slack);
    // A faster decode raises the share of prefill, up to saturation, but not TPOT.
    Prediction decodeFaster = predict(decode * faster, prefill, c, 128);
    if (decodeFaster.state() != State.SATURATED) {
      assertThat(decodeFaster.tpot()).isLessThanOrEqualTo(before.tpot() + slack);
    }
  }

  @ParameterizedTest
  // prefill seconds for a single request with 99 decode steps of 10 ms: share = P / (P + 0.99)
  @CsvSource({
    "0.9, OK",
    "0.98, OK",
    "1.0, STRAINED",
    "8.8, STRAINED",
    "9.0, SATURATED",
    "100, SATURATED"
  })
  void theStateFollowsTheShareOfPrefill(double prefill, State state) {
    assertThat(predict(0.010, prefill, 1, 100).state()).isEqualTo(state);
  }

  @Test
  void theLimitsThemselvesBelongToTheWorseState() {
    // share = P / (P + 1 s) is 1/2 exactly
    assertThat(predict(1, 1, 1, 2).prefillShare()).isEqualTo(0.5);
    assertThat(predict(1, 1, 1, 2).state()).isEqualTo(State.STRAINED);
    assertThat(predict(0.1, 0.9, 1, 2).prefillShare()).isEqualTo(0.9);
    assertThat(predict(0.1, 0.9, 1, 2).state()).isEqualTo(State.SATURATED);
  }

  @Test
  void saturationIsSaidAndLeavesOnlyAnUpperBound() {
    Prediction p = predict(0.001, 2, 64, 8);
    assertThat(p.state()).isEqualTo(State.SATURATED);
    assertThat(p.tpot()).isNaN();
    assertThat(p.ttftStaggered()).isNaN();
    assertThat(p.ttftBurst()).isNaN();
    assertThat(p.requestsPerSecond()).isEqualTo(0.5);
    assertThat(p.prefillShare()).isEqualTo(1);
    assertThat(p.remark()).isEqualTo("saturated: 100 % of the time is prefill");
  }

  @Test
  void remarksSayHowFarToTrustIt() {
    assertThat(predict(0.020, 0.050, 32, 256).remark()).isEmpty();
    assertThat(predict(1, 1, 1, 2).remark())
        .isEqualTo("50 % of the time is prefill: requests queue");
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
