package io.musabench.results.tpot.answers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.model.Work;
import io.musabench.results.run.CasePart;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import io.musabench.results.tpot.answers.Attribution.Moved;
import io.musabench.results.tpot.answers.Attribution.Share;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AttributionTest {
  @TempDir Path folder;

  /**
   * A run made up of steps whose kernels take given times, with three forks 0.2 % apart, or two
   * that are 1 % apart, or as much as is asked for.
   */
  private final class Run {
    private final int forks;
    private double apart = 0.01;

    private final List<CaseResult> cases = new ArrayList<>();
    private final List<Sample> samples = new ArrayList<>();

    Run() {
      this(3);
    }

    Run(int forks) {
      this.forks = forks;
    }

    Run apart(double share) {
      this.apart = share;
      return this;
    }

    Run step(
        String name,
        String batch,
        String mode,
        double latencyUs,
        double submitUs,
        Map<String, Double> kernels) {
      Map<String, String> params = new LinkedHashMap<>();
      params.put("batch", batch);
      params.put("mode", mode);
      params.put("model", "Qwen3-0.6B");
      List<CasePart> parts = new ArrayList<>();
      kernels.forEach(
          (role, us) -> parts.add(new CasePart(role, "gemm", "m=1", 28, Work.NONE, us / 28)));
      CaseResult c =
          CaseResult.of("step." + name, params)
              .forks(forks)
              .kernels(28 * parts.size())
              .deviceTimesUs(new double[] {latencyUs})
              .submitTimeMedianUs(submitUs)
              .parts(parts)
              .build();
      cases.add(c);
      for (int fork = 1; fork <= forks; fork++) {
        double factor = forks == 3 ? 1 + 0.002 * (fork - 2) : 1 + apart * (fork - 1.5);
        samples.add(sample(c, "device.time", fork, factor * latencyUs));
        samples.add(sample(c, "host.submit", fork, factor * submitUs));
        for (CasePart p : parts) {
          String metric = "device.time." + p.role() + " " + p.shape();
          samples.add(sample(c, metric, fork, factor * p.deviceTimeMedianUs()));
        }
      }
      return this;
    }

    private Sample sample(CaseResult c, String metric, int fork, double us) {
      return new Sample(c.id(), metric, fork, 1, 0, 1e3 * us, "ns/op");
    }

    Path write() {
      RunDirectory run = RunDirectory.create(folder, "host", Instant.parse("2026-01-02T03:04:05Z"));
      run.saveEnvironment(
          Environment.collect("host", Instant.parse("2026-01-02T03:04:05Z"), Path.of("/")));
      run.saveSamples(samples);
      run.saveCases(cases);
      return run.path();
    }
  }

  private static Map<String, Double> kernels(double gemm, double attention) {
    Map<String, Double> all = new LinkedHashMap<>();
    all.put("gate_up", gemm);
    all.put("attention", attention);
    return all;
  }

  private static Share share(Moved m, String name) {
    return m.shares().stream().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
  }

  @Test
  void aSlowerKernelIsTheOneThatIsMarked() {
    Path a = new Run().step("DecodeStep", "q1s1k", "graph", 1010, 50, kernels(700, 300)).write();
    Path b = new Run().step("DecodeStep", "q1s1k", "graph", 1060, 50, kernels(700, 350)).write();
    Moved m = new Attribution(a, b).moved().get(0);
    assertThat(m.tpotB() - m.tpotA()).isCloseTo(50e-6, within(1e-9));
    assertThat(share(m, "attention").shareS()).isCloseTo(50e-6, within(1e-9));
    assertThat(m.shares().stream().filter(Share::flagged).map(Share::name))
        .containsExactly("attention");
    assertThat(m.unexplainedS()).isCloseTo(0, within(1e-12));
  }

  @Test
  void everyTimeAndEveryChangeHasItsInterval() throws Exception {
    Path a = new Run().step("DecodeStep", "q1s1k", "graph", 1010, 50, kernels(700, 300)).write();
    Path b = new Run().step("DecodeStep", "q1s1k", "graph", 1060, 50, kernels(700, 350)).write();
    Attribution answer = new Attribution(a, b);
    // Three forks 0.2 % apart: a standard deviation of as much, Student's t of two degrees.
    double half = 4.303 * 0.002 / Math.sqrt(3);
    Moved m = answer.moved().get(0);
    assertThat(m.tpotErrorA()).isCloseTo(half * 1010e-6, withinPercentage(0.1));
    assertThat(m.tpotErrorB()).isCloseTo(half * 1060e-6, withinPercentage(0.1));
    assertThat(m.changeErrorS())
        .isCloseTo(half * Math.hypot(1010e-6, 1060e-6), withinPercentage(0.1));
    assertThat(share(m, "attention").aErrorS()).isCloseTo(half * 300e-6, withinPercentage(0.1));
    assertThat(share(m, "attention").bErrorS()).isCloseTo(half * 350e-6, withinPercentage(0.1));
    assertThat(m.unexplainedErrorS()).isCloseTo(share(m, "gaps").errorS(), within(1e-15));
    JsonNode step = new ObjectMapper().readTree(answer.json()).at("/steps/0");
    assertThat(step.path("tpot_delta_high_ms").asDouble() - step.path("tpot_delta_ms").asDouble())
        .isCloseTo(1e3 * m.changeErrorS(), within(1e-9));
    assertThat(step.path("terms")).allMatch(t -> t.path("a_low_ms").isNumber());
    assertThat(step.path("provenance").asText()).isEqualTo("measured");
    assertThat(answer.text()).contains("TPOT 1.01 ms +- 5.02 us -> 1.06 ms +- 5.27 us (+5.0 % +- ");
  }

  /** Two forks that are 30 % apart: half of the interval is 1.9 times the time. */
  @Test
  void noTimeIsBelowNothingButAChangeMayBe() throws Exception {
    Path a = noisy(1010, 300);
    Path b = noisy(2010, 1300);
    JsonNode step = new ObjectMapper().readTree(new Attribution(a, b).json()).at("/steps/0");
    assertThat(step.path("tpot_a_low_ms").asDouble()).isZero();
    assertThat(step.path("tpot_b_low_ms").asDouble()).isZero();
    assertThat(step.path("tpot_delta_low_ms").asDouble()).isNegative();
    assertThat(step.path("unexplained_low_ms").asDouble()).isNegative();
    for (JsonNode term : step.path("terms")) {
      assertThat(term.path("a_low_ms").asDouble()).as(term.toString()).isNotNegative();
      assertThat(term.path("b_low_ms").asDouble()).as(term.toString()).isNotNegative();
    }
  }

  private Path noisy(double latencyUs, double attentionUs) {
    return new Run(2)
        .apart(0.3)
        .step("DecodeStep", "q1s1k", "graph", latencyUs, 50, kernels(700, attentionUs))
        .write();
  }

  /** The ratio of two times has the root of the sum of the squares of their relative errors. */
  @Test
  void theErrorOfARatioIsNotThatOfTheDifference() {
    Path a = new Run().step("DecodeStep", "q1s1k", "graph", 1010, 50, kernels(700, 300)).write();
    Path b = new Run().step("DecodeStep", "q1s1k", "graph", 4010, 50, kernels(700, 3300)).write();
    Attribution answer = new Attribution(a, b);
    double each = 4.303 * 0.002 / Math.sqrt(3);
    Moved m = answer.moved().get(0);
    assertThat(m.ratioError())
        .isCloseTo(4010 / 1010.0 * each * Math.sqrt(2), withinPercentage(0.1));
    assertThat(answer.text()).contains("(+297.0 % +- 2.8 %)");
  }

  /** TPOT moves with the whole steps, of which the prefill's error is the smaller part. */
  @Test
  void theIntervalOfTpotHoldsTheErrorsOfBothSteps() {
    Path a =
        new Run()
            .step("DecodeStep", "4q1s1k", "graph", 1010, 50, kernels(700, 300))
            .step("PrefillStep", "q1k", "graph", 20000, 50, kernels(15000, 4000))
            .write();
    Moved m = new Attribution(a, a).moved().get(0);
    double decode = 4.303 * 0.002 / Math.sqrt(3) * m.tpotA();
    assertThat(m.tpotErrorA()).isGreaterThan(0.5 * decode).isLessThan(decode);
    assertThat(m.tpotErrorB()).isEqualTo(m.tpotErrorA());
  }

  @Test
  void sharesAndTheUnexplainedAddUpToTheChange() {
    Path a =
        new Run()
            .step("DecodeStep", "4q1s1k", "eager", 1010, 990, kernels(700, 300))
            .step("PrefillStep", "q1k", "eager", 20000, 990, kernels(15000, 4000))
            .write();
    Path b =
        new Run()
            .step("DecodeStep", "4q1s1k", "eager", 1300, 1250, kernels(650, 360))
            .step("PrefillStep", "q1k", "eager", 17500, 1250, kernels(14000, 4100))
            .write();
    Moved m = new Attribution(a, b).moved().get(0);
    assertThat(m.inputTokens()).isEqualTo(1024);
    double sum = m.shares().stream().mapToDouble(Share::shareS).sum() + m.unexplainedS();
    assertThat(sum).isCloseTo(m.tpotB() - m.tpotA(), within(1e-12));
    // In B the decode step waits for launches, so launching has a share.
    assertThat(share(m, "launch").shareS()).isPositive();
    assertThat(share(m, "launch").flagged()).isTrue();
  }

  @Test
  void whileTheHostBindsNoKernelHasAShare() {
    Path a = new Run().step("DecodeStep", "q1s1k", "eager", 2000, 2000, kernels(700, 300)).write();
    Path b = new Run().step("DecodeStep", "q1s1k", "eager", 2000, 2000, kernels(700, 500)).write();
    Moved m = new Attribution(a, b).moved().get(0);
    assertThat(share(m, "attention").shareS()).isZero();
    assertThat(m.shares()).noneMatch(Share::flagged);
  }

  @Test
  void aGapBesideLaunchingIsAsUncertainAsTheLaunching() {
    Path a = new Run().step("DecodeStep", "q1s1k", "eager", 2100, 2000, kernels(700, 300)).write();
    Moved m = new Attribution(a, a).moved().get(0);
    // Standard error of three forks 0.2 % apart, widened by Student's t; of both runs.
    double share = 0.002 / Math.sqrt(3) * 4.3027;
    assertThat(share(m, "gaps").errorS())
        .isCloseTo(share * Math.sqrt(2) * Math.hypot(2100e-6, 2000e-6), within(1e-8));
  }

  @Test
  void eagerAgainstGraphIsComparedWhereOnlyTheModeDiffers() {
    Path a = new Run().step("DecodeStep", "q1s1k", "eager", 2000, 2000, kernels(700, 300)).write();
    Path b = new Run().step("DecodeStep", "q1s1k", "graph", 1010, 20, kernels(700, 300)).write();
    Moved m = new Attribution(a, b).moved().get(0);
    assertThat(share(m, "launch").shareS()).isCloseTo(-1000e-6, within(1e-9));
  }

  @Test
  void aStepFasterThanItsKernelsIsUnexplained() {
    Path a = new Run().step("DecodeStep", "q1s1k", "graph", 1000, 50, kernels(700, 300)).write();
    Path b = new Run().step("DecodeStep", "q1s1k", "graph", 900, 50, kernels(700, 300)).write();
    Moved m = new Attribution(a, b).moved().get(0);
    assertThat(m.unexplainedS()).isCloseTo(-100e-6, within(1e-9));
  }

  /** Two forks that differ by 1 % say little of a kernel that moved by 4 %. */
  @Test
  void twoForksFlagOnlyWhatIsFarOutsideTheirSpread() {
    Path a = new Run(2).step("DecodeStep", "q1s1k", "graph", 1010, 50, kernels(700, 300)).write();
    Path b = new Run(2).step("DecodeStep", "q1s1k", "graph", 1022, 50, kernels(700, 312)).write();
    Path c = new Run(2).step("DecodeStep", "q1s1k", "graph", 1110, 50, kernels(700, 400)).write();
    assertThat(new Attribution(a, b).moved().get(0).shares()).noneMatch(Share::flagged);
    assertThat(new Attribution(a, c).moved().get(0).shares().stream().filter(Share::flagged))
        .extracting(Share::name)
        .containsExactly("attention");
  }

  @Test
  void runsWithoutACommonStepAreRefusedByName() {
    Path a = new Run().step("DecodeStep", "q1s1k", "graph", 1000, 50, kernels(700, 300)).write();
    Path b = new Run().step("DecodeStep", "q1s2k", "graph", 900, 50, kernels(700, 300)).write();
    assertThatThrownBy(() -> new Attribution(a, b)).hasMessageContaining("q1s2k");
  }

  @Test
  void jsonHasTheTermsWithTheirIntervals() throws Exception {
    Path a = new Run().step("DecodeStep", "q1s1k", "graph", 1010, 50, kernels(700, 300)).write();
    Path b = new Run().step("DecodeStep", "q1s1k", "graph", 1060, 50, kernels(700, 350)).write();
    JsonNode root = new ObjectMapper().readTree(new Attribution(a, b).json());
    AnswerSchemaTest.conforms("attribute", root.toString());
    JsonNode first = root.at("/steps/0/terms/0");
    assertThat(first.path("name").asText()).isEqualTo("attention");
    assertThat(first.path("low_ms").asDouble()).isLessThan(0.05).isPositive();
    assertThat(first.path("flagged").asBoolean()).isTrue();
  }
}
