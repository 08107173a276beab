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
  private static final long MILLION = 1_000_000;
  private static final int SAMPLE_MILLIS = 1;
  private static final int MILLIS_BEFORE = 20; // what a batch begins with: an eviction, say

  private final List<Integer> batches = new ArrayList<>();
  private long now; // in nanoseconds

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

  /** A sample takes a millisecond, and a batch begins with something of 20 ms. */
  private double[] take(int samples) {
    batches.add(samples);
    now += MILLION * (MILLIS_BEFORE + samples * SAMPLE_MILLIS);
    double[] nanos = new double[samples];
    Arrays.fill(nanos, MILLION * SAMPLE_MILLIS);
    return nanos;
  }

  /**
   * The sizes of the batches of a device that is watched: they may take 0.1 s.
   *
   * @param batchMillis how long what a batch begins with is said to take
   */
  private List<Integer> batches(int batchMillis, int... wishes) {
    try (DeviceContext context = DeviceContext.open()) {
      context.watch(FakeMonitor.watch(i -> 1600));
      new SampleLoop(context, this::take, 1000, () -> now)
          .run(
              new StoppingRule(new Wishes(wishes), 1, 0, 10),
              MILLION * SAMPLE_MILLIS,
              MILLION * batchMillis);
    }
    return batches;
  }

  @Test
  void shouldLeaveABatchTimeForWhatItBeginsWith() {
    assertThat(batches(20, 1000, 1000, 1000)).containsExactly(80, 80, 80);
  }

  @Test
  void shouldTakeOneSampleHoweverLongWhatABatchBeginsWithIs() {
    assertThat(batches(1000, 1000)).containsExactly(1);
  }

  @Test
  void shouldNotTakeSmallBatchesForSlowSamples() {
    // By the batch of one a sample takes half of 21 ms, and then less and less.
    assertThat(batches(20, 1000, 1, 1000, 1000, 1000, 1000)).containsExactly(80, 1, 7, 41, 80, 80);
  }

  @Test
  void shouldComeToTheRightSizeWhereWhatABatchBeginsWithTakesLonger() {
    // 20 ms, not 5: the first batch takes 115 ms, and one of n (15 + n) ms for its samples.
    assertThat(batches(5, 1000, 1000, 1000, 1000)).containsExactly(95, 82, 80, 80);
  }
}
