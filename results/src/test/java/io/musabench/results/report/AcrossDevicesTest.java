package io.musabench.results.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.Work;
import io.musabench.results.report.AcrossDevices.Row;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.Environment.DeviceInfo;
import io.musabench.results.run.RunData;
import io.musabench.results.run.Status;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AcrossDevicesTest {
  private static final String EXPECTED =
      """
      A  MTT S5000, run-on-MTT-S5000
         measured roofs: read 1000 GB/s, multiply-adds 100 TFLOP/s
         data sheet: memory_gb_per_s 1600 [vendor] musaInfo: 640 bit at 20 Gbit/s; published as 1.6 TB/s
         data sheet: bf16_tflops unknown; not taken: 500 [assumed] half of the fp8 figure; no primary source
      B  MTT S4000, run-on-MTT-S4000
         measured roofs: read 500 GB/s, multiply-adds 50.0 TFLOP/s
         data sheet: memory_gb_per_s 768 [press] press; agrees with 384 bit at 16 Gbit/s
         data sheet: bf16_tflops 100 [press] press (some sources 98)

      Cases, medians (dtype=bf16)
        kernel         case              time   GB/s  TFLOP/s  of roof  of sheet  bound  B / A
        -------------  ----------  -  -------  -----  -------  -------  --------  -----  -----
        ReadBandwidth              A  1.00 ms   1000        -  100.0 %    62.5 %  read
                                   B  2.00 ms    500        -  100.0 %    65.1 %  read    2.00
        PeakFlops                  A  1.00 ms      -      100  100.0 %         -  flops
                                   B  2.00 ms      -     50.0  100.0 %    50.0 %  flops   2.00
        Gemm           batch=q1    A  1.25 ms    800    0.800   80.0 %    50.0 %  read
                                   B  2.50 ms    400    0.400   80.0 %    52.1 %  read    2.00
        Gemm           batch=q512  A  2.00 ms  0.500     50.0   50.0 %         -  flops
                                   B  4.00 ms  0.250     25.0   50.0 %    25.0 %  flops   2.00
        GraphCapture               A  7.00 us      -        -        -         -
                                   B  14.0 us      -        -        -         -          2.00

      Steps, measured whole
        step     model       batch   mode         A        B  B / A  kernels
        -------  ----------  ------  -----  -------  -------  -----  -------
        decode   Qwen3-0.6B  8q1s1k  graph  5.00 ms  10.0 ms   2.00        -
        prefill  Qwen3-0.6B  q128    graph  20.0 ms  40.0 ms   2.00        -

      TPOT, predicted from the measured steps (not itself measured), answers of 256 tokens
        model       mode   in flight  context  input   TPOT A   TPOT B  B / A             TTFT A            TTFT B
        ----------  -----  ---------  -------  -----  -------  -------  -----  -----------------  ----------------
        Qwen3-0.6B  graph          8     1024    128  5.54 ms  11.1 ms   2.00  23.3 ms - 92.2 ms  46.5 ms - 184 ms

      Only in A
        attention.PagedDecode
      """;

  private static RunData run(String device, double factor, CaseResult... more) {
    List<CaseResult> cases = new ArrayList<>();
    cases.add(timed("roof.ReadBandwidth", Map.of(), new Work(0, 1_000_000_000), 1000 * factor));
    cases.add(timed("roof.PeakFlops", Map.of(), new Work(100_000_000_000L, 0), 1000 * factor));
    // 1 GB of weights in 1250 us: 800 GB/s, of which the roof is 1000.
    cases.add(
        timed(
            "gemm.Gemm",
            Map.of("batch", "q1", "dtype", "bf16"),
            new Work(1_000_000_000, 1_000_000_000),
            1250 * factor));
    // 100 GFLOP in 2000 us: 50 TFLOP/s of 100.
    cases.add(
        timed(
            "gemm.Gemm",
            Map.of("batch", "q512", "dtype", "bf16"),
            new Work(100_000_000_000L, 1_000_000),
            2000 * factor));
    cases.add(CaseResult.of("launch.GraphCapture", Map.of()).hostTimeMedianUs(7 * factor).build());
    Map<String, String> step = Map.of("model", "Qwen3-0.6B", "mode", "graph");
    cases.add(timed("step.DecodeStep", with(step, "8q1s1k"), Work.NONE, 5000 * factor));
    cases.add(timed("step.PrefillStep", with(step, "q128"), Work.NONE, 20_000 * factor));
    cases.addAll(List.of(more));
    Environment environment =
        Environment.collect("musa", Instant.parse("2026-01-01T00:00:00Z"), Path.of("/"))
            .withDevice(new DeviceInfo(device, "MUSA", 0, null, null, null, null));
    return new RunData("run-on-" + device.replace(' ', '-'), environment, cases);
  }

  private static Map<String, String> with(Map<String, String> params, String batch) {
    Map<String, String> all = new HashMap<>(params);
    all.put("batch", batch);
    return all;
  }

  private static CaseResult timed(
      String benchmark, Map<String, String> params, Work work, double us) {
    return CaseResult.of(benchmark, params)
        .deviceTimesUs(new double[] {us})
        .work(work)
        .forks(1)
        .build();
  }

  @Test
  void sharesAreOfEachDevicesOwnRoofsAndSheet() {
    List<Row> rows = AcrossDevices.rows(run("MTT S5000", 1), run("MTT S4000", 2));
    Row memoryBound = rows.get(2);
    assertThat(memoryBound.ratio()).isCloseTo(2, within(1e-9));
    assertThat(memoryBound.a().bound()).isEqualTo("read");
    assertThat(memoryBound.a().gbPerS()).isCloseTo(800, within(1e-6));
    assertThat(memoryBound.a().percentOfRoof()).isCloseTo(80, within(1e-6));
    assertThat(memoryBound.b().percentOfRoof()).isCloseTo(80, within(1e-6));
    assertThat(memoryBound.a().percentOfSheet()).isCloseTo(100 * 800 / 1600.0, within(1e-6));
    assertThat(memoryBound.b().percentOfSheet()).isCloseTo(100 * 400 / 768.0, within(1e-6));
    Row computeBound = rows.get(3);
    assertThat(computeBound.b().bound()).isEqualTo("flops");
    assertThat(computeBound.b().percentOfSheet()).isCloseTo(25, within(1e-6));
  }

  @Test
  void aPeakThatNobodyPublishedStaysUnknown() {
    List<Row> rows = AcrossDevices.rows(run("MTT S5000", 1), run("Some CPU", 2));
    assertThat(rows.get(3).a().percentOfSheet()).isNaN();
    assertThat(rows.get(3).b().percentOfSheet()).isNaN();
    String text = AcrossDevices.text(run("MTT S5000", 1), run("Some CPU", 2));
    assertThat(text)
        .contains("data sheet: bf16_tflops unknown; not taken: 500")
        .contains("data sheet: none");
  }

  @Test
  void hostTimeHasNoRates() {
    Row capture = AcrossDevices.rows(run("MTT S5000", 1), run("MTT S4000", 3)).get(4);
    assertThat(capture.ratio()).isCloseTo(3, within(1e-9));
    assertThat(capture.a().gbPerS()).isNaN();
    assertThat(capture.a().bound()).isEmpty();
  }

  @Test
  void theTextHasCasesStepsTpotAndWhatOnlyOneRunHas() {
    CaseResult extra = timed("attention.PagedDecode", Map.of(), Work.NONE, 10);
    CaseResult failed =
        CaseResult.of("attention.FmhaPrefill", Map.of()).notOk(Status.FAILED, "x").build();
    String text = AcrossDevices.text(run("MTT S5000", 1, extra), run("MTT S4000", 2, failed));
    assertThat(text)
        .contains("A  MTT S5000, run-on-MTT-S5000", "B  MTT S4000, run-on-MTT-S4000")
        .contains("Steps, measured whole")
        .contains("TPOT, predicted")
        .contains("Only in A\n  attention.PagedDecode\n")
        .doesNotContain("FmhaPrefill")
        .doesNotContain("SLOWER");
    assertThat(text).isEqualTo(EXPECTED);
  }
}
