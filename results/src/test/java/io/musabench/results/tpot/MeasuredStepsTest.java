package io.musabench.results.tpot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.HashMap;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class MeasuredStepsTest {
  private static final MeasuredSteps STEPS =
      new MeasuredSteps(Map.of(8, 0.020, 16, 0.024, 32, 0.040), Map.of(512, 0.1));

  private static void expect(Timing timing, double seconds, Provenance provenance) {
    assertThat(timing.seconds()).isCloseTo(seconds, within(1e-12));
    assertThat(timing.provenance()).isEqualTo(provenance);
  }

  @Test
  void aMeasuredPointIsTakenAsItIs() {
    expect(STEPS.decode(8), 0.020, Provenance.MEASURED);
    expect(STEPS.decode(16), 0.024, Provenance.MEASURED);
    expect(STEPS.decode(32), 0.040, Provenance.MEASURED);
    expect(STEPS.prefill(512), 0.1, Provenance.MEASURED);
  }

  @Test
  void betweenTwoPointsItIsLinear() {
    expect(STEPS.decode(12), 0.022, Provenance.INTERPOLATED);
    expect(STEPS.decode(20), 0.028, Provenance.INTERPOLATED);
  }

  @Test
  void belowTheSmallestItStays() {
    expect(STEPS.decode(1), 0.020, Provenance.EXTRAPOLATED);
    expect(STEPS.prefill(1), 0.1, Provenance.EXTRAPOLATED);
  }

  @Test
  void aboveTheLargestItFollowsTheLastLine() {
    expect(STEPS.decode(64), 0.072, Provenance.EXTRAPOLATED);
  }

  @Test
  void aboveASinglePointItGrowsInProportion() {
    expect(STEPS.prefill(1024), 0.2, Provenance.EXTRAPOLATED);
  }

  @Test
  void aLineThatFallsOrStaysFlatIsNotFollowed() {
    MeasuredSteps falling = new MeasuredSteps(Map.of(8, 0.03, 16, 0.02), Map.of(1, 1.0));
    expect(falling.decode(32), 0.04, Provenance.EXTRAPOLATED);
    MeasuredSteps flat = new MeasuredSteps(Map.of(8, 0.02, 16, 0.02), Map.of(1, 1.0));
    expect(flat.decode(32), 0.04, Provenance.EXTRAPOLATED);
  }

  @Property
  void aLargerBatchNeverTakesLess(
      @ForAll @IntRange(min = 1, max = 200) int a, @ForAll @IntRange(min = 1, max = 200) int b) {
    int small = Math.min(a, b);
    int large = Math.max(a, b);
    assertThat(STEPS.decode(large).seconds())
        .isGreaterThanOrEqualTo(STEPS.decode(small).seconds() - 1e-12);
  }

  @Test
  void somethingMustHaveBeenMeasured() {
    assertThatThrownBy(() -> new MeasuredSteps(Map.of(), Map.of(1, 1.0)))
        .hasMessageContaining("no measured decode step");
    assertThatThrownBy(() -> new MeasuredSteps(Map.of(1, 1.0), Map.of()))
        .hasMessageContaining("no measured prefill step");
  }

  @Test
  void aTimeIsAPositiveNumber() {
    for (double wrong : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> new MeasuredSteps(Map.of(1, wrong), Map.of(1, 1.0)))
          .hasMessageContaining("a time above 0");
    }
  }

  @Test
  void pointsThatChangeLaterDoNotCount() {
    Map<Integer, Double> points = new HashMap<>(Map.of(1, 1.0));
    MeasuredSteps steps = new MeasuredSteps(points, Map.of(1, 1.0));
    points.put(2, 9.0);
    assertThat(steps.decode(2).provenance()).isEqualTo(Provenance.EXTRAPOLATED);
  }
}
