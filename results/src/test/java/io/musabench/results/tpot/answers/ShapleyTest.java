package io.musabench.results.tpot.answers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class ShapleyTest {
  private static double[] game(int parts, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return random.doubles(1L << parts, -10, 10).toArray();
  }

  @Property(tries = 50)
  void sharesAddUpToTheWholeChange(
      @ForAll @IntRange(min = 1, max = 8) int parts, @ForAll long seed) {
    double[] values = game(parts, seed);
    double[] shares = Shapley.split(parts, set -> values[set]);
    assertThat(DoubleStream.of(shares).sum())
        .isCloseTo(values[values.length - 1] - values[0], within(1e-9));
  }

  @Property(tries = 50)
  void partsThatMatterAlikeGetTheSame(
      @ForAll @IntRange(min = 2, max = 7) int parts, @ForAll long seed) {
    double[] values = game(parts, seed);
    // Symmetric in parts 0 and 1: a set with one of them is worth what the other gives.
    double[] shares =
        Shapley.split(parts, set -> (set & 3) == 2 ? values[(set & ~3) | 1] : values[set]);
    assertThat(shares[0]).isCloseTo(shares[1], within(1e-9));
  }

  @Property(tries = 50)
  void aPartThatChangesNothingGetsNothing(
      @ForAll @IntRange(min = 1, max = 7) int parts, @ForAll long seed) {
    double[] values = game(parts, seed);
    double[] shares = Shapley.split(parts, set -> values[set & ~1]);
    assertThat(shares[0]).isCloseTo(0, within(1e-9));
  }

  @Property(tries = 50)
  void splitsOfSumsAreSumsOfSplits(
      @ForAll @IntRange(min = 1, max = 6) int parts, @ForAll long seed) {
    double[] a = game(parts, seed);
    double[] b = game(parts, seed + 1);
    double[] both = Shapley.split(parts, set -> a[set] + b[set]);
    double[] first = Shapley.split(parts, set -> a[set]);
    double[] second = Shapley.split(parts, set -> b[set]);
    for (int i = 0; i < parts; i++) {
      assertThat(both[i]).isCloseTo(first[i] + second[i], within(1e-9));
    }
  }

  @Test
  void theLongerOfTwoTimesSharesItsChange() {
    // max(host, device) from max(10, 10) to max(14, 12): 4 in all. Host first gives it 4 and device
    // 0; device first gives 2 and then 2.
    double[] shares =
        Shapley.split(2, set -> Math.max((set & 1) != 0 ? 14 : 10, (set & 2) != 0 ? 12 : 10));
    assertThat(shares).containsExactly(3, 1);
  }

  @Test
  void tooManyPartsAreRefused() {
    assertThatThrownBy(() -> Shapley.split(21, set -> 0)).hasMessageContaining("20");
    assertThat(Shapley.split(0, set -> 1)).isEmpty();
  }
}
