package io.musabench.results.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class OverKernelsTest {
  @Test
  void fewRoundsSpanFromTheLeastToTheGreatest() {
    assertThat(OverKernels.of(new double[] {3, -1, 2, 8, 4})).isEqualTo(new OverKernels(3, -1, 8));
  }

  @Test
  void theIntervalHoldsTheTrueMedianAboutAsOftenAsItSays() {
    Random random = new Random(1);
    int held = 0;
    int runs = 400;
    for (int run = 0; run < runs; run++) {
      double[] rounds = random.doubles(12, -1, 1).map(x -> 5 + x * x * x).toArray();
      OverKernels over = OverKernels.of(rounds);
      assertThat(over.medianUs()).isBetween(over.lowUs(), over.highUs());
      held += over.lowUs() <= 5 && 5 <= over.highUs() ? 1 : 0;
    }
    assertThat(held / (double) runs).isBetween(0.90, 0.99);
  }
}
