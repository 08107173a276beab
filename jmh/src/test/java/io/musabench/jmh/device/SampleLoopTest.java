package io.musabench.jmh.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.jmh.cli.MusabenchProcess;
import io.musabench.results.stopping.StoppingCriterion;
import io.musabench.results.stopping.StoppingRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** How many samples a batch has. */
class SampleLoopTest {
  private static final int SAMPLE_MILLIS = 1;
  private static final int MILLIS_BEFORE = 20; // what a batch begins with: an eviction, say

  @BeforeAll
  static void requireNativeLibraries() {
    MusabenchProcess.requireNativeLibraries();
  }

  /** Asks for so many samples, batch by batch. */
  private static final class Wishes implements StoppingCriterion {
    private final int[] wishes;
    private int asked;

    Wishes(int... wishes) {
      this.wishes = wishes;
    }

    @Override
    public void add(double nanos) {}

    @Override
    public boolean met() {
      return asked == wishes.length;
    }

    @Override
    public int missing() {
      return wishes[asked++];
    }

    @Override
    public boolean estimates() {
      return false;
    }

    @Override
    public String unmet() {
      return asked + " of " + wishes.length + " wishes";
    }
  }

  private static double[] take(List<Integer> batches, int samples) {
    batches.add(samples);
    try {
      Thread.sleep(MILLIS_BEFORE + samples * SAMPLE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    double[] nanos = new double[samples];
    Arrays.fill(nanos, 1e6 * SAMPLE_MILLIS);
    return nanos;
  }

  @Test
  void shouldNotTakeSmallBatchesForSlowSamples() {
    List<Integer> batches = new ArrayList<>();
    try (DeviceContext context = DeviceContext.open()) {
      context.watch(FakeMonitor.watch(i -> 1600)); // Batches of a watched device take 0.1 s.
      SampleLoop loop = new SampleLoop(context, samples -> take(batches, samples), 1000);
      loop.run(new StoppingRule(new Wishes(1000, 1, 1000), 1, 0, 10), 1e6 * SAMPLE_MILLIS);
    }
    assertThat(batches).hasSize(3);
    assertThat(batches.get(0)).isBetween(99, 100);
    assertThat(batches.get(1)).isEqualTo(1);
    assertThat(batches.get(2)).isBetween(5, 100); // By the batch of one a sample takes 21 ms.
  }
}
