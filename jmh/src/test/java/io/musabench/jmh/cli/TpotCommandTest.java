package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunDirectory;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class TpotCommandTest extends CommandTest {
  /** Kernel tables of a system and what was served on it, beside the checkout. */
  private static final Path SHARED = Path.of("../../shared/data");

  @TempDir Path folder;

  TpotCommandTest() {
    super("tpot");
  }

  private JsonNode json() throws Exception {
    return new ObjectMapper().readTree(out.toString());
  }

  private static String h100() {
    assumeTrue(
        Files.exists(SHARED.resolve("h100")),
        "skipped: the shared data are not beside this checkout");
    return SHARED.resolve("h100").toString();
  }

  @Test
  void predictsFromTablesAndItsJsonIsReadByServing() throws Exception {
    String[] question = {
      "--model", "Qwen3-32B", "--tp", "2", "--kernels", h100(), "--concurrency", "8", "--json"
    };
    assertThat(run(question)).isZero();
    assertThat(json().at("/tpot/value_ms").asDouble()).isBetween(10.0, 25.0);
    Path file = Files.writeString(folder.resolve("tpot.json"), out.toString());
    Path requests =
        Files.writeString(
            folder.resolve("requests.jsonl"),
            "{\"schema\":\"musabench.request/1\",\"start_ns\":0,\"output_tokens\":2,"
                + "\"events\":[[500,1,\"content\"],[520,1,\"content\"]]}\n");
    CommandLine line = Main.commandLine();
    StringWriter served = new StringWriter();
    line.setOut(new PrintWriter(served, true));
    assertThat(line.execute("serving", requests.toString(), "--predict", file.toString())).isZero();
    assertThat(served.toString()).contains("ms predicted");
  }

  @Test
  void validatesAgainstMeasurementsAndBeatsTheBaselines() throws Exception {
    String measured = h100() + "/serving_qwen3-32b_tp2_tp8.csv";
    assertThat(run("validate", "--kernels", h100(), "--measured", measured, "--json")).isZero();
    JsonNode root = json();
    assertThat(root.at("/tpot/rows").asInt()).isEqualTo(62);
    assertThat(root.path("excluded")).isEmpty();
    // Two rows of one series are faster than reading bf16 weights and KV cache takes.
    assertThat(root.at("/tpot_as_given/rows").asInt()).isEqualTo(60);
    assertThat(root.path("rows_of_assumed_precision").asInt()).isEqualTo(2);
    assertThat(root.path("assumptions"))
        .filteredOn(a -> a.asText().contains("too fast for bf16"))
        .extracting(a -> a.asText().substring(0, 8))
        .containsExactly("line 62:", "line 63:");
    assertThat(root.at("/rows/61/precision").asText()).isEqualTo("fp8/bf16/fp8");
    assertThat(root.at("/rows/0/precision").asText()).isEqualTo("bf16");
    assertThat(root.path("splits")).hasSize(2);
    assertThat(root.path("splits")).allMatch(split -> split.at("/tried/mape_pct").asDouble() < 8);
    double mape = root.at("/tpot/mape_pct").asDouble();
    assertThat(mape).isLessThan(12);
    assertThat(mape).isLessThan(root.at("/baselines/kernel_sum/mape_pct").asDouble());
    assertThat(mape).isLessThan(root.at("/baselines/roofline/mape_pct").asDouble());
    assertThat(root.at("/ttft/inside_share").asDouble()).isGreaterThan(0.8);
    assertThat(root.path("rows")).hasSize(62);

    assertThat(
            run(
                "validate",
                "--kernels",
                h100(),
                "--measured",
                measured,
                "--precision",
                "bf16",
                "--json"))
        .isZero();
    assertThat(json().at("/tpot/rows").asInt()).isEqualTo(60);
    assertThat(json().at("/tpot_all_rows/rows").asInt()).isEqualTo(62);
    assertThat(json().path("excluded")).hasSize(2);
  }

  @Test
  void aCheckFailsWhereAStepIsFurtherOffThanAllowed() {
    Instant start = Instant.parse("2026-01-01T00:00:00Z");
    RunDirectory made = RunDirectory.create(folder.resolve("runs"), "host", start);
    made.saveEnvironment(Environment.collect("host", start, Path.of(".")));
    made.saveSamples(List.of());
    made.saveCases(
        List.of(
            CaseResult.of(
                    "step.DecodeStep",
                    Map.of(
                        "model", "Qwen3-0.6B", "batch", "8q1s1k", "mode", "graph", "dtype", "bf16"))
                .deviceTimesUs(new double[] {1e9})
                .build()));
    String steps = made.path().toString();
    assertThat(run("check", "--kernels", h100(), "--steps", steps)).isZero();
    assertThat(out.toString())
        .contains("DecodeStep Qwen3-0.6B 8q1s1k graph")
        .contains("NOT within");
    assertThat(run("check", "--kernels", h100(), "--steps", steps, "--fail-above", "5%,10%"))
        .isEqualTo(ExitCode.CASE_FAILED);
    assertThat(run("check", "--kernels", h100(), "--kernels", h100(), "--steps", steps))
        .isEqualTo(ExitCode.USAGE);
    assertThat(run("check", "--kernels", h100(), "--steps", steps, "--fail-above", "much"))
        .isEqualTo(ExitCode.USAGE);
  }

  @Test
  void everyQuestionAnswersAsTextAndAsJson() throws Exception {
    String[] model = {"--model", "Qwen3-32B", "--tp", "4"};
    String[][] questions = {
      {"sensitivity", "--kernels", h100(), "--batch", "1,64"},
      {"graph-gain", "--kernels", h100(), "--batch", "1,64"},
      {"what-if", "--from", "S5000", "--to", "S4000", "--concurrency", "8"},
      {"what-if", "--from", "S5000", "--to", "S4000", "--kernels", h100(), "--batch", "8"},
      {"step", "--kernels", h100(), "--batch", "8q1s1k,q128"},
    };
    for (String[] question : questions) {
      String[] all = new String[question.length + model.length + 1];
      System.arraycopy(question, 0, all, 0, question.length);
      System.arraycopy(model, 0, all, question.length, model.length);
      all[all.length - 1] = "--json";
      assertThat(run(all)).as(question[0]).isZero();
      assertThat(json().path("schema_version").asInt()).isEqualTo(1);
      assertThat(json().path("command").asText())
          .startsWith("musabench tpot " + question[0] + " " + question[1])
          .endsWith(" --json");
      assertThat(out.toString()).doesNotContain("NaN");
      assertThat(run(java.util.Arrays.copyOf(all, all.length - 1))).as(question[0]).isZero();
      assertThat(out.toString()).contains("Qwen3-32B TP4");
    }
  }

  @Test
  void everyQuestionHasHelpWithoutAComplaintOfItsFormat() {
    java.io.PrintStream before = System.err;
    var complaints = new java.io.ByteArrayOutputStream();
    System.setErr(new java.io.PrintStream(complaints, true));
    try {
      for (String name :
          Main.commandLine().getSubcommands().get("tpot").getSubcommands().keySet()) {
        assertThat(run(name, "--help")).as(name).isZero();
        assertThat(out.toString()).contains("Usage: musabench tpot " + name);
      }
      assertThat(run("--help")).isZero();
    } finally {
      System.setErr(before);
    }
    assertThat(complaints.toString()).isEmpty();
  }

  @Test
  void aSweepIsShortAndItsJsonIsSmall() throws Exception {
    String[] sweep = {
      "--model",
      "Qwen3-32B",
      "--tp",
      "4",
      "--kernels",
      h100(),
      "--concurrency",
      "1..64*2,65..80",
      "--json"
    };
    assertThat(run(sweep)).isZero();
    assertThat(json().path("predictions")).hasSize(23);
    assertThat(json().at("/predictions/22/concurrency").asInt()).isEqualTo(80);
    assertThat(json().path("decomposition_left_out").asBoolean()).isTrue();
    assertThat(out.toString().length()).isLessThan(100_000);
    String[] all = java.util.Arrays.copyOf(sweep, sweep.length + 1);
    all[sweep.length] = "--decomposition";
    assertThat(run(all)).isZero();
    assertThat(json().at("/predictions/22/decomposition")).isNotEmpty();
  }

  @Test
  void aLinkAndLaunchesThatAreGivenTakeTheirPlace() throws Exception {
    Path kernels =
        Files.writeString(
            folder.resolve("k.csv"),
            "kernel,shape,precision,seconds_us,relative_error,source\n"
                + "gemm,m=1 n=2560 k=5120,bf16,13.9,0.03,me\n");
    String[] question =
        ("step --model Qwen3-32B --tp 2 --batch 8q1s1k --link 100 --link-us 15 --mode eager"
                + " --launch-us 50 --launches-per-layer 16 --json --kernels")
            .split(" ");
    String[] all = java.util.Arrays.copyOf(question, question.length + 1);
    all[question.length] = kernels.toString();
    assertThat(run(all)).as(err.toString()).isZero();
    assertThat(json().at("/engine/launches_per_layer").asInt()).isEqualTo(16);
    assertThat(json().at("/steps/0/host_ms").asDouble())
        .isCloseTo(0.05 * (6 + 64 * 16), within(1e-6));
    assertThat(json().at("/steps/0/decomposition"))
        .filteredOn(t -> t.path("role").asText().equals("all_reduce"))
        .isNotEmpty()
        .allMatch(t -> t.path("from").asText().equals("the link that was given"))
        .allMatch(t -> Math.abs(t.path("us").asDouble() - 15 - 8 * 5120 * 2e-5) < 1e-6);
  }

  @Test
  void theFieldsOfItsJsonAreDocumented() throws Exception {
    assertThat(run("schema", "validate")).isZero();
    assertThat(json().path("$ref").asText()).isEqualTo("#/$defs/validate");
    assertThat(run("schema", "nothing")).isEqualTo(64);
  }

  @Test
  void identifiesFromATable() throws Exception {
    Path table =
        Files.writeString(
            folder.resolve("t.csv"),
            "config,ttft_p50_ms,tpot_ms,throughput_req_s\neager,410,62,3.4\n+ graph,410,31,5.2\n");
    assertThat(run("identify", table.toString(), "--json")).isZero();
    assertThat(json().at("/launch_us/high").asDouble()).isBetween(60.0, 70.0);
    assertThat(run("identify", table.toString(), "--kernels-per-step", "many")).isEqualTo(64);
  }

  @Test
  void anOptionThatWouldHaveNoEffectIsRefused() {
    String[] whatIf = {"what-if", "--from", "S5000", "--to", "S4000", "--batch", "8"};
    String[] model = {"--model", "Qwen3-32B", "--tp", "4"};
    String[] options = {"--kv-link", "25"};
    assertRefused("--kv-link has no effect without --separate-prefill", whatIf, model, options);
    options[0] = "--kv-link-us";
    assertRefused("--kv-link-us has no effect without", whatIf, model, options);
    options = new String[] {"--utilisation", "0.5", "--kernels", folder.toString()};
    assertRefused("--utilisation has no effect with --kernels", whatIf, model, options);
    assertRefused("--tp stands in front of what-if", new String[] {"--tp", "4"}, whatIf, model);
    assertRefused("--json stands in front of what-if", new String[] {"--json"}, whatIf, model);
    String[] separate = {"--separate-prefill", "1:1", "--kv-link", "25", "--utilisation", "0.5"};
    assertThat(run(all(whatIf, model, separate))).as(err.toString()).isZero();
  }

  private void assertRefused(String reason, String[]... words) {
    assertThat(run(all(words))).as(reason).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).startsWith("musabench: ").contains(reason);
    assertThat(out.toString()).isEmpty();
  }

  private static String[] all(String[]... words) {
    return java.util.Arrays.stream(words).flatMap(java.util.Arrays::stream).toArray(String[]::new);
  }

  @Test
  void mistakesAreOneClearLine() throws Exception {
    Path foreign = Files.writeString(folder.resolve("x.csv"), "a,b\n1,2\n");
    Path awq =
        Files.writeString(
            folder.resolve("awq.json"),
            """
            {"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 3, "hidden_size": 256,
             "intermediate_size": 512, "vocab_size": 1000, "num_attention_heads": 4,
             "max_position_embeddings": 4096, "quantization_config": {"quant_method": "awq"}}""");
    Path kernels =
        Files.writeString(
            folder.resolve("k.csv"),
            "kernel,shape,precision,seconds_us,relative_error,source\n"
                + "gemm,m=1 n=2560 k=5120,bf16,13.9,0.03,me\n");
    String[][] wrong = {
      {},
      {"--model", awq.toString(), "--kernels", kernels.toString()},
      {"--model", "Qwen3-32B", "--kernels", kernels.toString(), "--isl", "40900", "--osl", "100"},
      // Nobody measured an all-reduce.
      {"--model", "Qwen3-32B", "--kernels", kernels.toString(), "--tp", "2"},
      {"--model", "Qwen3-32B", "--kernels", kernels.toString(), "--tp", "2", "--link", "50"},
      {"--model", "Qwen3-32B"},
      {"--model", "Qwen3-32B", "--kernels", foreign.toString(), "--concurrency", "9..1"},
      {"--model", "Qwen3-32B", "--kernels", "nowhere"},
      {"--model", "Qwen3-32B", "--kernels", foreign.toString()},
      {"--model", "Qwen3-32B", "--kernels", foreign.toString(), "--mode", "fast"},
      {"--model", "Qwen3-32B", "--kernels", kernels.toString(), "--precision", "fp32"},
      {"--model", "Qwen3-32B", "--kernels", kernels.toString(), "--launch-us", "1e300"},
      {"validate", "--kernels", foreign.toString(), "--measured", "nowhere.csv"},
      {"validate", "--kernels", foreign.toString(), "--measured", foreign.toString()},
      {"attribute", "nowhere", "nowhere"},
      {"attribute", folder.toString(), folder.toString()},
      {"identify", foreign.toString()},
      {"what-if", "--model", "Qwen3-32B", "--from", "S5000", "--to", "S9"},
      {"what-if", "--model", "Qwen3-32B", "--tp", "3", "--from", "S5000", "--to", "S4000"},
      {"step", "--model", "Qwen3-32B", "--kernels", foreign.toString(), "--batch", "eight"},
    };
    for (String[] question : wrong) {
      assertThat(run(question)).as(String.join(" ", question)).isEqualTo(64);
      assertThat(err.toString().lines().filter(l -> !l.startsWith("Try")))
          .as(err.toString())
          .hasSize(1)
          .allMatch(l -> l.startsWith("musabench: "));
    }
  }
}
