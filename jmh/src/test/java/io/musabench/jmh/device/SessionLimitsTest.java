package io.musabench.jmh.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.results.stopping.Stopping;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class SessionLimitsTest {
  private final SessionLimits limits =
      new SessionLimits(0.5, 4, 5, 1000, new Stopping("stdrel:1%"));

  @Test
  void shouldFillTheTime() {
    assertThat(limits.samples(1e6)).isEqualTo(500);
  }

  @Test
  void shouldTakeTheLeastNumberBeyondTheTime() {
    assertThat(limits.samples(0.8e9)).isEqualTo(5);
  }

  @Test
  void shouldTakeFewerWhereTheLeastNumberWouldTakeTooLong() {
    assertThat(limits.samples(1.1e9)).isEqualTo(3);
    assertThat(limits.samples(1e11)).isEqualTo(2);
  }

  @Test
  void shouldBoundTheNumberHoweverShortASampleIs() {
    assertThat(limits.samples(0)).isEqualTo(1000);
  }

  @Test
  void shouldLearnFromABatchHowLongASampleTakes() {
    SessionLimits brief = new SessionLimits(0.05, 4, 5, 1000, new Stopping("stdrel:1%"));
    AtomicInteger batches = new AtomicInteger();
    // The first call took 50 ms, as first calls may; the others take 0.1 ms.
    SessionLimits.Samples taken =
        brief.take(
            50e6,
            samples -> {
              batches.incrementAndGet();
              LockSupport.parkNanos(100_000L * samples);
              double[] nanos = new double[samples];
              Arrays.fill(nanos, 100e3);
              return nanos;
            });
    assertThat(taken.metrics()).isEmpty(); // There is no partner.
    assertThat(batches.get()).isLessThan(20);
  }
}
