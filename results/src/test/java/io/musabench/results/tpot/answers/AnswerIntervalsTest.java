package io.musabench.results.tpot.answers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.tpot.AnalyticKernels;
import io.musabench.results.tpot.Engine;
import io.musabench.results.tpot.Estimate;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.StepTime;
import io.musabench.results.tpot.Workload;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The intervals of the sensitivity and of the gain of graphs. */
class AnswerIntervalsTest {
  private static final int CONTEXT = 1152;

  /** Errors of a setup, and what launching a kernel costs. */
  private record Errors(double kernels, double clock, double launchUs) {
    Errors wider(double factor) {
      return new Errors(factor * kernels, factor * clock, launchUs);
    }

    Errors none() {
      return wider(0);
    }

    Setup setup(Mode mode, int tokenBudget) {
      Setup.Request r = new Setup.Request();
      r.model = "Qwen3-32B";
      r.tp = 4;
      r.mode = mode;
      r.launchUs = launchUs;
      r.tokenBudget = tokenBudget;
      Setup setup = Setup.of(r, new AnalyticKernels(2, kernels, 80e9));
      Engine engine = setup.model().engine().toBuilder().clockError(clock).build();
      return new Setup(setup.model().with(engine), List.of());
    }

    Sensitivity sensitivity(Mode mode, int concurrency, double change) {
      List<Workload> loads = List.of(new Workload(concurrency, 1024, 256));
      return new Sensitivity(setup(mode, 0), loads, change);
    }

    Sensitivity.Load load(Mode mode, int concurrency) {
      return sensitivity(mode, concurrency, 0.1).loads().get(0);
    }

    GraphGain gain(Integer... batches) {
      return new GraphGain(
          setup(Mode.EAGER, 0), setup(Mode.GRAPH, 0), List.of(batches), CONTEXT, 0.5);
    }
  }

  private static List<Estimate> of(Sensitivity.Load load) {
    List<Estimate> all = new ArrayList<>();
    all.add(load.base().tpot());
    all.add(load.base().throughput());
    all.add(load.deviceSeconds());
    all.add(load.waiting());
    for (Sensitivity.Effect e : load.effects()) {
      if (e.share().hasInterval()) {
        all.add(e.share());
      }
      all.add(e.tpot());
      all.add(e.tpotWithPrefill());
    }
    return all;
  }

  private static List<Estimate> shares(Sensitivity.Load load) {
    List<Estimate> all = new ArrayList<>();
    for (Sensitivity.Effect e : load.effects()) {
      all.add(e.tpotShare());
      all.add(e.throughput());
      all.add(e.tpotShareWithPrefill());
      all.add(e.throughputWithPrefill());
    }
    return all;
  }

  private static List<Estimate> of(GraphGain.Row r) {
    return List.of(
        r.kernelSeconds(),
        r.eagerSeconds(),
        r.graphSeconds(),
        r.gain(),
        r.saved(),
        r.breakEvenLaunch(),
        r.waiting());
  }

  private static void holds(List<Estimate> all) {
    assertThat(all).allMatch(e -> e.low() <= e.value() && e.value() <= e.high());
  }

  private static void exact(List<Estimate> all) {
    assertThat(all).allMatch(e -> e.low() == e.value() && e.value() == e.high());
  }

  private static void neverNarrower(List<Estimate> wide, List<Estimate> narrow) {
    for (int i = 0; i < narrow.size(); i++) {
      Estimate n = narrow.get(i);
      // A small change is the difference of two large numbers, which were rounded: up to about a
      // thousand requests a second.
      double noise = 1e-9 * Math.abs(n.value()) + 1e-11;
      assertThat(wide.get(i).value()).isCloseTo(n.value(), within(noise));
      assertThat(wide.get(i).low()).as("number " + i).isLessThanOrEqualTo(n.low() + noise);
      assertThat(wide.get(i).high()).as("number " + i).isGreaterThanOrEqualTo(n.high() - noise);
    }
  }

  @Property(tries = 40)
  void ofSensitivityAnIntervalHoldsItsValueAndWiderErrorsNeverNarrowIt(
      @ForAll @IntRange(min = 1, max = 64) int concurrency,
      @ForAll @DoubleRange(min = 0, max = 0.2) double kernels,
      @ForAll @DoubleRange(min = 0, max = 0.1) double clock,
      @ForAll @DoubleRange(min = 1, max = 2) double wider,
      @ForAll @DoubleRange(min = 0, max = 60) double launchUs,
      @ForAll Mode mode) {
    Errors errors = new Errors(kernels, clock, launchUs);
    Sensitivity.Load narrow = errors.load(mode, concurrency);
    holds(of(narrow));
    holds(shares(narrow));
    // Where the host binds until kernels take longer, a change can be largest within an interval.
    int loops = 4;
    neverNarrower(
        of(errors.wider(wider).load(mode, concurrency)).subList(0, loops),
        of(narrow).subList(0, loops));
    Errors free = new Errors(kernels, clock, 0);
    neverNarrower(of(free.wider(wider).load(mode, concurrency)), of(free.load(mode, concurrency)));
    exact(of(errors.none().load(mode, concurrency)).subList(2, of(narrow).size()));
    exact(shares(errors.none().load(mode, concurrency)));
  }

  @Property(tries = 40)
  void ofGraphGainAnIntervalHoldsItsValueAndWiderErrorsNeverNarrowIt(
      @ForAll @IntRange(min = 1, max = 256) int batch,
      @ForAll @DoubleRange(min = 0, max = 0.2) double kernels,
      @ForAll @DoubleRange(min = 0, max = 0.1) double clock,
      @ForAll @DoubleRange(min = 1, max = 2) double wider,
      @ForAll @DoubleRange(min = 0, max = 60) double launchUs) {
    Errors errors = new Errors(kernels, clock, launchUs);
    GraphGain narrow = errors.gain(batch);
    GraphGain wide = errors.wider(wider).gain(batch);
    GraphGain none = errors.none().gain(batch);
    holds(of(narrow.rows().get(0)));
    neverNarrower(of(wide.rows().get(0)), of(narrow.rows().get(0)));
    exact(of(none.rows().get(0)));
    batches(narrow.hostBoundUntil(), wide.hostBoundUntil(), none.hostBoundUntil());
    batches(narrow.breakEvenBatch(), wide.breakEvenBatch(), none.breakEvenBatch());
  }

  private static void batches(
      GraphGain.Batches narrow, GraphGain.Batches wide, GraphGain.Batches none) {
    assertThat(narrow.value()).isBetween(narrow.low(), narrow.high());
    assertThat(wide.low()).isLessThanOrEqualTo(narrow.low());
    assertThat(wide.high()).isGreaterThanOrEqualTo(narrow.high());
    assertThat(List.of(none.low(), none.high())).containsOnly(narrow.value());
  }

  @Test
  void aCommonClockCancelsInSharesAndRatiosAndScalesDifferences() {
    double off = 0.05 * 1.6449;
    Errors clock = new Errors(0, 0.05, 0);
    Sensitivity.Load load = clock.load(Mode.GRAPH, 32);
    assertThat(load.base().tpot().high() / load.base().tpot().value())
        .isCloseTo(1 + off, within(1e-6));
    for (Sensitivity.Effect e : load.effects()) {
      if (e.share().hasInterval()) {
        assertThat(e.share().high()).isCloseTo(e.share().low(), within(1e-12));
      }
      assertThat(e.tpot().high()).isCloseTo((1 + off) * e.tpot().value(), within(1e-12));
    }
    for (Estimate e : shares(load)) {
      assertThat(e.high()).isCloseTo(e.low(), within(1e-12));
    }
    // Nothing is host-bound: both modes are as off.
    GraphGain.Row row = clock.gain(64).rows().get(0);
    assertThat(row.eagerSeconds().high() / row.eagerSeconds().value())
        .isCloseTo(1 + off, within(1e-9));
    assertThat(row.gain().high()).isCloseTo(row.gain().low(), within(1e-12));
  }

  @Test
  void theErrorOfAKernelMostlyCancelsInWhatItsChangeDoes() {
    Errors errors = new Errors(0.1, 0, 0);
    Sensitivity.Load load = errors.load(Mode.GRAPH, 1);
    Sensitivity.Effect largest = load.effects().get(0);
    Estimate tpot = load.base().tpot();
    // One single request: a tenth of the operation's time, as uncertain as that and no more.
    assertThat(largest.tpot().high() / largest.tpot().value())
        .isCloseTo(1 + 0.1 * 1.6449, within(1e-6));
    assertThat(largest.tpot().high() - largest.tpot().value())
        .isLessThan(0.15 * (tpot.high() - tpot.value()));
  }

  @Test
  void aZeroIsExactWhereTheHostBindsAnywayAndOpenWhereItMayNot() {
    Errors sure = new Errors(0.02, 0.02, 60);
    Sensitivity host = sure.sensitivity(Mode.EAGER, 1, 0.1);
    Sensitivity.Load load = host.loads().get(0);
    assertThat(load.waiting().low()).isPositive();
    assertThat(load.effects())
        .filteredOn(e -> !e.role().startsWith("launch"))
        .allMatch(e -> e.tpot().value() == 0 && e.tpot().high() == 0);
    assertThat(host.text())
        .contains("changes nothing; what moves")
        .contains("0 us (fixed)")
        .contains("fixed: no error of a kernel time moves it");

    // Longer than the kernels with a tenth more of any, but not if they are longer than predicted.
    double kernels = load.deviceSeconds().value();
    double equal = 1e6 * kernels / load.base().decodeStep().kernels();
    Sensitivity near = new Errors(0.05, 0.05, 1.07 * equal).sensitivity(Mode.EAGER, 1, 0.1);
    assertThat(near.loads().get(0).hostBound()).isTrue();
    assertThat(near.loads().get(0).effects())
        .filteredOn(e -> e.role().equals("gate_up"))
        .singleElement()
        .satisfies(e -> assertThat(e.tpot().value()).isZero())
        .satisfies(e -> assertThat(e.tpot().high()).isPositive());
    assertThat(near.text())
        .contains("changes nothing, unless its kernels take longer than predicted");

    Sensitivity just = new Errors(0, 0, 1.01 * equal).sensitivity(Mode.EAGER, 1, 0.1);
    assertThat(just.loads().get(0).hostBound()).isTrue();
    assertThat(just.text()).contains("counts only where its kernels then take longer");

    Sensitivity other = new Errors(0.05, 0.05, 0.99 * equal).sensitivity(Mode.EAGER, 1, 0.1);
    assertThat(other.loads().get(0).hostBound()).isFalse();
    assertThat(other.text()).contains("within the errors of its kernels the host may");
    assertThat(other.loads().get(0).effects())
        .filteredOn(e -> e.role().equals("gate_up"))
        .allMatch(e -> e.tpot().low() < 0.9 * e.tpot().value());
  }

  @Test
  void aFasterKernelNeverMakesAnythingSlowerWithinItsInterval() {
    for (double change : new double[] {0.1, -0.1}) {
      Sensitivity.Load load =
          new Errors(0.6, 0.1, 20).sensitivity(Mode.EAGER, 32, change).loads().get(0);
      for (Sensitivity.Effect e : load.effects()) {
        for (Estimate x : List.of(e.tpot(), e.tpotWithPrefill(), e.tpotShare())) {
          assertThat(Math.min(x.low() * change, x.high() * change) + 0.0).isNotNegative();
        }
        for (Estimate x : List.of(e.throughput(), e.throughputWithPrefill())) {
          assertThat(Math.max(x.low() * change, x.high() * change) + 0.0).isNotPositive();
        }
      }
    }
  }

  @Test
  void aBatchAtWhichTheHostStopsBindingEndsWhereTheIntervalOfItsStepDoes() {
    Errors errors = new Errors(0.05, 0.02, 30);
    GraphGain gain = errors.gain(1);
    GraphGain.Batches until = gain.hostBoundUntil();
    assertThat(until.low()).isLessThan(until.value());
    assertThat(until.high()).isGreaterThan(until.value()).isLessThan(gain.most());
    GraphGain around = errors.gain(until.low(), until.low() + 1, until.high(), until.high() + 1);
    assertThat(around.rows().get(0).waiting().low()).isPositive();
    assertThat(around.rows().get(1).waiting().low()).isNotPositive();
    assertThat(around.rows().get(2).waiting().high()).isPositive();
    assertThat(around.rows().get(3).waiting().high()).isNotPositive();
    assertThat(gain.text())
        .contains("90 %: the last is " + until.low() + " to " + until.high())
        .contains(
            "90 %: from " + gain.breakEvenBatch().low() + " to " + gain.breakEvenBatch().high());
    assertThat(until.provenance()).isEqualTo(Provenance.ASSUMED);
  }

  @Test
  void aBatchBeyondWhatFitsIsOpenInWordsAndNullInJson() throws Exception {
    int most = new Errors(0, 0, 0).gain(1).most();
    StepTime below = new Errors(0, 0, 0).gain(most - 20).rows().get(0).eager();
    double launchUs = 1e6 * below.kernelSeconds() / below.kernels();
    GraphGain some = new Errors(0.05, 0.05, launchUs).gain(1);
    assertThat(some.hostBoundUntil().value()).isLessThan(most);
    assertThat(some.hostBoundUntil().high()).isEqualTo(most);
    assertThat(some.text()).contains("to beyond " + most);
    JsonNode root = new ObjectMapper().readTree(some.json());
    assertThat(root.path("device_bound_from_batch_high").isNull()).isTrue();
    assertThat(root.path("device_bound_from_batch_low").asInt())
        .isEqualTo(some.hostBoundUntil().low() + 1);
    assertThat(root.path("host_bound_until_batch_high").asInt()).isEqualTo(most);

    GraphGain all = new Errors(0.3, 0.3, 1000).gain(1);
    assertThat(all.text()).contains("at every batch up to " + all.most() + "; no error of a");
    assertThat(new Errors(0.05, 0, 0).gain(1).text())
        .contains("no eager decode step is host-bound; no error of a kernel time moves that");
  }

  @Test
  void replaysFollowWhatIsSavedAndMayNeverBeEnough() throws Exception {
    Errors errors = new Errors(0.05, 0.02, 30);
    int until = errors.gain(1).hostBoundUntil().value();
    GraphGain gain = errors.gain(1, until, 4 * until);
    JsonNode rows = new ObjectMapper().readTree(gain.json()).path("rows");
    Estimate saved = gain.rows().get(0).saved();
    assertThat(rows.at("/0/break_even_replays_low").asDouble())
        .isEqualTo(Math.ceil(0.5 / saved.high()));
    assertThat(rows.at("/0/break_even_replays_high").asDouble())
        .isEqualTo(Math.ceil(0.5 / saved.low()));
    assertThat(rows.at("/1/break_even_replays_high").asText()).isEqualTo("inf");
    assertThat(rows.at("/2/break_even_replays").asText()).isEqualTo("inf");
    assertThat(gain.text()).contains(" to never)").contains("never (fixed)");
  }

  @Test
  void jsonHasTheSameIntervalsAndSaysWhatTheyCoverAndHowTheyWereGot() throws Exception {
    Errors errors = new Errors(0.05, 0.02, 60);
    Sensitivity s = errors.sensitivity(Mode.EAGER, 8, 0.1);
    AnswerSchemaTest.conforms("sensitivity", s.json());
    JsonNode root = new ObjectMapper().readTree(s.json());
    Sensitivity.Load load = s.loads().get(0);
    JsonNode batch = root.at("/batches/0");
    same(batch, "tpot", "_ms", 1e3, load.base().tpot());
    same(batch, "requests_per_s", "", 1, load.base().throughput());
    same(batch, "device", "_ms", 1e3, load.deviceSeconds());
    assertThat(root.path("interval").asText()).startsWith("kernel times only");
    for (int i = 0; i < load.effects().size(); i++) {
      Sensitivity.Effect e = load.effects().get(i);
      JsonNode one = batch.path("operations").get(i);
      same(one, "share", "", 1, e.share());
      same(one, "tpot_delta", "_ms", 1e3, e.tpot());
      same(one, "tpot_delta", "_pct", 100, e.tpotShare());
      same(one, "throughput_delta", "_pct", 100, e.throughput());
      same(one, "tpot_delta", "_ms_with_prefill", 1e3, e.tpotWithPrefill());
      same(one, "tpot_delta", "_pct_with_prefill", 100, e.tpotShareWithPrefill());
      same(one, "throughput_delta", "_pct_with_prefill", 100, e.throughputWithPrefill());
      assertThat(one.path("provenance").asText()).isEqualTo("assumed");
    }

    GraphGain gain = errors.gain(1, 64);
    AnswerSchemaTest.conforms("graph-gain", gain.json());
    JsonNode graph = new ObjectMapper().readTree(gain.json());
    GraphGain.Row r = gain.rows().get(1);
    JsonNode row = graph.at("/rows/1");
    same(row, "kernels", "_ms", 1e3, r.kernelSeconds());
    same(row, "eager", "_ms", 1e3, r.eagerSeconds());
    same(row, "graph", "_ms", 1e3, r.graphSeconds());
    same(row, "gain", "", 1, r.gain());
    same(row, "saved", "_ms", 1e3, r.saved());
    same(row, "break_even_launch", "_us", 1e6, r.breakEvenLaunch());
    assertThat(row.path("eager_provenance").asText()).isEqualTo("assumed");
    assertThat(graph.path("interval").asText()).startsWith("kernel times only");
    assertThat(graph.path("host_bound_until_batch_provenance").asText()).isEqualTo("assumed");
  }

  private static void same(JsonNode node, String name, String unit, double factor, Estimate e) {
    assertThat(node.has(name + "_low" + unit)).as(name + unit).isTrue();
    if (e.hasInterval()) {
      assertThat(node.path(name + unit).asDouble()).isEqualTo(factor * e.value());
      assertThat(node.path(name + "_low" + unit).asDouble()).isEqualTo(factor * e.low());
      assertThat(node.path(name + "_high" + unit).asDouble()).isEqualTo(factor * e.high());
    } else {
      assertThat(node.path(name + "_low" + unit).isNull()).isTrue();
    }
  }

  @Test
  void tablesAreNoWiderThanATerminalThatIsWidenedOnce() {
    Errors errors = new Errors(0.05, 0.02, 30);
    String text =
        errors.sensitivity(Mode.GRAPH, 64, 0.1).text() + errors.gain(1, 64, 256, 512).text();
    assertThat(text.lines().filter(l -> l.startsWith("  ") && l.contains("  ("))).isEmpty();
    assertThat(text.lines().filter(l -> l.contains(" to ") && l.contains(") ")))
        .hasSizeGreaterThan(20)
        .allMatch(l -> l.length() <= 120);
    assertThat(text)
        .contains("in brackets: 90 % interval; kernel times only")
        .contains("least certain part");
  }

  @ParameterizedTest
  @CsvSource({
    "0.00841,0.00796,0.00886,8.41 ms (7.96 to 8.86)",
    "0.00099,0.0009,0.0011,990 us (900 us to 1.10 ms)",
    "0,0,0.00005,0 us (0 to 50.0)",
    "0.0000005,0,0.00005,500 ns (0 to 50.0 us)",
    "0.0157,0.0157,0.0157,15.7 ms (fixed)",
    "-0.00005,-0.00006,0,-50.0 us (-60.0 to 0)",
  })
  void anIntervalStandsBehindItsValue(double value, double low, double high, String text) {
    assertThat(Estimates.time(new Estimate(value, low, high, Provenance.MEASURED))).isEqualTo(text);
  }

  @Test
  void changesHaveASignAndNoNoise() {
    assertThat(Estimates.timeChange(estimate(3.07e-4, 2.89e-4, 3.25e-4)))
        .isEqualTo("+307 us (289 to 325)");
    assertThat(Estimates.timeChange(estimate(1e-7, 0.9e-7, 2e-7))).isEqualTo("<1 us");
    assertThat(Estimates.timeChange(estimate(-3e-5, -4e-5, -1e-7)))
        .isEqualTo("-30.0 us (-40.0 us to <1 us)");
    assertThat(Estimates.change(estimate(-0.022, -0.023, -1e-9))).isEqualTo("-2.2 % (-2.3 to 0.0)");
    assertThat(Estimates.change(estimate(0, 0, 0))).isEqualTo("0.0 % (fixed)");
    assertThat(Estimates.ratio(estimate(1.86, 1.76, 1.97))).isEqualTo("1.86x (1.76 to 1.97)");
    assertThat(Estimates.share(Estimate.point(0.316, Provenance.MEASURED))).isEqualTo("31.6 %");
  }

  private static Estimate estimate(double value, double low, double high) {
    return new Estimate(value, low, high, Provenance.MEASURED);
  }
}
