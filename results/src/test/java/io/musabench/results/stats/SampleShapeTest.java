package io.musabench.results.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SampleShapeTest {
  private static double[] draw(int n, DoubleSupplier value) {
    return IntStream.range(0, n).mapToDouble(i -> value.getAsDouble()).toArray();
  }

  @Test
  void oneModeIsOne() {
    SplittableRandom random = new SplittableRandom(1);
    int normal = 0;
    int uniform = 0;
    int exponential = 0;
    for (int i = 0; i < 500; i++) {
      normal += modes(draw(100, () -> 100 * Math.exp(0.05 * random.nextGaussian())));
      uniform += modes(draw(100, () -> 90 + 20 * random.nextDouble()));
      exponential += modes(draw(100, () -> 100 - 3 * Math.log(random.nextDouble())));
    }
    assertThat(normal).isZero();
    assertThat(uniform).isLessThan(10);
    assertThat(exponential).isLessThan(10);
  }

  private static int modes(double[] values) {
    return SampleShape.of(List.of(values)).modes() == null ? 0 : 1;
  }

  @Test
  void twoModesAreFoundWithTheirShares() {
    SplittableRandom random = new SplittableRandom(2);
    double[] values = new double[200];
    for (int i = 0; i < values.length; i++) {
      values[i] = (i % 4 == 0 ? 110 : 100) * Math.exp(0.005 * random.nextGaussian());
    }
    SampleShape.Modes modes = SampleShape.of(List.of(values)).modes();
    assertThat(modes).isNotNull();
    assertThat(modes.low()).isBetween(99.5, 100.5);
    assertThat(modes.high()).isBetween(109.0, 111.0);
    assertThat(modes.lowShare()).isBetween(0.72, 0.78);
  }

  /** Two modes of ten values each: e^0 and e^within, and the same from e^1 on. */
  private static SampleShape.Modes twoTimesTen(double within) {
    double[] values = new double[20];
    for (int i = 0; i < values.length; i++) {
      values[i] = Math.exp(i % 2 + (i / 2 % 2) * within);
    }
    return SampleShape.of(List.of(values)).modes();
  }

  @Test
  void modesLieFiveStandardDeviationsApart() {
    // Both means are within/2 from their values: s = within/2 · √(20/18), and 1 / s is 5 where
    // within is 0.3795.
    assertThat(twoTimesTen(0.37).low()).isCloseTo(Math.exp(0.185), within(1e-12));
    assertThat(twoTimesTen(0.37).high()).isCloseTo(Math.exp(1.185), within(1e-12));
    assertThat(twoTimesTen(0.37).lowShare()).isEqualTo(0.5);
    assertThat(twoTimesTen(0.39)).isNull();
    assertThat(twoTimesTen(0).high()).isCloseTo(Math.E, within(1e-12));
  }

  @Test
  void outliersAndModesTooCloseToMatterAreNoModes() {
    SplittableRandom random = new SplittableRandom(3);
    double[] outliers = draw(200, () -> 100 * Math.exp(0.005 * random.nextGaussian()));
    outliers[17] = 300;
    outliers[90] = 250;
    assertThat(SampleShape.of(List.of(outliers)).modes()).isNull();
    double[] close = new double[200];
    for (int i = 0; i < close.length; i++) {
      close[i] = i % 2 == 0 ? 100 : 100.5;
    }
    assertThat(SampleShape.of(List.of(close)).modes()).isNull();
    assertThat(SampleShape.of(List.of(new double[] {1, 1, 2, 2})).modes()).isNull();
  }

  /** 200 values, 100 but for some of them. */
  private static double[] hundredBut(int some, double value) {
    return IntStream.range(0, 200).mapToDouble(i -> i < some ? value : 100).toArray();
  }

  @Test
  void aTwentiethIsATailAndAFifthIsAMode() {
    assertThat(modes(hundredBut(10, 200))).isZero();
    assertThat(modes(hundredBut(40, 200))).isOne();
  }

  @Test
  void outliersHideNoModes() {
    double[] values = hundredBut(40, 110);
    values[80] = 10_000;
    values[90] = 1;
    assertThat(modes(values)).isOne();
  }

  @Test
  void aRampDriftsAndNoiseDoesNot() {
    SplittableRandom random = new SplittableRandom(4);
    double[] ramp = new double[60];
    for (int i = 0; i < ramp.length; i++) {
      ramp[i] = 100 * (1 + 0.05 * i / ramp.length) * Math.exp(0.002 * random.nextGaussian());
    }
    SampleShape shape = SampleShape.of(List.of(ramp, ramp));
    assertThat(shape.drifting()).isTrue();
    assertThat(shape.drift()).isBetween(0.025, 0.045);
    double[] falling = Arrays.stream(ramp).map(t -> 10_000 / t).toArray();
    assertThat(SampleShape.of(List.of(falling, falling)).drifting()).isTrue();
    int alarms = 0;
    for (int i = 0; i < 500; i++) {
      double[] a = draw(60, () -> 100 * Math.exp(0.05 * random.nextGaussian()));
      alarms += SampleShape.of(List.of(a)).drifting() ? 1 : 0;
    }
    assertThat(alarms).isLessThan(5);
  }

  @Test
  void aDriftShowsInForksThatDifferByMore() {
    double[] slow = IntStream.range(0, 30).mapToDouble(i -> 150 + 0.15 * i).toArray();
    double[] fast = IntStream.range(0, 30).mapToDouble(i -> 100 + 0.1 * i).toArray();
    SampleShape shape = SampleShape.of(List.of(slow, fast));
    // Medians of the thirds: 102.45 over 100.45.
    assertThat(shape.drift()).isCloseTo(2 / 100.45, within(1e-9));
    assertThat(shape.drifting()).isTrue();
  }

  @Test
  void nineValuesOfAForkHaveABeginningAndAnEnd() {
    double[] nine = IntStream.range(0, 9).mapToDouble(i -> 100 + i).toArray();
    SampleShape shape = SampleShape.of(Collections.nCopies(10, nine));
    assertThat(shape.drift()).isCloseTo(6.0 / 101, within(1e-9));
    assertThat(shape.drifting()).isTrue();
    SampleShape eight = SampleShape.of(Collections.nCopies(10, Arrays.copyOf(nine, 8)));
    assertThat(eight.drift()).isNaN();
    assertThat(eight.drifting()).isFalse();
  }

  @Test
  void forksThatDifferAreNoDriftOfAnyOfThem() {
    double[] slow = draw(30, () -> 110);
    double[] fast = draw(30, () -> 100);
    SampleShape shape = SampleShape.of(List.of(slow, fast));
    assertThat(shape.forksDiffer()).isTrue();
    assertThat(shape.betweenForks()).isBetween(0.099, 0.101);
    assertThat(shape.drifting()).isFalse();
    assertThat(SampleShape.of(List.of(fast)).forksDiffer()).isFalse();
  }

  @Test
  void aClockMovesByItsRange() {
    assertThat(SampleShape.clockRange(2000, 1900, 2000)).isBetween(0.049, 0.051);
    assertThat(SampleShape.clockRange()).isNaN();
  }
}
