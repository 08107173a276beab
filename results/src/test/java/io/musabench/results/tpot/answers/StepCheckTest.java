package io.musabench.results.tpot.answers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.Layout;
import io.musabench.results.model.ModelOperations;
import io.musabench.results.model.Models;
import io.musabench.results.model.Operation;
import io.musabench.results.model.Precision;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import io.musabench.results.tpot.answers.StepCheck.Round;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StepCheckTest {
  private static final BatchSpec BATCH = BatchSpec.parse("8q1s1k");

  @TempDir Path folder;
  private Path kernels;
  private double sumUs;

  @BeforeEach
  void measureKernels() throws IOException {
    measureKernels(1);
  }

  /** Every kernel of a rank's step with a time of its own. */
  private void measureKernels(int tp) throws IOException {
    Layout layout = Models.find("Qwen3-0.6B").layout(tp);
    StringBuilder csv =
        new StringBuilder("kernel,shape,precision,seconds_us,relative_error,source\n");
    Map<String, Integer> times = new HashMap<>();
    sumUs = 0;
    for (Operation op : ModelOperations.of(layout, BATCH, 16)) {
      if (op.call().communicates()) {
        continue;
      }
      // Roles that share a kernel and shape share its time.
      int us = times.computeIfAbsent(op.call().key(), key -> 10 + 7 * times.size());
      csv.append(
          "%s,%s,%s,%d,0.01,test\n"
              .formatted(op.call().kernel(), op.call().shape(), Precision.BF16, us));
      sumUs += us * op.count();
    }
    kernels = Files.writeString(folder.resolve("kernels.csv"), csv);
  }

  private Path save(List<CaseResult> cases, List<Sample> samples) {
    Instant start = Instant.parse("2026-01-01T00:00:00Z");
    RunDirectory run = RunDirectory.create(folder.resolve("runs"), "host", start);
    run.saveEnvironment(Environment.collect("host", start, Path.of(".")));
    run.saveSamples(samples);
    run.saveCases(cases);
    return run.path();
  }

  private StepCheck check(Path... steps) {
    return new StepCheck(
        List.of(new Round(List.of(kernels), List.of(steps))), StepCheck.Limits.AIM);
  }

  private Path step(double us, String mode) {
    return step(us, mode, 1);
  }

  private Path step(double us, String mode, int tp) {
    Map<String, String> params = new HashMap<>();
    params.put("model", "Qwen3-0.6B");
    params.put("tp", Integer.toString(tp));
    params.put("batch", "8q1s1k");
    params.put("mode", mode);
    params.put("dtype", "bf16");
    return save(
        List.of(CaseResult.of("step.DecodeStep", params).deviceTimesUs(new double[] {us}).build()),
        List.of());
  }

  @Test
  void aStepIsHeldAgainstTheSumOfItsKernels() throws Exception {
    StepCheck check = check(step(sumUs, "graph"));
    assertThat(check.lines())
        .singleElement()
        .satisfies(
            l -> {
              assertThat(l.error()).isCloseTo(0, within(1e-9));
              assertThat(l.rounds()).hasSize(1);
              assertThat(l.limit()).isEqualTo(0.05);
            });
    assertThat(check.within()).isTrue();
    assertThat(check.text()).contains("DecodeStep").contains("within");
    AnswerSchemaTest.conforms("check", check.json());
    assertThat(check.json())
        .contains("\"within\" : true")
        .contains("\"error_pct\"")
        .containsPattern("\"assumed_share\" : 0(\\.0)?,");
  }

  @Test
  void whatIsPredictedAndWhatIsMeasuredHaveTheirIntervals() throws Exception {
    StepCheck check = check(step(sumUs, "graph"));
    StepCheck.Line line = check.lines().get(0);
    // Kernels to 1 % each and the clock to 2 %.
    assertThat(line.predicted().high() / line.predictedSeconds() - 1)
        .isBetween(1.6449 * 0.02, 1.6449 * Math.hypot(0.01, 0.02));
    assertThat(line.predicted().low()).isLessThan(line.predictedSeconds());
    // Of one fork nothing is known but what a quiet machine shows.
    assertThat(line.measuredError()).isCloseTo(1.96 * 0.02 * sumUs * 1e-6, within(1e-12));
    JsonNode json = new ObjectMapper().readTree(check.json()).at("/steps/0");
    assertThat(json.path("measured_high_ms").asDouble())
        .isCloseTo(1e3 * (line.measuredSeconds() + line.measuredError()), within(1e-9));
    assertThat(json.path("predicted_low_ms").asDouble())
        .isCloseTo(1e3 * line.predicted().low(), within(1e-9));
    assertThat(json.path("provenance").asText()).isEqualTo("measured");
    assertThat(check.text()).contains(" +- ").contains("90 %: interval");
  }

  /** Of two forks of which one takes four times as long as the other. */
  @Test
  void aMeasuredTimeIsNotBelowNothing() throws Exception {
    Map<String, String> params = Map.of("model", "Qwen3-0.6B", "batch", "8q1s1k", "mode", "graph");
    CaseResult c =
        CaseResult.of("step.DecodeStep", params).deviceTimesUs(new double[] {sumUs}).build();
    List<Sample> samples = new ArrayList<>();
    for (int fork = 1; fork <= 2; fork++) {
      samples.add(
          new Sample(
              c.id(),
              Sample.DEVICE_TIME,
              fork,
              1,
              0,
              1e3 * sumUs * (fork == 1 ? 0.4 : 1.6),
              "ns/op"));
    }
    StepCheck check = check(save(List.of(c), samples));
    JsonNode json = new ObjectMapper().readTree(check.json()).at("/steps/0");
    assertThat(check.lines().get(0).measuredError()).isGreaterThan(sumUs * 1e-6);
    assertThat(json.path("measured_low_ms").asDouble()).isZero();
  }

  /** A rank is measured by itself: what ranks send each other is in no measured step. */
  @Test
  void aRankOfSeveralIsHeldAgainstItsOwnKernels() throws IOException {
    measureKernels(2);
    assertThat(check(step(sumUs, "graph", 2)).lines())
        .singleElement()
        .satisfies(l -> assertThat(l.error()).isCloseTo(0, within(1e-9)));
  }

  @Test
  void theLimitOfAnEagerStepIsWider() {
    Path graph = step(sumUs / 1.07, "graph");
    Path eager = step(sumUs / 1.07, "eager");
    StepCheck check = check(graph, eager);
    assertThat(check.lines()).extracting(StepCheck.Line::within).containsExactly(false, true);
    assertThat(check.within()).isFalse();
    assertThat(check.text()).contains("NOT within").contains("+7.0 %");
  }

  /** The machine is 20 % slower in the third round: kernels and steps alike. */
  @Test
  void eachRoundIsHeldAgainstItsOwnKernelsAndTheMedianIsJudged() throws IOException {
    Path slow =
        Files.writeString(
            folder.resolve("slow.csv"),
            Files.readAllLines(kernels).stream()
                .map(
                    line -> {
                      String[] f = line.split(",");
                      return line.startsWith("kernel")
                          ? line
                          : line.replace(
                              "," + f[3] + ",0.01", "," + 1.2 * Double.parseDouble(f[3]) + ",0.01");
                    })
                .collect(java.util.stream.Collectors.joining("\n")));
    StepCheck check =
        new StepCheck(
            List.of(
                new Round(List.of(kernels), List.of(step(sumUs / 1.3, "graph"))),
                new Round(List.of(kernels), List.of(step(sumUs / 1.02, "graph"))),
                new Round(List.of(slow), List.of(step(1.2 * sumUs, "graph")))),
            new StepCheck.Limits(0.03, 0.03));
    assertThat(check.lines())
        .singleElement()
        .satisfies(
            l -> {
              assertThat(l.rounds()).hasSize(3);
              assertThat(l.rounds().get(0).error()).isCloseTo(0.3, within(1e-9));
              assertThat(l.rounds().get(2).error()).isCloseTo(0, within(1e-9));
              assertThat(l.error()).isCloseTo(0.02, within(1e-9));
              assertThat(l.limit()).isEqualTo(0.03);
            });
    assertThat(check.within()).isTrue();
    assertThat(check.text()).contains("+30.0 %, +2.0 %");
  }

  @Test
  void aRunWithoutStepsIsAnError() {
    Path none = save(List.of(), List.of());
    assertThatThrownBy(() -> check(none)).hasMessageContaining("no measured step in");
  }
}
