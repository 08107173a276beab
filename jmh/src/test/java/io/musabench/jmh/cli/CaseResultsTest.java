package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.jmh.device.MadeUpFork;
import io.musabench.results.run.CpuTimes;
import io.musabench.results.run.Status;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.RunResult;

/** A case is summed up, or fails with one line; it never ends the run. */
class CaseResultsTest {
  private static CaseResults.Summed sum(RunResult... forks) {
    Benchmark benchmark =
        new Benchmark("io.musabench.jmh.elementwise.RmsNorm.time", new TreeMap<>());
    CaseSpec spec = CaseSpec.expand(benchmark, Map.of()).iterator().next();
    CpuTimes.Others others = CpuTimes.Others.UNKNOWN;
    return CaseResults.sum(spec, List.of(forks), List.of(), List.of(), others);
  }

  private static void failed(CaseResults.Summed summed, String reason) {
    assertThat(summed.result().status()).isEqualTo(Status.FAILED);
    assertThat(summed.result().reason())
        .startsWith("what its forks sent cannot be summed up: ")
        .contains(reason)
        .doesNotContain("\n");
    assertThat(summed.samples()).isEmpty();
    assertThat(summed.jmh()).isNull();
  }

  @Test
  void shouldSumUpForks() {
    CaseResults.Summed summed =
        sum(
            MadeUpFork.of(new double[] {1000, 3000}, new double[] {2000}),
            MadeUpFork.of(new double[] {4000, 5000}));
    assertThat(summed.result().ok()).isTrue();
    assertThat(summed.result().deviceTimeMedianUs()).isEqualTo(3);
    assertThat(summed.result().forks()).isEqualTo(2);
    assertThat(summed.samples()).hasSize(10);
    assertThat(summed.jmh().getPrimaryResult().getScore()).isEqualTo(3000);
  }

  @Test
  void shouldNotNameThePortOfOneForksTurns() {
    assertThat(sum(MadeUpFork.of(new double[] {1000})).jmh().getParams().getJvmArgs())
        .containsExactly("-Dmade.up=true");
  }

  @Test
  void shouldFailACaseWhoseForksSentNoTime() {
    failed(sum(MadeUpFork.of(new double[] {1000, Double.NaN})), "NaN");
    failed(sum(MadeUpFork.of(new double[] {})), "at least one value");
    failed(
        sum(MadeUpFork.of(new double[] {1000}), MadeUpFork.of(new double[] {1000}, null)),
        "an iteration came back without device samples");
    failed(sum(MadeUpFork.of()), "not one iteration came back");
  }
}
