package io.musabench.results.tpot.answers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.devices.DataSheet;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.ElementType;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import io.musabench.results.report.Units;
import io.musabench.results.tpot.AnalyticKernels;
import io.musabench.results.tpot.ClosedLoop;
import io.musabench.results.tpot.Estimate;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.StepModel;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.kernels.DeviceRoofs;
import io.musabench.results.tpot.kernels.KernelSource;
import io.musabench.results.tpot.kernels.KernelSources;
import io.musabench.results.tpot.kernels.KernelTime;
import io.musabench.results.tpot.kernels.LaunchCosts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnswersTest {
  private static final AnalyticKernels KERNELS = new AnalyticKernels(1.25, 0.05, 80e9);

  @TempDir Path folder;

  private static Setup.Request request(Mode mode) {
    Setup.Request r = new Setup.Request();
    r.model = "Qwen3-32B";
    r.tp = 4;
    r.mode = mode;
    return r;
  }

  private static Setup setup(Mode mode, Double launchUs) {
    Setup.Request r = request(mode);
    r.launchUs = launchUs;
    return Setup.of(r, KERNELS);
  }

  private static List<Workload> loads(int... concurrencies) {
    return java.util.Arrays.stream(concurrencies)
        .mapToObj(c -> new Workload(c, 1024, 256))
        .toList();
  }

  private static JsonNode tree(String json) throws Exception {
    assertThat(json).doesNotContain("NaN");
    return new ObjectMapper().readTree(json);
  }

  @Test
  void aPredictionIsReadByTheReaderOfServingFiles() throws Exception {
    PredictionReport report = new PredictionReport(setup(Mode.GRAPH, null), loads(8), List.of());
    Path file = Files.writeString(folder.resolve("tpot.json"), report.json());
    assertThat(io.musabench.results.serving.Prediction.read(file)).isNotNull();
    JsonNode root = tree(report.json());
    assertThat(root.at("/tpot/value_ms").asDouble())
        .isCloseTo(1e3 * report.predictions().get(0).tpot().value(), within(1e-9));
    assertThat(root.at("/tpot/low_ms").asDouble()).isLessThan(root.at("/tpot/value_ms").asDouble());
    double share = root.at("/predictions/0/prefill_share").asDouble();
    assertThat(root.at("/predictions/0/prefill_share_low").asDouble())
        .isBetween(1e-3, share * (1 - 1e-3));
    assertThat(root.at("/predictions/0/prefill_share_high").asDouble())
        .isBetween(share * (1 + 1e-3), 1.0);
    assertThat(root.at("/ttft/staggered_ms").asDouble())
        .isLessThan(root.at("/ttft/burst_ms").asDouble());
  }

  @Test
  void aLaunchCostThatIsGivenIsNotMeasured() {
    Setup eager = setup(Mode.EAGER, 60.0);
    assertThat(eager.model().decode(8, 1024).provenance()).isEqualTo(Provenance.ASSUMED);
    assertThat(setup(Mode.EAGER, null).model().decode(8, 1024).provenance())
        .isEqualTo(Provenance.MEASURED);
  }

  @Test
  void theDecompositionAddsUpToTheStep() throws Exception {
    JsonNode root =
        tree(
            new PredictionReport(
                    setup(Mode.GRAPH, null), loads(8), List.of(BatchSpec.parse("4q1s1k")))
                .json());
    JsonNode step = root.at("/predictions/0/decode_step");
    double sum = 0;
    for (JsonNode t : root.at("/predictions/0/decomposition")) {
      assertThat(t.path("count").asInt() * t.path("us").asDouble())
          .isCloseTo(t.path("total_us").asDouble(), within(1e-6));
      sum += t.path("total_us").asDouble();
    }
    assertThat(sum / 1e3).isCloseTo(step.path("kernels_ms").asDouble(), within(1e-6));
    assertThat(root.at("/steps/0/batch").asText()).isEqualTo("4q1s1k");
  }

  @Test
  void withoutKnownRoofsThereIsNoShareOfThem() throws Exception {
    Path csv =
        Files.writeString(
            folder.resolve("k.csv"),
            "kernel,shape,precision,seconds_us,relative_error,source\n"
                + "gemm,m=1 n=2560 k=5120,bf16,13.9,0.03,me\n"
                + "paged_attention,batch=q1s1k heads=16:2:128 causal page=16,bf16,13,0.03,me\n"
                + "all_reduce,elements=5120 ranks=4,bf16,4.8,0.03,me\n");
    Setup setup = Setup.of(request(Mode.GRAPH), KernelSources.open(List.of(csv), Mode.GRAPH));
    PredictionReport report =
        new PredictionReport(setup, List.of(), List.of(BatchSpec.parse("1q1s1k")));
    JsonNode root = tree(report.json());
    assertThat(root.at("/steps/0/decomposition")).isNotEmpty();
    assertThat(root.at("/steps/0/decomposition")).allMatch(t -> t.path("roof_us").isNull());
    assertThat(root.at("/steps/0/decomposition"))
        .filteredOn(t -> t.path("role").asText().equals("qkv"))
        .allMatch(t -> t.path("flops").asLong() == 2L * 2560 * 5120)
        .allMatch(t -> t.path("bytes").asLong() == 2L * (5120 + 2560 * 5120 + 2560))
        .hasSize(1);
    assertThat(report.text()).contains("roofs: not known").contains("memory bandwidth");
  }

  @Test
  void validationSaysHowManyRowsTheIntervalHoldsAndWhichRowsCount() throws Exception {
    Path csv =
        Files.writeString(
            folder.resolve("served.csv"),
            "model,tp,isl,osl,concurrency,tpot_ms\n"
                + "Qwen3-32B,4,1024,256,1,25\n"
                + "Qwen3-32B,4,1024,256,8,0.00001\n"
                + "Qwen3-32B,4,1024,256,16,40\n");
    ValidationReport report = Setup.validate(request(Mode.GRAPH), csv, KERNELS);
    JsonNode root = tree(report.json());
    assertThat(root.at("/tpot/rows").asInt()).isEqualTo(2);
    assertThat(root.at("/tpot/mape_pct").asDouble()).isLessThan(100);
    assertThat(root.at("/tpot_all_rows/rows").asInt()).isEqualTo(3);
    assertThat(root.at("/tpot/interval_coverage").asDouble()).isBetween(0.0, 1.0);
    assertThat(report.text())
        .contains("over the 2 rows that can be what they say")
        .contains("over all 3 rows")
        .contains("kernel times only")
        .contains("of 2 measured values");
    for (JsonNode row : root.path("rows")) {
      assertThat(row.path("predicted_ttft_low_ms").asDouble())
          .isPositive()
          .isLessThan(row.path("predicted_ttft_staggered_ms").asDouble());
      assertThat(row.path("predicted_ttft_high_ms").asDouble())
          .isGreaterThan(row.path("predicted_ttft_burst_ms").asDouble());
      assertThat(row.path("requests_per_s_low").asDouble())
          .isPositive()
          .isLessThan(row.path("requests_per_s").asDouble());
    }
    JsonNode worst = root.at("/worst/0");
    assertThat(report.text())
        .contains(
            PredictionReport.time(worst.path("predicted_tpot_low_ms").asDouble() / 1e3) + " - ");
  }

  /** A number's interval, as shares of the number. */
  private static double[] interval(JsonNode node, String value, String low, String high) {
    double middle = node.path(value).asDouble();
    return new double[] {
      node.path(low).asDouble() / middle - 1, node.path(high).asDouble() / middle - 1
    };
  }

  @Test
  void ofASingleRequestTtftHasTheIntervalOfItsKernelsAndOfTheClock() throws Exception {
    for (double error : new double[] {0, 0.05}) {
      Setup setup = Setup.of(request(Mode.GRAPH), new AnalyticKernels(4, error, 80e9));
      PredictionReport report = new PredictionReport(setup, loads(1), List.of());
      JsonNode root = tree(report.json());
      JsonNode ttft = root.path("ttft");
      assertThat(ttft.path("burst_ms")).isEqualTo(ttft.path("staggered_ms"));
      double clock = 1.6449 * setup.model().engine().clockError();
      double[] ends = interval(ttft, "staggered_ms", "low_ms", "high_ms");
      JsonNode prefill = root.at("/predictions/0/prefill_step");
      if (error == 0) {
        assertThat(ends[0]).isCloseTo(-clock, within(1e-9));
        assertThat(ends[1]).isCloseTo(clock, within(1e-9));
      } else {
        assertThat(ends[0]).isLessThan(-1.1 * clock);
        assertThat(ends[1]).isGreaterThan(1.1 * clock);
      }
      // The first token needs the prefill and nothing else.
      assertThat(interval(prefill, "ms", "low_ms", "high_ms")).containsExactly(ends, within(1e-6));
      assertThat(report.text())
          .contains(
              PredictionReport.time(ttft.path("low_ms").asDouble() / 1e3)
                  + " - "
                  + PredictionReport.time(ttft.path("high_ms").asDouble() / 1e3)
                  + " ");
    }
  }

  @Test
  void everyStepHasAnIntervalAndTheHostsPartOfItHasNone() throws Exception {
    List<BatchSpec> batches = List.of(BatchSpec.parse("8q1s1k"));
    PredictionReport report = new PredictionReport(setup(Mode.GRAPH, null), List.of(), batches);
    JsonNode step = tree(report.json()).at("/steps/0");
    double[] ends = interval(step, "ms", "low_ms", "high_ms");
    assertThat(ends[0]).isBetween(-0.1, -0.02);
    assertThat(ends[1]).isBetween(0.02, 0.1);
    assertThat(interval(step, "kernels_ms", "kernels_low_ms", "kernels_high_ms"))
        .containsExactly(ends, within(1e-9));
    assertThat(report.text())
        .contains("(90 %: ")
        .containsPattern("qkv .* 5\\.0 % .* measured\n")
        .contains("sigma: one standard deviation");

    PredictionReport eager = new PredictionReport(setup(Mode.EAGER, 500.0), loads(8), batches);
    JsonNode root = tree(eager.json());
    JsonNode bound = root.at("/steps/0");
    assertThat(bound.path("host_bound").asBoolean()).isTrue();
    assertThat(interval(bound, "ms", "low_ms", "high_ms")).containsExactly(0, 0);
    assertThat(interval(bound, "kernels_ms", "kernels_low_ms", "kernels_high_ms")[1]).isPositive();
    assertThat(root.at("/engine/launch_provenance").asText()).isEqualTo("assumed");
    assertThat(tree(report.json()).at("/engine/launch_provenance").isNull()).isTrue();
    JsonNode p = root.at("/predictions/0");
    assertThat(eager.text())
        .contains(
            Units.number(p.path("requests_per_s_low").asDouble())
                + " - "
                + Units.number(p.path("requests_per_s_high").asDouble()));
  }

  /**
   * Products of one matrix in many sizes, every other time a little long, and a single all-reduce.
   */
  private Path tables() throws Exception {
    StringBuilder csv =
        new StringBuilder("kernel,shape,precision,seconds_us,relative_error,source\n");
    for (int m = 1; m <= 20; m++) {
      double us = 10 + m * (m % 2 == 0 ? 1.05 : 1);
      csv.append("gemm,m=").append(m).append(" n=2560 k=5120,bf16,").append(us).append(",,me\n");
    }
    csv.append("all_reduce,elements=5120 ranks=4,bf16,4.8,0.03,me\n");
    csv.append("paged_attention,batch=q1s1k heads=16:2:128 causal page=16,bf16,13,0.03,me\n");
    return Files.writeString(folder.resolve("tables.csv"), csv);
  }

  @Test
  void howFarLookUpsAreOffStandsUnderThePredictionsMadeOfThem() throws Exception {
    KernelSource source = KernelSources.open(List.of(tables()), Mode.GRAPH);
    PredictionReport report =
        new PredictionReport(
            Setup.of(request(Mode.GRAPH), source), List.of(), List.of(BatchSpec.parse("2q1s1k")));
    assertThat(report.text())
        .containsPattern("gemm, size +18 +[0-9.]+ % +[0-9.]+ % +[0-9.]+ %\n")
        .contains("fewer than 5 points can be left out, sigma 30.0 % assumed: gemm, beyond; ")
        .contains("decode attention, beyond; all-reduce, beyond\n")
        .contains("which the intervals already contain");
    JsonNode errors = tree(report.json()).path("lookup_errors");
    assertThat(errors)
        .filteredOn(e -> e.path("operation").asText().equals("gemm, size"))
        .singleElement()
        .satisfies(
            e -> {
              assertThat(e.path("points").asInt()).isEqualTo(18);
              assertThat(e.path("sigma_pct").asDouble()).isPositive();
              assertThat(e.path("assumed_because").asText()).isEmpty();
            });
    assertThat(errors)
        .filteredOn(e -> e.path("operation").asText().equals("all-reduce, beyond"))
        .singleElement()
        .satisfies(
            e -> {
              assertThat(e.path("median_pct").isNull()).isTrue();
              assertThat(e.path("sigma_pct").asDouble()).isEqualTo(30);
              assertThat(e.path("assumed_because").asText()).startsWith("fewer than 5");
            });
    Path csv =
        Files.writeString(
            folder.resolve("served.csv"),
            "model,tp,isl,osl,concurrency,tpot_ms\nQwen3-32B,4,1024,256,1,25\n");
    ValidationReport validation = Setup.validate(request(Mode.GRAPH), csv, source);
    assertThat(validation.text()).contains("gemm, size").contains("fewer than 5 points");
    assertThat(tree(validation.json()).path("lookup_errors")).isEqualTo(errors);
    // Kernels without a table say nothing of look-ups.
    assertThat(
            new PredictionReport(
                    setup(Mode.GRAPH, null), List.of(), List.of(BatchSpec.parse("q128")))
                .text())
        .doesNotContain("Leave-one-out");
  }

  @Test
  void theTextSaysWhatSpeculationSeparationAndThePrefixCacheDo() throws Exception {
    Setup setup = setup(Mode.GRAPH, null);
    List<Workload> loads =
        Setup.workloads(
            List.of(8), 1024, 256, 0.5, Setup.separate("1:1", 50, 100), Setup.speculation("0.5:1"));
    PredictionReport report = new PredictionReport(setup, loads, List.of());
    // 64 layers, 2 KV heads a rank of 128, keys and values in bf16: 64 KiB a token.
    double sent = 0.1 + 1024 * 65536 / 50e6;
    assertThat(report.text())
        .contains("speculation: 1.50 tokens a step; 33.3 % of the gaps between tokens (ITL) are 0")
        .contains("takes 1.44 ms, which is in TTFT")
        .contains("prefix cache: 512 of the 1024 tokens");
    assertThat(tree(report.json()).at("/predictions/0/kv_transfer_ms").asDouble())
        .isCloseTo(sent, org.assertj.core.api.Assertions.within(1e-9));
  }

  /** With separate prefill not all that run decode, and each decoder has only some of those. */
  @Test
  void theDecodeStepIsNamedAfterTheRequestsThatItHas() {
    for (String separate : List.of("", "1:1", "1:4")) {
      Setup setup = setup(Mode.GRAPH, null);
      List<Workload> loads =
          Setup.workloads(
              List.of(24),
              1024,
              256,
              0,
              separate.isEmpty() ? null : Setup.separate(separate, 50, 0),
              null);
      PredictionReport report = new PredictionReport(setup, loads, List.of());
      int rows =
          report.predictions().get(0).decodeStep().terms().stream()
              .filter(t -> t.role().equals("qkv"))
              .map(t -> ((KernelCall.Gemm) t.call()).m())
              .findFirst()
              .orElseThrow();
      assertThat(rows).isBetween(1, separate.equals("1:4") ? 6 : 24);
      assertThat(report.text()).contains("Decode step of " + rows + " requests: ");
    }
  }

  @Test
  void intervalsSayThatErrorsOfLaunchCostsAreNotInThem() throws Exception {
    PredictionReport report = new PredictionReport(setup(Mode.EAGER, null), loads(1), List.of());
    String covered = "kernel times only; host gap, scheduler and errors of launch costs not in it";
    assertThat(report.text()).contains("90 %: interval, " + covered);
    assertThat(tree(report.json()).at("/tpot/interval").asText()).isEqualTo(covered);
  }

  @Test
  void aSweepIsWrittenShort() {
    assertThat(Sweep.of(List.of("3", "1..4", "8..24+8", "1..20*2")))
        .containsExactly(3, 1, 2, 3, 4, 8, 16, 24, 1, 2, 4, 8, 16);
    for (String wrong :
        List.of("", "many", "0", "4..1", "1..9*1", "1..9+0", "1..999999999", "-3")) {
      assertThatThrownBy(() -> Sweep.of(List.of(wrong)))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("\"" + wrong + "\"");
    }
  }

  @Test
  void jsonOfManyPredictionsLeavesOutTheOperationsUnlessAskedFor() throws Exception {
    int[] many = java.util.stream.IntStream.rangeClosed(1, PredictionReport.MANY + 1).toArray();
    PredictionReport report = new PredictionReport(setup(Mode.GRAPH, null), loads(many), List.of());
    assertThat(tree(report.json()).findValues("decomposition")).isEmpty();
    assertThat(tree(report.json()).path("decomposition_left_out").asBoolean()).isTrue();
    assertThat(tree(report.json(true)).findValues("decomposition")).isNotEmpty();
    assertThat(tree(report.json()).has("steps")).isFalse();
    PredictionReport steps =
        new PredictionReport(setup(Mode.GRAPH, null), List.of(), List.of(BatchSpec.parse("q128")));
    assertThat(tree(steps.json()).has("predictions")).isFalse();
    assertThat(tree(steps.json()).at("/steps/0/decomposition")).isNotEmpty();
  }

  @Test
  void noChangeHasNoSignAndNoNoise() {
    Setup.Request asked = request(Mode.EAGER);
    asked.launchUs = 60.0;
    String text = new Sensitivity(Setup.of(asked, KERNELS), loads(8), 0.1).text();
    assertThat(text).doesNotContain("+0.0 %").doesNotContain("-0.0 %").doesNotContain(" ns");
    assertThat(text).contains("steps that carry prompts");
  }

  @ParameterizedTest
  @CsvSource({
    "'Qwen3-99B,4,1024,256', 'line 3: Unknown model'",
    "'Qwen3-32B,7,1024,256', 'line 3: '",
    "'Qwen3-32B,4,99999,256', 'line 3: '",
    "',4,1024,256', 'line 3: the row names no model'",
  })
  void mistakesInAMeasuredTableNameFileAndLine(String row, String message) throws Exception {
    Path csv =
        Files.writeString(
            folder.resolve("served.csv"),
            "model,tp,isl,osl,concurrency,tpot_ms\nQwen3-32B,4,1024,256,1,25\n" + row + ",8,25\n");
    Setup.Request asked = request(Mode.GRAPH);
    asked.model = null;
    assertThatThrownBy(() -> Setup.validate(asked, csv, KERNELS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("served.csv, " + message);
  }

  @Test
  void aModelThatNobodyKnowsIsTakenAsTheOneGivenAndThatIsSaid() throws Exception {
    Path csv =
        Files.writeString(
            folder.resolve("served.csv"),
            "model,tp,isl,osl,concurrency,tpot_ms\nmine/tuned,4,1024,256,1,25\n"
                + "Qwen/Qwen3-32B,4,1024,256,8,25\n");
    JsonNode root = tree(Setup.validate(request(Mode.GRAPH), csv, KERNELS).json());
    assertThat(root.at("/tpot/rows").asInt()).isEqualTo(2);
    assertThat(root.path("assumptions"))
        .filteredOn(a -> a.asText().contains("is not known: "))
        .extracting(JsonNode::asText)
        .containsExactly("the model mine/tuned is not known: its rows are taken as Qwen3-32B");
  }

  @Test
  void aFolderOrATableWithoutModelsIsNamedAsSuch() throws Exception {
    Setup.Request asked = request(Mode.GRAPH);
    asked.model = null;
    assertThatThrownBy(() -> Setup.validate(asked, folder, KERNELS))
        .hasMessageContaining("is a folder");
    Path csv =
        Files.writeString(
            folder.resolve("served.csv"), "tp,isl,osl,concurrency,tpot_ms\n4,1024,256,1,25\n");
    assertThatThrownBy(() -> Setup.validate(asked, csv, KERNELS))
        .hasMessageContaining("there is no column model; give --model");
  }

  @Test
  void anArchitectureThatIsFarFromAllHasNoHint() throws Exception {
    Path config = folder.resolve("config.json");
    for (String given : List.of("Gemma2ForCausalLM", "Qwen4ForCausalLM")) {
      Files.writeString(config, "{\"architectures\":[\"" + given + "\"]}");
      var error =
          assertThatThrownBy(() -> io.musabench.results.model.Models.find(config.toString()))
              .hasMessageContaining("supported are");
      if (given.startsWith("Gemma")) {
        error.message().doesNotContain("did you mean");
      } else {
        error.hasMessageContaining("did you mean Qwen");
      }
    }
  }

  @Test
  void aSlowerKernelRaisesTpotAndTheSharesOfAllAddUp() {
    Sensitivity s = new Sensitivity(setup(Mode.GRAPH, null), loads(1), 0.1);
    Sensitivity.Load load = s.loads().get(0);
    assertThat(load.hostBound()).isFalse();
    // A single request has no prefills in the way: 10 % of each kernel is 10 % of the step.
    double sum = load.effects().stream().mapToDouble(e -> e.tpot().value()).sum();
    assertThat(sum).isCloseTo(0.1 * load.base().tpot().value(), within(1e-7));
    assertThat(load.effects()).allMatch(e -> e.tpot().value() >= 0 && e.throughput().value() <= 0);
    assertThat(s.tree().at("/batches/0/provenance").asText()).isEqualTo("measured");
  }

  @Test
  void ofDecodersOfTheirOwnEveryStepCounts() {
    // Their mean batch lies between two whole ones, whose steps are both slower.
    Workload w = new Workload(16, 1024, 64).with(Setup.separate("1:1", 50, 0));
    Setup setup = setup(Mode.GRAPH, null);
    Sensitivity.Load load = new Sensitivity(setup, List.of(w), 0.1).loads().get(0);
    StepModel slow =
        setup
            .model()
            .scaled(
                (role, call, time) ->
                    role.equals("gate_up") && !call.shape().startsWith("m=1024 ") ? 1.1 : 1);
    double effect = ClosedLoop.predict(slow, w).tpot().value() - load.base().tpot().value();
    assertThat(load.effects())
        .filteredOn(e -> e.role().equals("gate_up"))
        .singleElement()
        .satisfies(e -> assertThat(e.tpot().value()).isCloseTo(effect, within(1e-12)));
  }

  @Test
  void withPrefillTooEveryKernelCounts() {
    // All times a little longer make TPOT as much longer: nothing of a step with prompts, such as
    // its attention in two parts, may be left out.
    double change = 1e-4;
    for (int budget : new int[] {0, 512, 8192}) {
      Setup.Request asked = request(Mode.GRAPH);
      asked.tokenBudget = budget;
      for (Sensitivity.Load load :
          new Sensitivity(Setup.of(asked, KERNELS), loads(1, 8, 64), change).loads()) {
        double sum = load.effects().stream().mapToDouble(e -> e.tpotWithPrefill().value()).sum();
        double tpot = load.base().tpot().value();
        assertThat(sum / (change * tpot)).isCloseTo(1, within(2e-3));
        Sensitivity.Effect attention =
            load.effects().stream().filter(e -> e.role().equals("attention")).findFirst().get();
        if (load.base().workload().concurrency() > 1) {
          assertThat(attention.tpotWithPrefill().value())
              .isGreaterThan(1.01 * attention.tpot().value());
        }
      }
    }
  }

  @Test
  void whereTheHostBindsEveryKernelIsExactlyZeroAndItSaysSo() {
    // Whether prompts run whole or in chunks: it is the decode step that waits for the host.
    exactlyZeroWhereTheHostBinds(0);
    exactlyZeroWhereTheHostBinds(8192);
  }

  private static void exactlyZeroWhereTheHostBinds(int tokenBudget) {
    Setup.Request asked = request(Mode.EAGER);
    asked.launchUs = 60.0;
    asked.tokenBudget = tokenBudget;
    Sensitivity s = new Sensitivity(Setup.of(asked, KERNELS), loads(8, 32), 0.1);
    for (Sensitivity.Load load : s.loads()) {
      assertThat(load.hostBound()).isTrue();
      assertThat(load.effects())
          .filteredOn(e -> !e.role().startsWith("launch"))
          .allMatch(e -> zero(e.tpot()) && zero(e.tpotShare()) && zero(e.throughput()));
      assertThat(load.effects())
          .filteredOn(e -> e.role().startsWith("launch"))
          .singleElement()
          .satisfies(e -> assertThat(e.tpot().value()).isPositive());
    }
    assertThat(s.text()).contains("host-bound");
  }

  /** Whatever the errors of the kernels. */
  private static boolean zero(Estimate e) {
    return e.value() == 0 && e.low() == 0 && e.high() == 0;
  }

  @Test
  void aGraphPaysUntilTheDeviceIsTheSlowerOne() throws Exception {
    GraphGain gain =
        new GraphGain(
            setup(Mode.EAGER, 30.0), setup(Mode.GRAPH, 30.0), List.of(1, 64, 256), 1152, 0.5);
    assertThat(gain.rows().get(0).gain().value()).isGreaterThan(1);
    int until = gain.hostBoundUntil().value();
    assertThat(until).isBetween(1, gain.most());
    // Host-bound just there, and not one request later.
    GraphGain around =
        new GraphGain(
            setup(Mode.EAGER, 30.0),
            setup(Mode.GRAPH, 30.0),
            List.of(until, until + 1),
            1152,
            Double.NaN);
    assertThat(around.rows().get(0).eager().hostBound()).isTrue();
    assertThat(around.rows().get(1).eager().hostBound()).isFalse();
    JsonNode root = tree(gain.json());
    // The launch cost was given.
    assertThat(root.at("/rows/0/provenance").asText()).isEqualTo("assumed");
    assertThat(root.at("/rows/0/break_even_replays").asDouble()).isGreaterThan(1);
    assertThat(root.at("/host_bound_until_batch").asInt()).isEqualTo(until);
    assertThat(root.at("/set_up_from").asText()).isEqualTo("given");
    assertThat(root.at("/rows/0/set_up_ms").asDouble()).isEqualTo(500);
    assertThat(around.text()).contains("not in the kernel times; give --capture-ms");
  }

  @Test
  void settingUpAGraphTakesAsLongAsWasMeasuredUnlessItIsGiven() throws Exception {
    Setup graph = setup(Mode.GRAPH, 30.0);
    LaunchCosts measured = new LaunchCosts(3e-5, 0, 0, 1e-5, Provenance.MEASURED);
    Setup known =
        new Setup(
            graph.model().with(graph.model().engine().toBuilder().launch(measured).build()),
            List.of());
    Setup eager = setup(Mode.EAGER, 30.0);
    GraphGain gain = new GraphGain(eager, known, List.of(1), 1152, Double.NaN);
    GraphGain.Row row = gain.rows().get(0);
    double setUp = 1e-5 * row.graph().kernels();
    JsonNode root = tree(gain.json());
    assertThat(root.at("/set_up_from").asText()).isEqualTo("measured");
    assertThat(root.at("/rows/0/set_up_ms").asDouble()).isCloseTo(1e3 * setUp, within(1e-9));
    assertThat(root.at("/rows/0/break_even_replays").asDouble())
        .isEqualTo(Math.ceil(setUp / (row.eager().seconds() - row.graph().seconds())));
    assertThat(gain.text()).contains(" for " + row.graph().kernels() + " nodes, measured");
    GraphGain given = new GraphGain(eager, known, List.of(1), 1152, 0.5);
    assertThat(tree(given.json()).at("/set_up_from").asText()).isEqualTo("given");
  }

  @Test
  void stepsOfWeightsThatDoNotFitSaySo() {
    AnalyticKernels small = new AnalyticKernels(1.25, 0.05, 16e9);
    Setup setup = Setup.of(request(Mode.GRAPH), small);
    GraphGain gain = new GraphGain(setup, setup, List.of(1), 1152, Double.NaN);
    assertThat(gain.text()).contains("do not fit in 16.0 GB of memory");
  }

  @Test
  void withoutALaunchCostAGraphGainsNothingAndTheReasonIsGiven() {
    GraphGain gain =
        new GraphGain(
            setup(Mode.EAGER, null), setup(Mode.GRAPH, null), List.of(1), 1152, Double.NaN);
    assertThat(gain.hostBoundUntil().high()).isZero();
    assertThat(gain.text()).contains("--launch-us");
  }

  /** From an S5000 to an S4000, every kernel at 75 % of its roof. */
  private static WhatIf toS4000(Setup.Request asked, int concurrency) {
    return new WhatIf(
        asked, null, 0.75, DataSheet.find("S5000"), DataSheet.find("S4000"), loads(concurrency));
  }

  @Test
  void anotherDeviceKeepsTheShareOfTheRoof() throws Exception {
    WhatIf answer = toS4000(request(Mode.GRAPH), 40);
    double ratio =
        answer.pairs().get(0).to().decodeStep().seconds()
            / answer.pairs().get(0).from().decodeStep().seconds();
    // Between the ratio of the bandwidths and that of the links.
    assertThat(ratio).isBetween(1600.0 / 768 - 1e-6, 392.0 / 120);
    // 64 GB of weights over four cards and the KV cache of 40 requests at 75 % of 1.6 TB/s.
    assertThat(answer.pairs().get(0).from().decodeStep().seconds()).isCloseTo(16e-3, within(1e-3));
    assertThat(answer.fromOwnKernels()).isFalse();
    JsonNode root = tree(answer.json());
    assertThat(root.path("prediction").asBoolean()).isTrue();
    assertThat(root.at("/to/figures/memory_gb_per_s/source").asText()).isNotEmpty();
  }

  @Test
  void operationsThatChangeWhatBindsThemAreNamed() throws Exception {
    // At 200 requests a matrix product passes the ridge of the S4000 (130), not of the S5000 (312).
    WhatIf answer = toS4000(request(Mode.GRAPH), 200);
    JsonNode flips = tree(answer.json()).path("flips");
    assertThat(flips.findValuesAsText("role")).contains("gate_up", "down");
    assertThat(flips.get(0).path("to_bound").asText()).isEqualTo("compute");
  }

  @Test
  void hostCostStaysTheSame() {
    Setup.Request eager = request(Mode.EAGER);
    eager.launchUs = 60.0;
    WhatIf answer = toS4000(eager, 8);
    assertThat(answer.pairs().get(0).to().decodeStep().hostSeconds())
        .isEqualTo(answer.pairs().get(0).from().decodeStep().hostSeconds());
  }

  @Test
  void aRoofThatNobodyPublishedIsAClearError() {
    Setup.Request fp8 = request(Mode.GRAPH);
    fp8.precision = "fp8";
    assertThatThrownBy(() -> toS4000(fp8, 8)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void measuredKernelsAreCarriedOverByTheirUtilisation() {
    WhatIf answer = toS4000(KERNELS, 8);
    assertThat(answer.fromOwnKernels()).isTrue();
    for (WhatIf.Carried c : answer.pairs().get(0).operations()) {
      if (c.from().call().communicates() || c.from().time().seconds() == 0 || c.flips()) {
        continue;
      }
      double ratio = c.to().time().seconds() / c.from().time().seconds();
      assertThat(ratio).isBetween(2.0, 5.01);
    }
  }

  /** A kernel that another contains takes no time of its own, on no device. */
  @Test
  void whatIsContainedInAnotherOperationHasNoShareOfTheRoofAndIsPredictedToo() throws Exception {
    KernelSource contained =
        new KernelSource() {
          @Override
          public String name() {
            return KERNELS.name();
          }

          @Override
          public DeviceRoofs roofs() {
            return KERNELS.roofs();
          }

          @Override
          public Optional<KernelTime> time(KernelCall call, Precision precision) {
            return call.kernel().equals("kv_cache_write")
                ? Optional.of(new KernelTime(0, 0, Provenance.MEASURED, "contained in attention"))
                : KERNELS.time(call, precision);
          }
        };
    WhatIf answer = toS4000(contained, 8);
    int found = 0;
    for (JsonNode one : tree(answer.json()).at("/rows/0/operations")) {
      if (one.path("role").asText().equals("kv_cache_write")) {
        found++;
        assertThat(one.path("utilisation").isNull()).isTrue();
        assertThat(one.path("to_us").asDouble()).isZero();
        assertThat(one.path("to_provenance").asText()).isIn("data sheet", "assumed");
      }
    }
    assertThat(found).isEqualTo(2);
    assertThat(answer.text()).doesNotContain("- - -").doesNotContain("inf");
  }

  private static double width(Estimate e) {
    assertThat(e.low()).isLessThan(e.value());
    assertThat(e.high()).isGreaterThan(e.value());
    return (e.high() - e.low()) / e.value();
  }

  /** A kernel that is slower than was thought is so on both devices; their clocks differ. */
  @Test
  void whatBothDevicesShareIsNotInARatioAndTheirClocksAre() throws Exception {
    double clocks = 2 * 1.6449 * 0.02 * Math.sqrt(2);
    double one = 0;
    double loop = 0;
    for (double error : new double[] {0, 0.05, 0.1}) {
      // Far from their roofs, so that they may be off in both directions.
      WhatIf answer = toS4000(new AnalyticKernels(4, error, 80e9), 8);
      WhatIf.Pair pair = answer.pairs().get(0);
      WhatIf.Carried product = decode(answer, "gate_up");
      assertThat(width(product.ratio())).isCloseTo(clocks, within(1e-3));
      assertThat(width(product.toSeconds())).isGreaterThan(one);
      assertThat(width(product.toSeconds()))
          .isCloseTo(width(product.fromSeconds()), within(1e-9))
          .isCloseTo(2 * 1.6449 * Math.hypot(error, 0.02), within(1e-6));
      assertThat(width(product.utilisation()))
          .isCloseTo(width(product.fromSeconds()), within(0.02));
      assertThat(product.utilisation().provenance()).isEqualTo(Provenance.DATA_SHEET);
      one = width(product.toSeconds());
      // Not all operations are slower by the same factor there, so that something remains.
      assertThat(width(pair.tpotRatio()))
          .isBetween(0.95 * clocks, Math.max(1.1 * clocks, 0.6 * width(pair.to().tpot())));
      assertThat(width(pair.to().tpot())).isGreaterThan(loop);
      loop = width(pair.to().tpot());
      assertThat(pair.throughputRatio().value())
          .isEqualTo(pair.to().requestsPerSecond() / pair.from().requestsPerSecond());
      width(pair.throughputRatio());
    }
  }

  @Test
  void aCarriedTimeHasTheErrorOfTheMeasuredOneAndWhatIsNotInItIsSaid() throws Exception {
    WhatIf answer = toS4000(KERNELS, 8);
    WhatIf.Carried product = decode(answer, "gate_up");
    assertThat(product.to().time().relativeError())
        .isEqualTo(product.from().time().relativeError());
    JsonNode root = tree(answer.json());
    assertThat(root.path("interval").asText()).contains("shares of the roof carry over");
    assertThat(root.path("assumptions").toString()).contains("no interval contains");
    assertThat(answer.text())
        .contains("that shares of the roof carry over")
        .contains("cancels in ratios")
        .containsPattern("TPOT x[0-9.]+ \\([0-9.]+ - [0-9.]+\\), req/s x0[0-9.]+ \\(");
    JsonNode row = root.at("/rows/0");
    for (String name : List.of("tpot_ratio", "throughput_ratio")) {
      assertThat(interval(row, name, name + "_low", name + "_high")[0]).as(name).isNegative();
      assertThat(interval(row, name, name + "_low", name + "_high")[1]).as(name).isPositive();
    }
    for (String side : List.of("from", "to")) {
      JsonNode p = row.path(side);
      for (String step : List.of("decode_step", "prefill_step")) {
        double[] ends = interval(p, step + "_ms", step + "_low_ms", step + "_high_ms");
        assertThat(ends[0]).as(step).isNegative();
        assertThat(ends[1]).as(step).isPositive();
      }
      assertThat(p.path("ttft_low_ms").asDouble())
          .isLessThan(p.path("ttft_staggered_ms").asDouble());
      assertThat(p.path("requests_per_s_high").asDouble())
          .isGreaterThan(p.path("requests_per_s").asDouble());
    }
    assertThat(row.path("operations"))
        .filteredOn(o -> o.path("to_us").asDouble() > 0)
        .isNotEmpty()
        .allSatisfy(
            o -> {
              for (String number : List.of("from", "to")) {
                double[] ends =
                    interval(o, number + "_us", number + "_low_us", number + "_high_us");
                assertThat(ends[0]).isLessThanOrEqualTo(0);
                assertThat(ends[1]).isPositive();
              }
              assertThat(o.path("utilisation_high").asDouble()).isLessThanOrEqualTo(1);
              assertThat(o.path("ratio_low").asDouble()).isPositive();
            });
  }

  /** Times of a device of whose roofs less was measured than its data sheet says. */
  private record OnDevice(DeviceRoofs roofs, Optional<String> device) implements KernelSource {
    @Override
    public String name() {
      return "made up";
    }

    @Override
    public Optional<KernelTime> time(KernelCall call, Precision precision) {
      return call.communicates() ? Optional.empty() : KERNELS.time(call, precision);
    }
  }

  private static WhatIf toS4000(KernelSource source, int concurrency) {
    return new WhatIf(
        request(Mode.GRAPH),
        source,
        Double.NaN,
        DataSheet.find("S5000"),
        DataSheet.find("S4000"),
        loads(concurrency));
  }

  private static WhatIf.Carried decode(WhatIf answer, String role) {
    return answer.pairs().get(0).operations().stream()
        .filter(c -> c.phase().equals("decode") && c.from().role().equals(role))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aDevicesOwnKernelsStayAndTheirSharesAreOfItsDataSheet() throws Exception {
    Map<ElementType, Double> rates = Map.of(ElementType.BF16, 200.0);
    DeviceRoofs measured = new DeviceRoofs(1300, rates, Double.NaN, 80e9, Provenance.MEASURED);
    DeviceRoofs unknown = new DeviceRoofs(1300, rates, Double.NaN, 80e9, Provenance.ASSUMED);
    for (OnDevice source :
        List.of(
            new OnDevice(measured, Optional.of("MTT S5000")),
            new OnDevice(unknown, Optional.empty()))) {
      WhatIf answer = toS4000(source, 8);
      assertThat(answer.fromOwnKernels()).isTrue();
      WhatIf.Carried product = decode(answer, "gate_up");
      assertThat(product.from().time())
          .isEqualTo(KERNELS.time(product.from().call(), Precision.BF16).orElseThrow());
      // 1600 and 768 GB/s; of the 1300 that were measured it reaches more than of the data sheet.
      assertThat(product.to().time().seconds())
          .isCloseTo(1600.0 / 768 * product.from().time().seconds(), withinPercentage(1e-9));
      // What the kernel times do not hold reaches the roof of the data sheet, and that is said.
      assertThat(decode(answer, "all_reduce").from().time().provenance())
          .isEqualTo(Provenance.ASSUMED);
      assertThat(tree(answer.json()).path("assumptions").toString())
          .contains("nobody measured all_gather, all_reduce: its roof");
    }
    OnDevice other = new OnDevice(measured, Optional.of("Another Card"));
    assertThat(toS4000(other, 8).fromOwnKernels()).isFalse();
    assertThat(toS4000(other, 8).text()).contains("because there is none of Another Card");
  }

  @Test
  void whatRestsOnAFigureThatNobodyPublishedIsAssumed() throws Exception {
    WhatIf answer = toS4000(KERNELS, 8);
    assertThat(decode(answer, "gate_up").from().time().provenance()).isEqualTo(Provenance.MEASURED);
    assertThat(decode(answer, "gate_up").to().time().provenance()).isEqualTo(Provenance.DATA_SHEET);
    // The link of the S4000 is half of a figure of which nobody says whether it is both directions.
    assertThat(decode(answer, "all_reduce").to().time().provenance()).isEqualTo(Provenance.ASSUMED);
    assertThat(tree(answer.json()).at("/rows/0/operations/0/to_provenance").asText()).isNotEmpty();
  }

  @Test
  void operationsAreComparedAtTheSameShapeEvenIfFewerRequestsRunThere() {
    WhatIf answer = toS4000(KERNELS, 512);
    WhatIf.Pair pair = answer.pairs().get(0);
    assertThat(pair.to().runningRequests()).isLessThan(pair.from().runningRequests());
    assertThat(pair.operations())
        .allSatisfy(c -> assertThat(c.to().call()).isEqualTo(c.from().call()));
  }

  @Test
  void badSettingsAreRefusedInWords() {
    assertThatThrownBy(() -> Setup.separate("1", 50, 0)).hasMessageContaining("1:1");
    assertThatThrownBy(() -> Setup.speculation("much")).hasMessageContaining("0.7:3");
    assertThatThrownBy(() -> Setup.batch("0", 10)).hasMessageContaining("at least 1");
    assertThatThrownBy(() -> Setup.open(request(Mode.GRAPH))).hasMessageContaining("--kernels");
    Setup.Request sizes = request(Mode.GRAPH);
    sizes.captureSizes = "many";
    assertThatThrownBy(() -> Setup.of(sizes, KERNELS)).hasMessageContaining("vllm");
    Setup.Request launch = request(Mode.EAGER);
    launch.launchUs = -1.0;
    assertThatThrownBy(() -> Setup.of(launch, KERNELS)).hasMessageContaining("-1.0 us");
    assertThatThrownBy(() -> new Sensitivity(setup(Mode.GRAPH, null), loads(1), 0))
        .hasMessageContaining("0.0 %");
  }
}
