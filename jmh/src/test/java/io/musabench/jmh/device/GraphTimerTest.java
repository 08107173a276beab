package io.musabench.jmh.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.jmh.cli.MusabenchProcess;
import io.musabench.results.stopping.Stopping;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntToDoubleFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Eager against graph, and what it costs to make a graph, are sampled as everything else is. */
class GraphTimerTest {
  @BeforeAll
  static void requireNativeLibraries() {
    MusabenchProcess.requireNativeLibraries();
  }

  private static final int WAYS = 3; // eager, graph, graph with new inputs

  /** Empty kernels: only how often they are timed matters here. */
  private record Empties(List<PreparedCall> calls, StepInputs inputs, AtomicInteger runs)
      implements GraphTimer.Subject {
    static Empties of(DeviceContext context) {
      DType[] types = {DType.I32, DType.I32, DType.I64, DType.I32, DType.I32};
      List<Tensor> tensors =
          Arrays.stream(types).map(type -> context.target().ffi().allocate(type, 1)).toList();
      StepInputs inputs =
          new StepInputs(
              context,
              tensors.get(0),
              tensors.get(1),
              tensors.get(2),
              tensors.get(3),
              tensors.get(4));
      return new Empties(
          Collections.nCopies(3, context.kernels().empty()), inputs, new AtomicInteger());
    }

    @Override
    public List<BatchState> states() {
      int[] one = {0};
      return Collections.nCopies(2, new BatchState(one, one, new long[] {0}, one, one));
    }

    @Override
    public void poison() {
      runs.incrementAndGet();
    }

    @Override
    public void verify(int state) {}
  }

  /**
   * A session whose batches are single rounds.
   *
   * @param clock in MHz, by the number of the round
   */
  private static GraphTimer.Sampled sample(
      IntToDoubleFunction clock, String criterion, double ceiling) {
    try (DeviceContext context = DeviceContext.open()) {
      Empties step = Empties.of(context);
      context.watch(FakeMonitor.watch(i -> clock.applyAsDouble((step.runs.get() - 1) / WAYS)));
      try (GraphTimer timer = new GraphTimer(context, step, null, 0, 1e6)) {
        step.runs.set(0); // What was run to warm up is no round.
        return timer.run(new SessionLimits(1e-6, ceiling, 2, 1, new Stopping(criterion)));
      }
    }
  }

  private static Map<String, double[]> values(GraphTimer.Sampled sampled) {
    return sampled.metrics().stream().collect(Collectors.toMap(Metric::name, Metric::values));
  }

  @Test
  void shouldTakeAsManyRoundsAsTheCriterionAsks() {
    GraphTimer.Sampled sampled = sample(round -> 1600, "samples:7", 30);
    assertThat(sampled.facts().unmet()).isEmpty();
    assertThat(values(sampled))
        .containsKeys(Measured.EAGER_SPAN, Measured.UPDATE, Measured.GRAPH_UPLOAD)
        .allSatisfy((name, values) -> assertThat(values).as(name).hasSize(7));
  }

  @Test
  void shouldNameWhatTheCeilingLeftUnmet() {
    GraphTimer.Sampled sampled = sample(round -> 1600, "stdrel:0.000001%", 0.1);
    assertThat(sampled.facts().unmet())
        .startsWith("stopped at the time ceiling of 0.1 s, relative standard error ")
        .endsWith(" > 0.000001 % (eager against graph)");
  }

  @Test
  void shouldDropAndCountRoundsOfAThrottledClock() {
    GraphTimer.Sampled sampled = sample(round -> round < 2 ? 900 : 1600, "samples:4", 30);
    assertThat(sampled.facts().throttled()).isGreaterThanOrEqualTo(2);
    assertThat(sampled.facts().throttleReasons()).containsExactly("power cap");
    assertThat(values(sampled))
        .allSatisfy((name, values) -> assertThat(values).as(name).hasSize(4));
  }

  @Test
  void shouldFailWhereEveryRoundWasThrottled() {
    assertThatThrownBy(() -> sample(round -> 900, "samples:4", 0.2))
        .isInstanceOf(ThrottledException.class);
  }
}
