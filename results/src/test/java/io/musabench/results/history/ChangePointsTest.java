package io.musabench.results.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.history.ChangePoints.Change;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChangePointsTest {
  /** Levels of {@code runs} runs each, with noise. */
  private static double[] series(long seed, double noise, int runs, double... levels) {
    SplittableRandom random = new SplittableRandom(seed);
    double[] series = new double[runs * levels.length];
    for (int i = 0; i < series.length; i++) {
      series[i] = levels[i / runs] * Math.exp(noise * random.nextGaussian());
    }
    return series;
  }

  @Test
  void theFirstSlowRunIsFound() {
    List<Change> changes = ChangePoints.of(series(1, 0.005, 20, 100, 103));
    assertThat(changes).hasSize(1);
    assertThat(changes.get(0).index()).isEqualTo(20);
    assertThat(changes.get(0).slower()).isTrue();
    assertThat(changes.get(0).ratio()).isCloseTo(1.03, within(0.005));
  }

  @Test
  void aLevelThatComesAndGoesHasTwoChanges() {
    List<Change> changes = ChangePoints.of(series(2, 0.005, 15, 100, 105, 100));
    assertThat(changes).extracting(Change::index).containsExactly(15, 30);
    assertThat(changes).extracting(Change::slower).containsExactly(true, false);
  }

  @Test
  void changesFarApartAreFoundInALongSeries() {
    List<Change> changes = ChangePoints.of(series(3, 0.005, 120, 100, 104, 102, 110));
    assertThat(changes).extracting(Change::index).containsExactly(120, 240, 360);
  }

  @Test
  void threeRunsOfALargeChangeAreEnough() {
    double[] series = series(4, 0.002, 12, 100, 110);
    assertThat(ChangePoints.of(Arrays.copyOf(series, 15)))
        .extracting(Change::index)
        .containsExactly(12);
    assertThat(ChangePoints.of(Arrays.copyOf(series, 14))).isEmpty();
  }

  @Test
  void oneRunThatWentWrongIsNoChange() {
    double[] series = series(5, 0.005, 40, 100);
    series[17] = 150;
    assertThat(ChangePoints.of(series)).isEmpty();
    series[39] = 200;
    assertThat(ChangePoints.of(series)).isEmpty();
  }

  @Test
  void aChangeBelowOnePerCentIsNone() {
    assertThat(ChangePoints.of(series(6, 0.0005, 30, 100, 100.5))).isEmpty();
  }

  @Test
  void fewAndEqualRunsHaveNoChanges() {
    assertThat(ChangePoints.of()).isEmpty();
    assertThat(ChangePoints.of(1)).isEmpty();
    assertThat(ChangePoints.of(1, 2, 3, 4, 5)).isEmpty();
    assertThat(ChangePoints.of(series(7, 0, 30, 100))).isEmpty();
    assertThat(ChangePoints.of(series(7, 0, 30, 100, 110)))
        .extracting(Change::index)
        .containsExactly(30);
  }

  /** Seeds are fixed; 9 of 300 is significantly above the one or two in a hundred seen here. */
  @ParameterizedTest
  @ValueSource(doubles = {0.005, 0.02})
  void noiseAloneRarelyHasChanges(double noise) {
    int found = 0;
    for (int seed = 0; seed < 300; seed++) {
      found += ChangePoints.of(series(1000 + seed, noise, 60, 100)).isEmpty() ? 0 : 1;
    }
    assertThat(found).isLessThan(9);
  }
}
