package io.musabench.results.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.Work;
import io.musabench.results.run.Roofs.Bound;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RoofsTest {
  private static final Roofs ROOFS = new Roofs(20, 0.1);

  private static CaseResult read(String streams, double us) {
    return CaseResult.of("roof.ReadBandwidth", Map.of("streams", streams))
        .deviceTimesUs(new double[] {us})
        .work(new Work(0, 1_000_000_000))
        .build();
  }

  @Test
  void theBestOfEachKindIsTheRoof() {
    CaseResult flops =
        CaseResult.of("roof.PeakFlops", Map.of())
            .deviceTimesUs(new double[] {1e6})
            .work(new Work(100_000_000_000L, 0))
            .build();
    CaseResult failed =
        CaseResult.of("roof.ReadBandwidth", Map.of("streams", "9"))
            .deviceTimesUs(new double[] {1})
            .work(new Work(0, 1_000_000_000))
            .notOk(Status.FAILED, "wrong")
            .build();
    CaseResult copy =
        CaseResult.of("roof.CopyBandwidth", Map.of())
            .deviceTimesUs(new double[] {1})
            .work(new Work(0, 1_000_000_000))
            .build();
    CaseResult cached =
        CaseResult.of("roof.ReadBandwidth", Map.of("cache", "hot"))
            .deviceTimesUs(new double[] {1})
            .work(new Work(0, 1_000_000_000))
            .build();
    CaseResult skipped =
        CaseResult.of("roof.ReadBandwidth", Map.of("streams", "3")).work(new Work(0, 1)).build();
    Roofs roofs =
        Roofs.of(List.of(read("1", 1e5), read("2", 5e4), flops, failed, copy, cached, skipped));
    assertThat(roofs.readGbPerS()).isCloseTo(20, within(1e-9));
    assertThat(roofs.tflopPerS()).isCloseTo(0.1, within(1e-9));
  }

  @Test
  void withoutRoofCasesNothingIsKnown() {
    assertThat(Roofs.of(List.of())).isEqualTo(Roofs.UNKNOWN);
    assertThat(Roofs.UNKNOWN.share(new Work(1, 1), 1)).isNull();
  }

  @Test
  void theSlowerOfBytesAndArithmeticBinds() {
    // 1 s of bytes, 0.5 s of arithmetic
    Roofs.Share bytes = ROOFS.share(new Work(50_000_000_000L, 20_000_000_000L), 2);
    assertThat(bytes.bound()).isEqualTo(Bound.READ_BANDWIDTH);
    assertThat(bytes.percent()).isCloseTo(50, within(1e-9));
    // 0.5 s of bytes, 1 s of arithmetic
    Roofs.Share flops = ROOFS.share(new Work(100_000_000_000L, 10_000_000_000L), 4);
    assertThat(flops.bound()).isEqualTo(Bound.PEAK_FLOPS);
    assertThat(flops.percent()).isCloseTo(25, within(1e-9));
    Roofs.Share even = ROOFS.share(new Work(100_000_000_000L, 20_000_000_000L), 1);
    assertThat(even.bound()).isEqualTo(Bound.READ_BANDWIDTH);
  }

  @Test
  void aRoofThatTheWorkDoesNotNeedMayBeUnknown() {
    Roofs readOnly = new Roofs(20, Double.NaN);
    assertThat(readOnly.share(new Work(0, 20_000_000_000L), 1).percent())
        .isCloseTo(100, within(1e-9));
    assertThat(readOnly.share(new Work(1, 20_000_000_000L), 1)).isNull();
    Roofs flopsOnly = new Roofs(Double.NaN, 0.1);
    assertThat(flopsOnly.share(new Work(100_000_000_000L, 0), 1).bound())
        .isEqualTo(Bound.PEAK_FLOPS);
  }

  @Test
  void noWorkOrNoTimeHasNoShare() {
    assertThat(ROOFS.share(Work.NONE, 1)).isNull();
    assertThat(ROOFS.share(new Work(1, 1), 0)).isNull();
    assertThat(ROOFS.share(new Work(1, 1), Double.NaN)).isNull();
  }

  @Test
  void aCaseIsComparedByItsMedian() {
    CaseResult c =
        CaseResult.of("gemm.Gemm", Map.of())
            .deviceTimesUs(new double[] {1e6, 2e6, 3e6})
            .work(new Work(0, 20_000_000_000L))
            .build();
    assertThat(ROOFS.share(c).percent()).isCloseTo(50, within(1e-9));
  }
}
