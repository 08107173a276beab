package io.musabench.jmh.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.jmh.cli.MusabenchProcess;
import io.musabench.results.run.Sample;
import io.musabench.results.stopping.Stopping;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What makes caches cold counts where the number of samples of a batch is chosen. */
class EvictionTimeTest {
  private static final double LONG_NANOS = 10e9; // Nothing else here takes as long.

  private DeviceContext context;

  @BeforeEach
  void open() {
    MusabenchProcess.requireNativeLibraries();
    context = DeviceContext.open();
  }

  @AfterEach
  void close() {
    if (context != null) {
      context.close();
    }
  }

  @Test
  void shouldBeMeasuredOnce() {
    double nanos = context.evictionNanos();
    assertThat(nanos).isPositive();
    assertThat(context.evictionNanos()).isEqualTo(nanos);
  }

  @Test
  void shouldCountWithTheFirstSampleOfABatch() {
    context.watch(FakeMonitor.watch(i -> 1600)); // One value a batch, which may take 0.1 s.
    context.evictionNanos(LONG_NANOS);
    SessionLimits limits = new SessionLimits(0.001, 60, 2, 1000, new Stopping("samples:5"));
    try (LaunchTimer timer = LaunchTimer.hot(context, Launch.of(context.kernels().empty()))) {
      LaunchTimer.Sampled sampled = timer.run(limits, () -> {});
      assertThat(sampled.nanos()).hasSize(5);
      assertThat(sampled.metrics())
          .filteredOn(metric -> metric.name().equals(Sample.DEVICE_CLOCK))
          .hasSize(1)
          .allSatisfy(metric -> assertThat(metric.values()).hasSize(5));
    }
  }

  @Test
  void shouldCountWithEachStepAndEachOfItsGroups() {
    context.evictionNanos(LONG_NANOS);
    PreparedCall empty = context.kernels().empty();
    Tensor result = context.target().ffi().allocate(DType.I32, 1);
    // By the time of the kernels alone hundreds would be queued.
    SessionLimits limits =
        new SessionLimits(0.001, 5 * LONG_NANOS / 1e9, 2, 1000, new Stopping("samples:4"));
    try (StepTimer timer =
        new StepTimer(context, false, List.of(empty), List.of(List.of(empty)), List.of(result))) {
      timer.runRound();
      StepTimer.Sampled sampled = timer.run(limits, () -> {});
      assertThat(sampled.whole()).hasSize(4);
      assertThat(sampled.results()).hasSize(2); // One eviction a span, and five fit.
    }
  }
}
