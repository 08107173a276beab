package io.musabench.results.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.Work;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CaseResultTest {
  @Test
  void theNameHoldsGroupClassAndParameters() {
    CaseResult c =
        CaseResult.of("attention.PagedDecode", Map.of("page", "16", "batch", "q1s1k")).build();
    assertThat(c.id()).isEqualTo("attention.PagedDecode:batch=q1s1k;page=16");
    assertThat(c.group()).isEqualTo("attention");
    assertThat(c.shortName()).isEqualTo("PagedDecode");
    assertThat(c.param("page")).isEqualTo("16");
    assertThat(c.param("other")).isEmpty();
    CaseResult bare = CaseResult.of("Empty", Map.of()).build();
    assertThat(bare.id()).isEqualTo("Empty");
    assertThat(bare.group()).isEmpty();
    assertThat(bare.shortName()).isEqualTo("Empty");
  }

  @Test
  void samplesAreSummarised() {
    CaseResult c =
        CaseResult.of("a.B", Map.of()).deviceTimesUs(new double[] {1, 2, 3, 4, 5}).build();
    assertThat(c.samples()).isEqualTo(5);
    assertThat(c.deviceTimeMedianUs()).isEqualTo(3);
    assertThat(c.deviceTimeP10Us()).isCloseTo(1.4, within(1e-9));
    assertThat(c.deviceTimeP90Us()).isCloseTo(4.6, within(1e-9));
    assertThat(c.ok()).isTrue();
  }

  @Test
  void samplesOfHostTimeAreCountedWhereThereIsNoDeviceTime() {
    CaseResult c = CaseResult.of("a.B", Map.of()).hostTimesUs(new double[] {5, 1, 3}).build();
    assertThat(c.samples()).isEqualTo(3);
    assertThat(c.hostTimeMedianUs()).isEqualTo(3);
    assertThat(c.deviceTimeMedianUs()).isNaN();
  }

  @Test
  void ratesFollowFromMedianAndWork() {
    CaseResult c =
        CaseResult.of("a.B", Map.of())
            .deviceTimesUs(new double[] {500})
            .work(new Work(2_000_000_000L, 5_000_000L))
            .build();
    assertThat(c.gbPerS()).isCloseTo(10, within(1e-9));
    assertThat(c.tflopPerS()).isCloseTo(4, within(1e-9));
  }

  @Test
  void whatWasNotMeasuredOrDoesNotApplyIsNotANumber() {
    CaseResult empty = CaseResult.of("a.B", Map.of()).build();
    assertThat(empty.gbPerS()).isNaN();
    assertThat(empty.tflopPerS()).isNaN();
    assertThat(empty.hostTimeMedianUs()).isNaN();
    assertThat(empty.launches()).isEqualTo(1);
    CaseResult notMeasured =
        CaseResult.of("a.B", Map.of())
            .work(new Work(1, 1))
            .notOk(Status.TIMEOUT, "stopped after 300 s")
            .build();
    assertThat(notMeasured.ok()).isFalse();
    assertThat(notMeasured.gbPerS()).isNaN();
    assertThat(notMeasured.tflopPerS()).isNaN();
    assertThat(notMeasured.status().text()).isEqualTo("timeout");
  }

  @Test
  void aKernelCaseHasOneKernel() {
    CaseResult c = CaseResult.of("gemm.Gemm", Map.of()).kernel("gemm", "m=1 n=1 k=1").build();
    assertThat(c.kernels()).isEqualTo(1);
    assertThat(CaseResult.of("step.X", Map.of()).kernels(9).build().kernels()).isEqualTo(9);
  }
}
