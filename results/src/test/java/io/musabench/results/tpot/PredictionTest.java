package io.musabench.results.tpot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.Layout;
import io.musabench.results.model.Models;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Prediction.State;
import io.musabench.results.tpot.kernels.KernelTimes;
import io.musabench.results.tpot.kernels.LaunchCosts;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The closed loop over kernel times: what must hold whatever the kernels are. */
class PredictionTest {
  private static final Layout LAYOUT = Models.find("Qwen3-32B").layout(4);
  private static final KernelTimes TIMES = AnalyticKernels.times();

  /** A server and what is asked of it. */
  record Service(Engine engine, Workload workload) {
    StepModel model() {
      return new StepModel(engine, TIMES);
    }

    Prediction predict() {
      return ClosedLoop.predict(model(), workload);
    }
  }

  private static StepModel model(Engine.Builder engine) {
    return new StepModel(engine.build(), TIMES);
  }

  private static Engine.Builder engine() {
    return Engine.of(LAYOUT).toBuilder().tokenBudget(0);
  }

  @Provide
  Arbitrary<Service> services() {
    Arbitrary<Engine> engines =
        Combinators.combine(
                Arbitraries.of(Mode.values()),
                Arbitraries.of(List.<Integer>of(), Engine.VLLM_CAPTURE_SIZES),
                Arbitraries.of(0, 512, 2048, 8192),
                Arbitraries.of(0.0, 2e-6, 1e-5, 1e-4),
                Arbitraries.of(0.0, 1e-3, 3e-3),
                Arbitraries.of(0L, 20_000L, 200_000L),
                Arbitraries.of(16, 1024))
            .as(
                (mode, sizes, budget, launch, gap, kv, running) ->
                    engine()
                        .mode(mode)
                        .captureSizes(sizes)
                        .tokenBudget(budget)
                        .launch(new LaunchCosts(launch, launch / 20, launch, Provenance.MEASURED))
                        .gapSeconds(gap)
                        .perRequestSeconds(gap / 50)
                        .kvTokens(kv)
                        .maxRunning(running)
                        .build());
    Arbitrary<Workload> loads =
        Combinators.combine(
                Arbitraries.integers().between(1, 256),
                Arbitraries.integers().between(1, 8192),
                Arbitraries.integers().between(2, 1024),
                Arbitraries.of(0.0, 0.0, 0.5, 1.0),
                Arbitraries.of(new Speculation(0.7, 3, 5e-4)).injectNull(0.7))
            .as((c, in, out, hits, draft) -> new Workload(c, in, out, hits, null, draft));
    return Combinators.combine(engines, loads).as(Service::new);
  }

  @Test
  void aRequestFitsIntoTheContextWithItsWholeAnswer() {
    int context = LAYOUT.model().maxPositions();
    StepModel model = model(engine());
    // Half of the answer, over which a decode step attends on average, would fit.
    assertThatThrownBy(() -> ClosedLoop.predict(model, new Workload(1, context - 255, 256)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("A request of 40705 tokens in and 256 out is longer than");
    Disaggregation separate = new Disaggregation(1, 1, 50, 0);
    assertThatThrownBy(
            () -> ClosedLoop.predictWithInterval(model, new Workload(8, context, 2).with(separate)))
        .hasMessageContaining("context of Qwen3-32B, 40960 tokens");
    assertThat(ClosedLoop.predict(model, new Workload(1, context - 256, 256)).tpot().value())
        .isPositive();
  }

  @Property(tries = 300)
  void littlesLawHolds(@ForAll("services") Service s) {
    Prediction p = s.predict();
    double latency =
        p.ttftStaggered().value() + (s.workload().outputTokens() - 1) * p.tpot().value();
    assertThat(p.requestsPerSecond() * latency)
        .isCloseTo(s.workload().concurrency(), withinPercentage(1e-6));
    assertThat(p.runningRequests() + p.waitingRequests()).isEqualTo(s.workload().concurrency());
  }

  @Property(tries = 300)
  void nobodyIsFasterThanTheStepsAlone(@ForAll("services") Service s) {
    Prediction p = s.predict();
    double tokens =
        s.workload().speculation() == null ? 1 : s.workload().speculation().tokensPerStep();
    // A step with a chunk of one prompt has one decode less than a step without.
    if (s.engine().tokenBudget() == 0) {
      assertThat(p.tpot().value() * tokens)
          .isGreaterThanOrEqualTo(p.decodeStep().seconds() * (1 - 1e-12));
    }
    assertThat(p.ttftStaggered().value())
        .isGreaterThanOrEqualTo(p.prefillStep().seconds() * (1 - 1e-12));
    assertThat(p.ttftBurst().value()).isGreaterThanOrEqualTo(p.ttftStaggered().value());
  }

  @Property(tries = 300)
  void tpotIsNeverBelowTheRoofline(@ForAll("services") Service s) {
    Prediction p = s.predict();
    double roof = 0;
    for (Term t : p.decodeStep().terms()) {
      roof += t.count() * TIMES.source().roofs().seconds(t.call(), Precision.BF16);
    }
    double tokens =
        s.workload().speculation() == null ? 1 : s.workload().speculation().tokensPerStep();
    assertThat(p.tpot().value() * tokens).isGreaterThan(roof);
  }

  @Property(tries = 300)
  void oneRequestAtATimeIsTheSumOfItsSteps(@ForAll("services") Service s) {
    Workload w = s.workload();
    Workload alone =
        new Workload(
            1, w.inputTokens(), w.outputTokens(), w.prefixHitShare(), null, w.speculation());
    Prediction p = ClosedLoop.predict(s.model(), alone);
    double n = alone.outputTokens() - 1;
    double draft = 0;
    if (w.speculation() != null) {
      n /= w.speculation().tokensPerStep();
      draft = w.speculation().guesses() * w.speculation().draftSeconds();
    }
    int chunks =
        s.engine().tokenBudget() == 0
            ? 1
            : 1 + (w.inputTokens() - alone.cachedTokens(16) - 1) / s.engine().tokenBudget();
    double first =
        chunks * (p.prefillStep().seconds() + (s.engine().tokenBudget() == 0 ? 0 : draft));
    assertThat(p.ttftStaggered().value()).isCloseTo(first, withinPercentage(1e-9));
    assertThat(1 / p.requestsPerSecond())
        .isCloseTo(first + n * (p.decodeStep().seconds() + draft), withinPercentage(1e-9));
    assertThat(p.waitingRequests()).isZero();
  }

  @Test
  void oneRequestSpendsTheSameShareInItsPrefillWhetherItFillsAStepOrNot() {
    Workload w = new Workload(1, 1024, 256);
    Prediction whole = ClosedLoop.predict(model(engine()), w);
    Prediction chunk = ClosedLoop.predict(model(engine().tokenBudget(2048)), w);
    double p = whole.prefillStep().seconds();
    assertThat(whole.prefillShare().value())
        .isCloseTo(p / (p + 255 * whole.decodeStep().seconds()), withinPercentage(1e-9));
    assertThat(chunk.prefillShare().value())
        .isCloseTo(whole.prefillShare().value(), withinPercentage(1e-9));
  }

  @Property(tries = 300)
  void aFasterKernelNeverRaisesTpot(
      @ForAll("services") Service s,
      @ForAll @DoubleRange(min = 0.3, max = 1) double faster,
      @ForAll @IntRange(min = 0, max = 5) int which) {
    String kernel =
        List.of("gemm", "paged_attention", "fmha_prefill", "all_reduce", "rms_norm", "argmax")
            .get(which);
    StepModel model =
        s.model().scaled((role, call, time) -> call.kernel().equals(kernel) ? faster : 1);
    Prediction before = s.predict();
    Prediction after = ClosedLoop.predict(model, s.workload());
    assertThat(after.tpot().value()).isLessThanOrEqualTo(before.tpot().value() * (1 + 1e-9));
    assertThat(after.requestsPerSecond())
        .isGreaterThanOrEqualTo(before.requestsPerSecond() * (1 - 1e-9));
  }

  /** Beside another prompt a step is too large for a graph, and the host alone says how long. */
  @Test
  void aFasterKernelNeverLowersThroughputWherePromptsMeetInAnEagerStep() {
    LaunchCosts launch = new LaunchCosts(1e-4, 5e-6, 1e-4, Provenance.MEASURED);
    Engine engine =
        engine()
            .captureSizes(Engine.VLLM_CAPTURE_SIZES)
            .tokenBudget(2048)
            .maxRunning(16)
            .launch(launch)
            .build();
    Workload w = new Workload(2, 509, 2, 0, null, new Speculation(0.7, 3, 5e-4));
    StepModel model = new StepModel(engine, TIMES);
    StepModel faster = model.scaled((role, call, time) -> call.kernel().equals("gemm") ? 0.3 : 1);
    assertThat(ClosedLoop.predict(faster, w).requestsPerSecond())
        .isGreaterThanOrEqualTo(ClosedLoop.predict(model, w).requestsPerSecond());
  }

  @Property(tries = 300)
  void doublingEveryTimeDoublesTheLatencies(@ForAll("services") Service s) {
    Engine e = s.engine();
    LaunchCosts l = e.launch();
    Engine slow =
        e.toBuilder()
            .launch(
                new LaunchCosts(
                    2 * l.perKernelSeconds(),
                    2 * l.perNodeSeconds(),
                    2 * l.replaySeconds(),
                    l.provenance()))
            .gapSeconds(2 * e.gapSeconds())
            .perRequestSeconds(2 * e.perRequestSeconds())
            .build();
    Workload w = s.workload();
    Workload slowDraft =
        w.speculation() == null
            ? w
            : w.with(
                new Speculation(
                    w.speculation().acceptance(),
                    w.speculation().guesses(),
                    2 * w.speculation().draftSeconds()));
    Prediction once = s.predict();
    Prediction twice =
        ClosedLoop.predict(new StepModel(slow, TIMES).scaled((role, call, time) -> 2), slowDraft);
    assertThat(twice.tpot().value()).isCloseTo(2 * once.tpot().value(), withinPercentage(1e-9));
    assertThat(twice.ttftStaggered().value())
        .isCloseTo(2 * once.ttftStaggered().value(), withinPercentage(1e-9));
    assertThat(twice.ttftBurst().value())
        .isCloseTo(2 * once.ttftBurst().value(), withinPercentage(1e-9));
    assertThat(twice.requestsPerSecond())
        .isCloseTo(once.requestsPerSecond() / 2, withinPercentage(1e-9));
    assertThat(twice.state()).isEqualTo(once.state());
  }

  @Property(tries = 300)
  void aGraphIsNeverSlowerThanEagerWhereItsNodesAndItsReplayCostLess(
      @ForAll("services") Service s) {
    assertThatAGraphIsNotSlower(s);
  }

  /** Here 5.6 requests run: cheaper launches must not let the sixth in. */
  @Test
  void aBudgetBetweenTwoNumbersOfRequestsDoesNotMakeAGraphSlower() {
    Engine engine = engine().tokenBudget(512).maxRunning(16).build();
    Workload w = new Workload(10, 232, 3, 0.5, null, new Speculation(0.7, 3, 5e-4));
    assertThatAGraphIsNotSlower(new Service(engine, w));
  }

  private static void assertThatAGraphIsNotSlower(Service s) {
    Engine.Builder b = s.engine().toBuilder().captureSizes(List.of());
    LaunchCosts costs = new LaunchCosts(2e-5, 0, 1e-5, Provenance.MEASURED);
    double eager =
        ClosedLoop.predict(model(b.launch(costs).mode(Mode.EAGER)), s.workload()).tpot().value();
    double graph =
        ClosedLoop.predict(model(b.launch(costs).mode(Mode.GRAPH)), s.workload()).tpot().value();
    assertThat(graph).isLessThanOrEqualTo(eager * (1 + 1e-12));
  }

  @Property(tries = 200)
  void aDeviceIsNotBusyForMoreThanAllTheTime(@ForAll("services") Service s) {
    Service whole = new Service(s.engine().toBuilder().tokenBudget(0).build(), s.workload());
    Prediction p = whole.predict();
    Workload w = s.workload();
    double draft = w.speculation() == null ? 0 : 3 * w.speculation().draftSeconds();
    double tokens = w.speculation() == null ? 1 : w.speculation().tokensPerStep();
    double steps = (w.outputTokens() - 1) / tokens / p.runningRequests();
    double busy = p.prefillStep().seconds() + steps * (p.decodeStep().seconds() + draft);
    assertThat(p.requestsPerSecond() * busy).isLessThanOrEqualTo(1 + 1e-9);
  }

  @Property(tries = 200)
  void promptsThatShareStepsDoNotComeFasterThanTheyAreComputed(
      @ForAll @IntRange(min = 1, max = 16) int concurrency,
      @ForAll @IntRange(min = 64, max = 8192) int input,
      @ForAll @IntRange(min = 2, max = 16) int output,
      @ForAll @IntRange(min = 512, max = 8192) int budget) {
    StepModel model = model(engine().tokenBudget(budget));
    Prediction p = ClosedLoop.predict(model, new Workload(concurrency, input, output));
    // What a prompt adds to a step at least: its products at the rate of a large step.
    double full = model.prefill(1, 8192, 0).seconds();
    double least = (full - model.prefill(1, 4096, 0).seconds()) * input / 8192;
    assertThat(p.requestsPerSecond()).isLessThan(1 / least);
  }

  @Property(tries = 200)
  void moreRequestsHardlyLowerThroughputOfChunks(
      @ForAll @IntRange(min = 1, max = 16) int concurrency,
      @ForAll @IntRange(min = 64, max = 8192) int input,
      @ForAll @IntRange(min = 8, max = 512) int output,
      @ForAll @IntRange(min = 512, max = 8192) int budget) {
    StepModel model = model(engine().tokenBudget(budget));
    double before =
        ClosedLoop.predict(model, new Workload(concurrency, input, output)).requestsPerSecond();
    double after =
        ClosedLoop.predict(model, new Workload(concurrency + 1, input, output)).requestsPerSecond();
    assertThat(after).isGreaterThanOrEqualTo(before * (1 - 1e-3));
  }

  @Property(tries = 200)
  void moreRequestsNeverLowerThroughputOfSeparatePrefill(
      @ForAll @IntRange(min = 1, max = 8) int concurrency,
      @ForAll @IntRange(min = 64, max = 8192) int input,
      @ForAll @IntRange(min = 2, max = 16) int output,
      @ForAll @IntRange(min = 1, max = 3) int prefillers) {
    Disaggregation pd = new Disaggregation(prefillers, 1, 50, 0);
    StepModel model = model(engine());
    Prediction before =
        ClosedLoop.predict(model, new Workload(concurrency, input, output).with(pd));
    Prediction after =
        ClosedLoop.predict(model, new Workload(concurrency + 1, input, output).with(pd));
    assertThat(after.requestsPerSecond())
        .isGreaterThanOrEqualTo(before.requestsPerSecond() * (1 - 1e-9));
    assertThat(after.requestsPerSecond() * after.prefillStep().seconds())
        .isLessThanOrEqualTo(prefillers * (1 + 1e-9));
  }

  /** Prompts fill steps without gaps, so that no length is special. */
  @Property(tries = 200)
  void aLittleLongerPromptsHardlyChangeTheBurst(
      @ForAll @IntRange(min = 16, max = 64) int concurrency,
      @ForAll @IntRange(min = 64, max = 2000) int input,
      @ForAll @IntRange(min = 2048, max = 8192) int budget) {
    StepModel model = model(engine().tokenBudget(budget));
    double before =
        ClosedLoop.predict(model, new Workload(concurrency, input, 256)).ttftBurst().value();
    double after =
        ClosedLoop.predict(model, new Workload(concurrency, input + 1, 256)).ttftBurst().value();
    assertThat(after / before).isBetween(0.98, 1.1);
  }

  @Property(tries = 200)
  void aLargerKvCacheNeverLowersThroughput(@ForAll("services") Service s) {
    double[] rates = ratesOfTwoCaches(s, 0);
    assertThat(rates[1]).isGreaterThanOrEqualTo(rates[0] * (1 - 1e-9));
  }

  @Property(tries = 200)
  void aLargerKvCacheNeverLowersThroughputOfChunks(
      @ForAll("services") Service s, @ForAll @IntRange(min = 512, max = 8192) int budget) {
    double[] rates = ratesOfTwoCaches(s, budget);
    assertThat(rates[1]).isGreaterThanOrEqualTo(rates[0] * (1 - 1e-9));
  }

  private static double[] ratesOfTwoCaches(Service s, int budget) {
    // Beyond the largest graph a step is launched kernel by kernel: there, more requests in it may
    // answer less.
    Engine.Builder b = s.engine().toBuilder().captureSizes(List.of()).tokenBudget(budget);
    return java.util.stream.LongStream.of(50_000, 500_000)
        .mapToDouble(
            kv -> ClosedLoop.predict(model(b.kvTokens(kv)), s.workload()).requestsPerSecond())
        .toArray();
  }

  @Test
  void requestsThatDoNotFitWaitAndThatIsSaid() {
    Workload w = new Workload(128, 4096, 1024);
    Prediction p = ClosedLoop.predict(model(engine().kvTokens(311_000)), w);
    assertThat(p.state()).isEqualTo(State.SATURATED);
    assertThat(p.bound()).isEqualTo(Bound.KV_CAPACITY);
    assertThat(p.runningRequests()).isEqualTo(311_000 / (4096 + 512));
    assertThat(p.waitingRequests()).isEqualTo(128 - p.runningRequests());
    assertThat(p.remark()).isEqualTo("saturated: the KV cache holds 67 of the 128 requests");
    assertThat(p.ttftStaggered().value())
        .isGreaterThan(p.waitingRequests() / p.requestsPerSecond());

    Prediction limited = ClosedLoop.predict(model(engine().maxRunning(32)), w);
    assertThat(limited.bound()).isEqualTo(Bound.RUNNING_LIMIT);
    assertThat(limited.runningRequests()).isEqualTo(32);
    assertThat(limited.remark()).isEqualTo("saturated: the server runs 32 of the 128 requests");
  }

  @Test
  void requestsThatFitOnlyUntilTheyGrowAreDroppedAndComputedAgain() {
    // 64 prompts fit, 64 whole requests do not.
    Workload w = new Workload(64, 4096, 1024);
    Prediction fits = ClosedLoop.predict(model(engine().kvTokens(64 * 5120)), w);
    Prediction tight = ClosedLoop.predict(model(engine().kvTokens(60 * 5120)), w);
    assertThat(fits.state()).isEqualTo(State.OK);
    assertThat(tight.state()).isEqualTo(State.SATURATED);
    assertThat(tight.runningRequests()).isEqualTo(64);
    assertThat(tight.remark())
        .isEqualTo(
            "saturated: the KV cache holds the prompts of all 64 requests, but not their answers:"
                + " some are dropped and computed again");
    assertThat(tight.tpot().value()).isGreaterThan(fits.tpot().value());
    assertThat(tight.prefillShare().value()).isGreaterThan(fits.prefillShare().value());
  }

  @Test
  void notOneRequestIsAnError() {
    assertThatThrownBy(
            () -> ClosedLoop.predict(model(engine().kvTokens(1000)), new Workload(1, 1000, 100)))
        .hasMessageContaining("holds 1000 tokens, not even one request of 1100");
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "0.5, 512", "0.99, 1008", "1, 1008"})
  void prefixHitsCountInWholePagesAndTheLastTokenIsComputed(double share, int cached) {
    Workload w = new Workload(8, 1024, 256).withPrefixHits(share);
    StepModel model = model(engine());
    assertThat(ClosedLoop.predict(model, w).prefillStep())
        .isEqualTo(model.prefill(1, 1024 - cached, cached));
  }

  @Test
  void chunksFollowTheBudget() {
    // 7 others decode beside a chunk, so 505 tokens of the 512 are for prompts: 8.11 chunks.
    Workload w = new Workload(8, 4096, 256);
    Prediction p = ClosedLoop.predict(model(engine().tokenBudget(512)), w);
    assertThat(p.prefillStep().terms().stream().map(t -> t.call().shape()))
        .anyMatch(shape -> shape.contains("q505s"));
    StepModel model = model(engine().tokenBudget(512));
    double with = model.mixed(7, 4224, 1, 505, 1795).seconds();
    double k = 4096.0 / 505;
    double q = 7 * k / 255;
    double without = model.decode(8, 4224).seconds();
    assertThat(p.tpot().value()).isCloseTo(without + q * (with - without), withinPercentage(1e-9));
  }

  @Test
  void aPromptThatFillsTheBudgetKeepsOthersOut() {
    Workload w = new Workload(64, 8192, 8);
    Prediction p = ClosedLoop.predict(model(engine().tokenBudget(1024)), w);
    assertThat(p.state()).isEqualTo(State.SATURATED);
    assertThat(p.bound()).isEqualTo(Bound.TOKEN_BUDGET);
    assertThat(p.remark()).contains("the token budget of a step lets 2 of the 64 requests run");
    assertThat(p.waitingRequests()).isPositive();
  }

  /**
   * A budget, prompts and answers of some length (of few tokens the steps of the prefill are most
   * of the answer); nothing else limits and launching costs nothing.
   */
  @Provide
  Arbitrary<Service> budgets() {
    return Combinators.combine(
            Arbitraries.of(128, 256, 512, 2048, 8192),
            Arbitraries.integers().between(1, 8192),
            Arbitraries.integers().between(32, 1024),
            Arbitraries.of(new Speculation(0.7, 3, 5e-4)).injectNull(0.8))
        .as(
            (budget, in, out, draft) ->
                new Service(
                    engine().tokenBudget(budget).kvTokens(100_000_000).maxRunning(4096).build(),
                    new Workload(1, in, out, 0, null, draft)));
  }

  private static Prediction at(Service s, StepModel model, int concurrency) {
    Workload w = s.workload();
    return ClosedLoop.predict(
        model,
        new Workload(concurrency, w.inputTokens(), w.outputTokens(), 0, null, w.speculation()));
  }

  @Property(tries = 150)
  void moreInFlightNeverLowersThroughputOrTpot(@ForAll("budgets") Service s) {
    StepModel model = s.model();
    Prediction last = at(s, model, 1);
    for (int c = 2; c < 3000; c += 1 + c / 16) {
      Prediction p = at(s, model, c);
      assertThat(p.requestsPerSecond())
          .as("throughput at %d", c)
          .isGreaterThanOrEqualTo(last.requestsPerSecond() * (1 - 1e-3));
      assertThat(p.tpot().value())
          .as("TPOT at %d", c)
          .isGreaterThanOrEqualTo(last.tpot().value() * (1 - 1e-6));
      last = p;
    }
  }

  @Property(tries = 150)
  void aStepHasNoMoreTokensThanItsBudget(
      @ForAll("budgets") Service s, @ForAll @IntRange(min = 2, max = 3000) int c) {
    Prediction p = at(s, s.model(), c);
    Workload w = s.workload();
    double perStep = w.speculation() == null ? 1 : w.speculation().tokensPerStep();
    double guessed = w.speculation() == null ? 1 : 1 + w.speculation().guesses();
    double tokens = w.inputTokens() + (w.outputTokens() - 1) / perStep * guessed;
    double step = p.tpot().value() * perStep;
    assertThat(p.requestsPerSecond() * step * tokens)
        .isLessThanOrEqualTo(s.engine().tokenBudget() * (1 + 1e-9));
    if (p.bound() == Bound.TOKEN_BUDGET) {
      Prediction more = at(s, s.model(), 2 * c);
      assertThat(more.tpot().value()).isCloseTo(p.tpot().value(), withinPercentage(1e-9));
      assertThat(more.requestsPerSecond()).isCloseTo(p.requestsPerSecond(), withinPercentage(1e-9));
      assertThat(more.ttftStaggered().value()).isGreaterThan(p.ttftStaggered().value());
    }
  }

  @Test
  void throughputHasAnIntervalFromABurstToIndependentArrivals() {
    Workload w = new Workload(32, 1024, 256);
    Prediction p = ClosedLoop.predictWithInterval(model(engine()), w);
    double burst = 32 / (p.ttftBurst().value() + 255 * p.tpot().value());
    assertThat(p.throughput().low()).isLessThan(burst);
    assertThat(p.throughput().high()).isGreaterThan(p.requestsPerSecond());
    assertThat(p.outputThroughput().low()).isEqualTo(256 * p.throughput().low());
  }

  @Test
  void noIntervalReachesBelowTheRoofs() {
    // At its roof a kernel can only be slower than predicted, however uncertain it is.
    KernelTimes roofs = new KernelTimes(new AnalyticKernels(1, 0.5, 80e9, 0));
    Workload w = new Workload(32, 1024, 256);
    Prediction p = ClosedLoop.predictWithInterval(new StepModel(engine().build(), roofs), w);
    assertThat(p.tpot().low()).isEqualTo(p.tpot().value());
    assertThat(p.ttftStaggered().low()).isEqualTo(p.ttftStaggered().value());
    assertThat(p.tpot().high()).isGreaterThan(1.2 * p.tpot().value());
    assertThat(p.throughput().high()).isEqualTo(p.requestsPerSecond());
  }

  @Test
  void weightsThatDoNotFitAreSaidWithTheirSize() {
    KernelTimes small = new KernelTimes(new AnalyticKernels(1.25, 0.05, 16e9));
    assertThatThrownBy(
            () ->
                ClosedLoop.predict(
                    new StepModel(engine().build(), small), new Workload(1, 1000, 100)))
        .hasMessageContaining("The weights of")
        .hasMessageContaining("16.4 GB a rank in bf16, do not fit in 16.0 GB of memory");
  }

  @Test
  void speculationDividesTheStepByItsTokens() {
    Speculation draft = new Speculation(0.8, 3, 0.001);
    // (1 - 0.8^4) / (1 - 0.8)
    assertThat(draft.tokensPerStep()).isCloseTo(2.952, within(1e-9));
    assertThat(draft.itlAtomAtZero()).isCloseTo(1.952 / 2.952, within(1e-9));
    assertThat(new Speculation(1, 3, 0).tokensPerStep()).isEqualTo(4);
    StepModel model = model(engine());
    Prediction p = ClosedLoop.predict(model, new Workload(1, 1024, 256).with(draft));
    double step = model.step(BatchSpec.uniform(1, 4, 1155)).seconds() + 0.003;
    assertThat(p.tpot().value()).isCloseTo(step / 2.952, withinPercentage(1e-9));
    assertThat(p.itlAtomAtZero()).isCloseTo(1.952 / 2.952, within(1e-9));
  }

  @Test
  void separatePrefillTakesTheInterferenceAwayAndAddsTheTransfer() {
    StepModel model = model(engine());
    Workload w = new Workload(32, 1024, 256);
    Prediction together = ClosedLoop.predict(model, w);
    Prediction apart = ClosedLoop.predict(model, w.with(new Disaggregation(1, 1, 50, 1e-4)));
    assertThat(apart.tpot().value()).isLessThan(together.tpot().value());
    // 65536 bytes a token and rank
    double sent = 1e-4 + 1024 * 65536 / 50e9;
    double first = apart.prefillStep().seconds() + sent + apart.tpot().value();
    assertThat(apart.ttftStaggered().value()).isGreaterThan(first);
    Prediction slowLink = ClosedLoop.predict(model, w.with(new Disaggregation(1, 1, 5, 1e-4)));
    assertThat(slowLink.ttftStaggered().value()).isGreaterThan(apart.ttftStaggered().value());
  }

  /**
   * Of kernels that only decode steps have. Where prefills become faster too, more requests decode
   * at a time, and TPOT may rise with the throughput.
   */
  @Property(tries = 200)
  void fasterDecodesNeverRaiseTpotOfSeparatePrefill(
      @ForAll @IntRange(min = 1, max = 64) int concurrency,
      @ForAll @IntRange(min = 64, max = 8192) int input,
      @ForAll @IntRange(min = 2, max = 256) int output,
      @ForAll @IntRange(min = 1, max = 3) int prefillers,
      @ForAll @IntRange(min = 1, max = 3) int decoders,
      @ForAll @DoubleRange(min = 0.3, max = 1) double faster) {
    Workload w =
        new Workload(concurrency, input, output)
            .with(new Disaggregation(prefillers, decoders, 50, 0));
    StepModel model = model(engine());
    StepModel scaled =
        model.scaled((role, call, time) -> call.kernel().equals("paged_attention") ? faster : 1);
    Prediction before = ClosedLoop.predict(model, w);
    Prediction after = ClosedLoop.predict(scaled, w);
    assertThat(after.tpot().value()).isLessThanOrEqualTo(before.tpot().value() * (1 + 1e-9));
    assertThat(after.requestsPerSecond())
        .isGreaterThanOrEqualTo(before.requestsPerSecond() * (1 - 1e-9));
  }

  @Property(tries = 200)
  void littlesLawHoldsForSeparatePrefillToo(
      @ForAll @IntRange(min = 1, max = 256) int c,
      @ForAll @IntRange(min = 1, max = 4096) int input,
      @ForAll @IntRange(min = 2, max = 1024) int output,
      @ForAll @IntRange(min = 1, max = 4) int prefillers,
      @ForAll @IntRange(min = 1, max = 4) int decoders) {
    Workload w =
        new Workload(c, input, output).with(new Disaggregation(prefillers, decoders, 50, 0));
    Prediction p = ClosedLoop.predict(model(engine()), w);
    assertThat(p.requestsPerSecond() * p.prefillStep().seconds())
        .isLessThanOrEqualTo(prefillers * (1 + 1e-9));
    double latency = p.ttftStaggered().value() + (output - 1) * p.tpot().value();
    assertThat(p.requestsPerSecond() * latency).isCloseTo(c, withinPercentage(1e-6));
  }

  @Test
  void theIntervalGrowsWithTheErrorOfTheKernels() {
    Workload w = new Workload(32, 1024, 256);
    Engine engine = engine().clockError(0).build();
    Prediction none = ClosedLoop.predict(new StepModel(engine, TIMES), w);
    assertThat(none.tpot().hasInterval()).isFalse();
    double narrow = width(engine, 0.01, w);
    double wide = width(engine, 0.1, w);
    assertThat(wide / narrow).isCloseTo(10, within(0.5));
    assertThat(width(engine, 0, w)).isZero();
    // Operations are independent: less than if all were off together, more than the largest alone.
    assertThat(wide).isBetween(0.1 * 1.6449 * 0.2, 0.1 * 1.6449);
  }

  private static double width(Engine engine, double error, Workload w) {
    KernelTimes times = new KernelTimes(new AnalyticKernels(1.25, error, 80e9));
    Estimate e = ClosedLoop.predictWithInterval(new StepModel(engine, times), w).tpot();
    return (e.high() - e.value()) / e.value();
  }

  @Test
  void theClockMovesEverythingTogether() {
    KernelTimes exact = new KernelTimes(new AnalyticKernels(1.25, 0, 80e9));
    Engine engine = engine().clockError(0.02).build();
    Prediction p =
        ClosedLoop.predictWithInterval(new StepModel(engine, exact), new Workload(32, 1024, 256));
    for (Estimate e : List.of(p.tpot(), p.ttft(), p.ttftStaggered(), p.ttftBurst())) {
      assertThat(e.high() / e.value()).isCloseTo(1 + 0.02 * 1.6449, within(1e-6));
      assertThat(e.low() / e.value()).isCloseTo(1 - 0.02 * 1.6449, within(1e-6));
    }
  }
}
