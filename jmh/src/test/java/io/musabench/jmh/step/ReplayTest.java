package io.musabench.jmh.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.bindings.ffi.CallList;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.GraphExec;
import io.musabench.jmh.TinyModel;
import io.musabench.jmh.cli.MusabenchProcess;
import io.musabench.jmh.device.BatchState;
import io.musabench.jmh.device.DeviceContext;
import io.musabench.jmh.device.GraphTimer;
import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.Libraries;
import io.musabench.jmh.device.MateOptions;
import io.musabench.jmh.device.Measured;
import io.musabench.jmh.device.Metric;
import io.musabench.jmh.device.SessionLimits;
import io.musabench.jmh.device.WrongResultException;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.ModelConfig;
import io.musabench.results.stopping.Stopping;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A graph must see what is written before each replay: ids, positions, slots, pages, lengths. */
class ReplayTest {
  private static final String TINY = TinyModel.config(64);

  private static final int MOMENTS = 3;

  private DeviceContext context;
  private Inputs inputs;

  @BeforeEach
  void open() {
    MusabenchProcess.requireNativeLibraries();
    context = DeviceContext.open();
    inputs = new Inputs(context, DType.BF16, 1);
  }

  @AfterEach
  void close() {
    if (context != null) {
      context.close();
    }
  }

  private ModelStep create(String config, String batch) {
    return ModelStep.create(
        inputs,
        ModelConfig.parse("tiny", config).layout(1),
        BatchSpec.parse(batch),
        16,
        false,
        MOMENTS,
        Libraries.attention(Libraries.PORTABLE, inputs, 0, MateOptions.DEFAULT),
        Libraries.products(Libraries.PORTABLE, inputs));
  }

  private ModelStep step(String batch) {
    ModelStep step = create(TINY, batch);
    step.verifyKernelByKernel(context);
    step.poison();
    new CallList(step.calls()).launch();
    context.synchronize();
    step.verifyFirstResult();
    step.verifyStates(context);
    return step;
  }

  private void replay(GraphExec exec, ModelStep step) {
    step.poison();
    exec.launch(context.stream());
    context.synchronize();
  }

  private GraphExec capture(ModelStep step) {
    CallList calls = new CallList(step.calls());
    try (Graph graph = context.target().runtime().capture(context.stream(), calls::launch)) {
      return graph.instantiate();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"q1s2", "q1s100", "5q1s200", "3q1s33_2q1s160", "2q20s100", "q40"})
  void replaysGiveWhatEagerRunsOfTheSameInputsGive(String batch) {
    ModelStep step = step(batch);
    try (GraphExec exec = capture(step)) {
      for (int turn = 0; turn < 2; turn++) {
        for (int state = 0; state <= MOMENTS; state++) {
          step.inputs().set(step.states().get(state));
          replay(exec, step);
          step.verify(state);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp8", "awq"})
  void quantisedWeightsAreRefusedBecauseNoKernelHereMultipliesThem(String method) {
    String quantised =
        TINY.replaceFirst(
            "\\{", "{\"quantization_config\": {\"quant_method\": \"" + method + "\"},");
    assertThatThrownBy(() -> create(quantised, "q1s2"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("tiny has quantised weights (" + method + "), which no kernel here multiplies");
  }

  @Test
  void aStepThatDoesNotFitIsRefusedBeforeItsMemoryIsTaken() {
    assertThatThrownBy(() -> step("q1s1k_200000q1s100k"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("GB for weights and KV cache", "set tp");
  }

  @Test
  void everyStateHasOtherPagesAndLengths() {
    List<BatchState> states = step("5q1s200").states();
    assertThat(states).hasSize(1 + MOMENTS);
    for (BatchState a : states) {
      for (BatchState b : states) {
        if (a != b) {
          assertThat(a.pageTable()).isNotEqualTo(b.pageTable());
          assertThat(a.lengths()).isNotEqualTo(b.lengths());
          assertThat(Arrays.stream(a.slots()).boxed().toList())
              .doesNotContainAnyElementsOf(Arrays.stream(b.slots()).boxed().toList());
        }
      }
    }
  }

  @Test
  void inputsThatDoNotReachTheGraphAreCaught() {
    ModelStep step = step("5q1s200");
    try (GraphExec exec = capture(step)) {
      BatchState right = step.states().get(1);
      step.inputs().set(right);
      replay(exec, step);
      assertThatCode(() -> step.verify(1)).doesNotThrowAnyException();
      assertThatThrownBy(() -> step.verify(2)).isInstanceOf(WrongResultException.class);

      int[] lengths = right.lengths().clone();
      lengths[3]--;
      int[] pages = right.pageTable().clone();
      pages[0] = pages[1];
      int[] positions = right.positions().clone();
      positions[2]++;
      int[] ids = right.ids().clone();
      ids[4] = (ids[4] + 1) % 512;
      List<BatchState> wrong =
          List.of(
              new BatchState(
                  right.ids(), right.positions(), right.slots(), right.pageTable(), lengths),
              new BatchState(right.ids(), right.positions(), right.slots(), pages, right.lengths()),
              new BatchState(
                  right.ids(), positions, right.slots(), right.pageTable(), right.lengths()),
              new BatchState(
                  ids, right.positions(), right.slots(), right.pageTable(), right.lengths()));
      for (BatchState state : wrong) {
        step.inputs().set(state);
        replay(exec, step);
        assertThatThrownBy(() -> step.verify(1)).isInstanceOf(WrongResultException.class);
      }
    }
  }

  @Test
  void aPaddedGraphGivesTheSameTokensAndDisturbsTheExactOneNot() {
    ModelStep step = step("5q1s200");
    ModelStep padded = step.padded(inputs, 8);
    padded.verifyPadded(context, step);
    try (GraphExec exec = capture(padded);
        GraphExec exact = capture(step)) {
      for (int i = 0; i < 2; i++) {
        replay(exec, padded);
        padded.verify(0);
        replay(exact, step);
        step.verify(0);
      }
    }
  }

  @Test
  void allWaysAreTimedInEachRound() {
    ModelStep step = step("5q1s200");
    ModelStep padded = step.padded(inputs, 8);
    padded.verifyPadded(context, step);
    try (GraphTimer timer = new GraphTimer(context, step, padded, 8, 1e6)) {
      Map<String, double[]> found =
          timer
              .run(new SessionLimits(1e-6, 100, 2, 10, new Stopping("samples:3")))
              .metrics()
              .stream()
              .collect(Collectors.toMap(Metric::name, Metric::values));
      for (String name :
          List.of(
              Measured.EAGER_SPAN,
              Measured.HOST_TIME,
              Measured.UPDATED_SPAN,
              Measured.UPDATE,
              Measured.PADDED_DEVICE)) {
        assertThat(found.get(name)).as(name).hasSize(3).satisfies(ReplayTest::positive);
      }
      assertThat(found.get(Measured.GRAPH_CAPTURE)).hasSize(3).satisfies(ReplayTest::positive);
      assertThat(found.get(Measured.PADDED_REQUESTS)).containsExactly(8);
      double[] update = found.get(Measured.UPDATE);
      double[] span = found.get(Measured.UPDATED_SPAN);
      for (int i = 0; i < update.length; i++) {
        assertThat(update[i]).isLessThan(span[i]);
      }
    }
  }

  private static void positive(double[] values) {
    assertThat(Arrays.stream(values).allMatch(value -> value > 0)).isTrue();
  }
}
