package io.musabench.results.tpot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.Layout;
import io.musabench.results.model.ModelOperations;
import io.musabench.results.model.Models;
import io.musabench.results.model.Operation;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.kernels.LaunchCosts;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StepModelTest {
  private static final Layout LAYOUT = Models.find("Qwen3-32B").layout(4);
  private static final Engine ENGINE = Engine.of(LAYOUT);
  private static final AnalyticKernels KERNELS = new AnalyticKernels(1.25, 0.05, 80e9);

  private static StepModel model(Engine engine) {
    return new StepModel(engine, AnalyticKernels.times());
  }

  private static StepModel launched(Mode mode, double perKernel, double perNode, double replay) {
    LaunchCosts costs = new LaunchCosts(perKernel, perNode, replay, Provenance.MEASURED);
    return model(ENGINE.toBuilder().mode(mode).launch(costs).gapSeconds(0.001).build());
  }

  private static double sum(BatchSpec batch) {
    double sum = 0;
    for (Operation op : ModelOperations.of(LAYOUT, batch, 16)) {
      sum += op.count() * KERNELS.time(op.call(), Precision.BF16).orElseThrow().seconds();
    }
    return sum;
  }

  @ParameterizedTest
  @ValueSource(strings = {"8q1s1k", "q1k", "q1k_8q1s2k"})
  void anEngineMayLaunchMoreInALayerThanTheOperationsAre(String spec) {
    BatchSpec batch = BatchSpec.parse(spec);
    Engine eager =
        ENGINE.toBuilder()
            .mode(Mode.EAGER)
            .launch(new LaunchCosts(1e-4, 1e-6, 1e-5, Provenance.MEASURED))
            .build();
    StepTime own = model(eager).step(batch);
    StepTime more = model(eager.toBuilder().launchesPerLayer(15).build()).step(batch);
    // Once a step: embedding and its all-reduce, last norm, lm_head, gather, sampler; rows of
    // logits where there are fewer than tokens.
    int outside = spec.startsWith("q") ? 7 : 6;
    assertThat(more.kernels()).isEqualTo(outside + 64 * 15);
    assertThat(more.hostSeconds()).isCloseTo((outside + 64 * 15) * 1e-4, within(1e-12));
    assertThat(more.deviceSeconds()).isEqualTo(own.deviceSeconds());
    if (!batch.isMixed()) {
      assertThat(own.kernels()).isEqualTo(outside + 64 * ModelOperations.inLayer(LAYOUT));
    }
    Engine graph = eager.toBuilder().mode(Mode.GRAPH).launchesPerLayer(15).build();
    StepTime nodes = model(graph).step(batch);
    assertThat(nodes.deviceSeconds() - nodes.kernelSeconds())
        .isCloseTo((outside + 64 * 15) * 1e-6, within(1e-12));
  }

  @ParameterizedTest
  @ValueSource(strings = {"8q1s1k", "q1k", "2q512s4k", "q1k_8q1s2k", "q512s2k_8q1s2k", "8q4s1k"})
  void aStepIsTheSumOfItsOperations(String spec) {
    BatchSpec batch = BatchSpec.parse(spec);
    StepModel model = model(ENGINE);
    for (int time = 0; time < 2; time++) {
      StepTime step = model.step(batch);
      assertThat(step.kernelSeconds()).isCloseTo(sum(batch), within(1e-12));
      assertThat(step.seconds()).isEqualTo(step.kernelSeconds());
      assertThat(step.terms().stream().map(t -> t.role() + " " + t.call() + " " + t.count()))
          .containsExactlyElementsOf(
              ModelOperations.of(LAYOUT, batch, 16).stream()
                  .map(o -> o.role() + " " + o.call() + " " + o.count())
                  .toList());
    }
  }

  @Test
  void theWaysToNameAStepAgree() {
    StepModel model = model(ENGINE);
    assertThat(model.decode(8, 1024)).isEqualTo(model.step(BatchSpec.parse("8q1s1k")));
    assertThat(model.prefill(2, 512, 512)).isEqualTo(model.step(BatchSpec.parse("2q512s1k")));
    assertThat(model.mixed(4, 1024, 1, 256, 0))
        .isEqualTo(model.step(BatchSpec.parse("q256_4q1s1k")));
    assertThat(model.mixed(0, 1024, 1, 256, 0)).isEqualTo(model.prefill(1, 256, 0));
  }

  @Test
  void eagerTakesTheLongerOfHostAndDevice() {
    StepTime fast = launched(Mode.EAGER, 1e-9, 5e-6, 1).decode(8, 1024);
    assertThat(fast.hostBound()).isFalse();
    assertThat(fast.seconds()).isCloseTo(fast.kernelSeconds() + 0.001, within(1e-12));
    StepTime slow = launched(Mode.EAGER, 1e-4, 5e-6, 1).decode(8, 1024);
    assertThat(slow.hostBound()).isTrue();
    assertThat(slow.bound()).isEqualTo(Bound.HOST);
    assertThat(slow.kernels())
        .isEqualTo(slow.terms().stream().mapToInt(Term::count).sum())
        .isGreaterThan(64 * 10);
    assertThat(slow.seconds()).isCloseTo(slow.kernels() * 1e-4 + 0.001, within(1e-12));
  }

  @Test
  void aGraphAddsItsNodesAndCanBeBoundByItsReplay() {
    StepTime step = launched(Mode.GRAPH, 1, 1e-6, 1e-5).decode(8, 1024);
    assertThat(step.hostBound()).isFalse();
    assertThat(step.deviceSeconds())
        .isCloseTo(step.kernelSeconds() + step.kernels() * 1e-6, within(1e-12));
    assertThat(step.seconds()).isCloseTo(step.deviceSeconds() + 0.001, within(1e-12));
    StepTime bound = launched(Mode.GRAPH, 1, 1e-6, 1).decode(8, 1024);
    assertThat(bound.hostBound()).isTrue();
    assertThat(bound.seconds()).isCloseTo(1.001, within(1e-12));
  }

  @Test
  void aStepIsNoMoreCertainThanTheLaunchingThatItWaitsFor() {
    LaunchCosts assumed = new LaunchCosts(1e-4, Double.NaN, Double.NaN, Provenance.ASSUMED);
    Engine eager = ENGINE.toBuilder().mode(Mode.EAGER).launch(assumed).build();
    assertThat(model(eager).decode(8, 1024).provenance()).isEqualTo(Provenance.ASSUMED);
    // Here the device is the slower one, and a graph does not launch its kernels one by one.
    assertThat(model(eager).prefill(1, 8192, 0).hostBound()).isFalse();
    assertThat(model(eager).prefill(1, 8192, 0).provenance()).isEqualTo(Provenance.MEASURED);
    Engine graph = eager.toBuilder().mode(Mode.GRAPH).build();
    assertThat(model(graph).decode(8, 1024).provenance()).isEqualTo(Provenance.MEASURED);
    LaunchCosts nodes = new LaunchCosts(0, 1e-6, 0, Provenance.ASSUMED);
    assertThat(model(graph.toBuilder().launch(nodes).build()).decode(8, 1024).provenance())
        .isEqualTo(Provenance.ASSUMED);
    assertThat(model(ENGINE.toBuilder().gapSeconds(1e-3).build()).decode(8, 1024).provenance())
        .isEqualTo(Provenance.ASSUMED);
  }

  @Test
  void unknownLaunchCostsCountAsNothing() {
    StepTime eager = launched(Mode.EAGER, Double.NaN, Double.NaN, Double.NaN).decode(8, 1024);
    StepTime graph = launched(Mode.GRAPH, Double.NaN, Double.NaN, Double.NaN).decode(8, 1024);
    assertThat(eager.seconds()).isCloseTo(eager.kernelSeconds() + 0.001, within(1e-12));
    assertThat(graph.seconds()).isCloseTo(graph.kernelSeconds() + 0.001, within(1e-12));
  }

  @Test
  void aGraphComputesItsCapturedSizeButAttendsToTheRealRequests() {
    StepModel model = model(ENGINE.toBuilder().captureSizes(Engine.VLLM_CAPTURE_SIZES).build());
    StepTime nine = model.decode(9, 1024);
    StepTime sixteen = model.decode(16, 1024);
    for (int i = 0; i < nine.terms().size(); i++) {
      Term small = nine.terms().get(i);
      Term large = sixteen.terms().get(i);
      if (small.role().equals("attention")) {
        assertThat(small.call().shape()).contains("9q1s1k");
      } else {
        assertThat(small).isEqualTo(large);
      }
    }
  }

  @Test
  void beyondTheLargestGraphAStepRunsEagerly() {
    LaunchCosts costs = new LaunchCosts(1, 0, 0, Provenance.MEASURED);
    StepModel model =
        model(ENGINE.toBuilder().captureSizes(Engine.VLLM_CAPTURE_SIZES).launch(costs).build());
    assertThat(model.decode(512, 1024).hostBound()).isFalse();
    StepTime large = model.prefill(1, 513, 0);
    assertThat(large.hostBound()).isTrue();
    assertThat(large.hostSeconds()).isEqualTo(large.kernels());
  }

  @Test
  void requestsCostTheHostTime() {
    StepModel model = model(ENGINE.toBuilder().gapSeconds(0.001).perRequestSeconds(2e-5).build());
    StepTime step = model.decode(50, 1024);
    assertThat(step.gapSeconds()).isCloseTo(0.002, within(1e-12));
    assertThat(step.seconds()).isCloseTo(step.kernelSeconds() + 0.002, within(1e-12));
  }

  @Property(tries = 200)
  void noStepBeatsTheRoofs(
      @ForAll @IntRange(min = 1, max = 300) int batch,
      @ForAll @IntRange(min = 2, max = 30000) int context) {
    StepModel model = model(ENGINE);
    double roof = 0;
    for (Term t : model.decode(batch, context).terms()) {
      roof += t.count() * KERNELS.roofs().seconds(t.call(), Precision.BF16);
    }
    assertThat(model.decode(batch, context).seconds()).isGreaterThan(roof);
  }

  @Test
  void aScaledModelChangesOnlyTheOperationsAskedFor() {
    StepModel model = model(ENGINE);
    StepTime before = model.decode(8, 1024);
    StepTime after =
        model.scaled((role, call, time) -> role.equals("down") ? 3 : 1).decode(8, 1024);
    double down =
        before.terms().stream()
            .filter(t -> t.role().equals("down"))
            .mapToDouble(Term::seconds)
            .sum();
    assertThat(after.seconds()).isCloseTo(before.seconds() + 2 * down, within(1e-12));
  }

  @Test
  void termsSayWhatBindsThem() {
    StepModel model = model(ENGINE);
    assertThat(model.decode(1, 1024).bound()).isEqualTo(Bound.MEMORY_BANDWIDTH);
    assertThat(model.prefill(1, 4096, 0).bound()).isEqualTo(Bound.COMPUTE);
    assertThat(
            model.decode(1, 1024).terms().stream()
                .filter(t -> t.role().equals("all_reduce"))
                .map(Term::bound))
        .isNotEmpty()
        .containsOnly(Bound.LINK);
  }

  @Test
  void aStepsSharesAddUp() {
    StepTime step = model(ENGINE).decode(8, 1024);
    assertThat(step.terms().stream().mapToDouble(step::share).sum()).isCloseTo(1, within(1e-12));
    assertThat(step.share(Provenance.MEASURED)).isCloseTo(1, within(1e-12));
    assertThat(step.share(Provenance.ASSUMED)).isZero();
  }

  @Test
  void theKvCacheTakesWhatTheWeightsLeave() {
    // Qwen3-32B at TP 4: 16.4 GB of weights, 65536 bytes a token (arithmetic of its config.json).
    double room = 80e9 * 0.9 - 3.5 * (1 << 30) - 2.0 * LAYOUT.parameters();
    assertThat(model(ENGINE).kvTokens()).isEqualTo((long) (room / 65536));
    assertThat(model(ENGINE.toBuilder().kvTokens(1000).build()).kvTokens()).isEqualTo(1000);
    // In fp8 the weights leave more, but embedding and lm_head, 37984 rows of 5120 each, do not.
    double inFp8 = room + LAYOUT.parameters() - 2 * 37984 * 5120;
    assertThat(model(ENGINE.toBuilder().precision(Precision.FP8).build()).kvTokens())
        .isEqualTo((long) (inFp8 / 65536));
  }

  @Test
  void vllmsCaptureSizesAreRight() {
    assertThat(Engine.VLLM_CAPTURE_SIZES).startsWith(1, 2, 4, 8, 16).endsWith(496, 512);
    assertThat(Engine.VLLM_CAPTURE_SIZES).contains(248, 256, 272).doesNotContain(264).hasSize(51);
  }

  @Test
  void aWrongEngineIsRefusedInWords() {
    assertThatThrownBy(() -> Engine.of(LAYOUT).toBuilder().pageSize(0).build())
        .hasMessage("The page size cannot be 0");
    assertThatThrownBy(() -> Engine.of(LAYOUT).toBuilder().captureSizes(List.of(4, 2)).build())
        .hasMessageContaining("captured sizes");
    assertThatThrownBy(() -> Engine.of(LAYOUT).toBuilder().gapSeconds(Double.NaN).build())
        .hasMessageContaining("gap");
  }
}
