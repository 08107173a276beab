package io.musabench.results.tpot.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.KernelCall.AllReduce;
import io.musabench.results.model.KernelCall.FmhaPrefill;
import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.KernelCall.PagedAttention;
import io.musabench.results.model.Layout;
import io.musabench.results.model.Mask;
import io.musabench.results.model.ModelOperations;
import io.musabench.results.model.Models;
import io.musabench.results.model.Operation;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Provenance;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** The shared tables of an H100; skipped where they are not. */
class H100TablesTest {
  private static KernelSource source;

  private static synchronized KernelSource h100() {
    if (source == null) {
      source = KernelSources.open(SharedTables.h100(), Mode.GRAPH);
    }
    return source;
  }

  @Test
  void knownRowsAreFound() {
    assertThat(h100().name()).isEqualTo("aiconfigurator h100_sxm vllm 0.14.0");
    // gemm.csv: 8192, 65536, 10240; allreduce.csv: 2 GPUs, 128 elements, graph.
    assertThat(seconds(new Gemm(8192, 65536, 10240))).isCloseTo(12.903e-3, within(1e-6));
    assertThat(seconds(new AllReduce(128, 2))).isCloseTo(4.2835e-6, within(1e-9));
    assertThat(h100().remarks())
        .anyMatch(r -> r.startsWith("gemm.csv: 121 of 9240 times of gemm are over 25 % longer"))
        .anyMatch(
            r ->
                r.startsWith("gemm.csv: 14 of 9240 times of gemm are shorter than the roofs allow"))
        .hasSize(2);
    // 1.405 ms in the table, but 0.164 ms for half as many rows.
    assertThat(seconds(new Gemm(4096, 6144, 5120))).isCloseTo(2 * 0.164e-3, within(2e-6));
  }

  private static double seconds(KernelCall call) {
    return h100().time(call, Precision.BF16).orElseThrow().seconds();
  }

  /** Medians that aiconfigurator's own study gives: 4.87 and 3.63 % for products, 2.0 and 1.1 %. */
  @Test
  void leaveOneOutErrorsAreSmall() {
    Map<String, LookupError> errors =
        h100().leaveOneOut().stream()
            .collect(Collectors.toMap(LookupError::operation, Function.identity()));
    assertThat(errors.get("gemm, size").median()).isLessThan(0.02);
    assertThat(errors.get("gemm, shape").median()).isLessThan(0.025);
    assertThat(errors.get("prefill attention, size").median()).isLessThan(0.04);
    assertThat(errors.get("prefill attention, batch").median()).isLessThan(0.025);
    assertThat(errors.get("decode attention, size").median()).isLessThan(0.02);
    assertThat(errors.get("decode attention, batch").median()).isLessThan(0.035);
    assertThat(errors.get("decode attention, shape").median()).isLessThan(0.015);
    assertThat(errors.get("all-reduce, size").median()).isLessThan(0.02);
    assertThat(errors.values()).allSatisfy(e -> assertThat(e.p90()).isLessThan(0.6));
  }

  @Test
  void everyOperationOfTheModelsHasATime() {
    for (String model : Models.names()) {
      for (int tp : new int[] {1, 2, 4, 8}) {
        Layout layout = Models.find(model).layout(tp);
        for (String batch : List.of("q1s1k", "100q1s1500", "q1k", "3q1000_7q1s700", "q512s1500")) {
          for (Operation op : ModelOperations.of(layout, BatchSpec.parse(batch), 16)) {
            KernelTime time = h100().time(op.call(), Precision.BF16).orElseThrow();
            if (op.role().equals("kv_cache_write")) {
              assertThat(time.seconds()).isZero();
            } else {
              assertThat(time.seconds())
                  .describedAs("%s %s", op.role(), op.call().key())
                  .isGreaterThanOrEqualTo(h100().roofs().seconds(op.call(), Precision.BF16));
            }
          }
        }
      }
    }
  }

  /** Weights of Qwen3-32B at TP 4 in 4.8 ms at full bandwidth; see the sum of bytes and figures. */
  @Test
  void aDecodeStepIsAboveItsRoofAndBelowTwiceIt() {
    Layout layout = Models.find("Qwen3-32B").layout(4);
    double sum = 0;
    for (Operation op : ModelOperations.of(layout, BatchSpec.decode(8, 1152), 16)) {
      sum += op.count() * seconds(op.call());
    }
    // 15.99 GB at 3.35 TB/s are 4.77 ms.
    assertThat(sum).isBetween(4.77e-3, 2 * 4.77e-3);
  }

  @Provide
  Arbitrary<Gemm> products() {
    return Combinators.combine(
            Arbitraries.integers().between(1, 20000),
            Arbitraries.integers().between(16, 100000),
            Arbitraries.integers().between(16, 40000))
        .as(Gemm::new);
  }

  @Property
  void noProductIsFasterThanTheFastestMeasured(@ForAll("products") Gemm gemm) {
    // The shortest row of the table.
    assertThat(seconds(gemm)).isGreaterThan(1e-6);
    // 14 rows of 9240 beat the data sheet, by 20 % at most.
    assertThat(seconds(gemm)).isGreaterThan(0.75 * h100().roofs().seconds(gemm, Precision.BF16));
  }

  @Provide
  Arbitrary<KernelCall> attention() {
    Arbitrary<HeadGeometry> heads =
        Combinators.combine(
                Arbitraries.integers().between(1, 12),
                Arbitraries.integers().between(1, 16),
                Arbitraries.of(64, 80, 96, 128, 192, 256))
            .as((kv, group, d) -> new HeadGeometry(kv * group, kv, d));
    Arbitrary<BatchSpec> batches =
        Combinators.combine(
                Arbitraries.integers().between(1, 3000),
                Arbitraries.integers().between(1, 5000),
                Arbitraries.integers().between(0, 200_000))
            .as(
                (n, q, cached) ->
                    BatchSpec.uniform(n, n > 300 ? 1 : q, (n > 300 ? 1 : q) + cached));
    return Combinators.combine(heads, batches)
        .as(
            (h, b) ->
                b.isPrefill()
                    ? new FmhaPrefill(b, h, Mask.CAUSAL)
                    : new PagedAttention(b, h, Mask.CAUSAL, 16));
  }

  @Property
  void attentionOfAnyShapeHasATimeThatIsNotBelowItsRoof(
      @ForAll("attention") KernelCall call, @ForAll("precisions") Precision precision) {
    double seconds = h100().time(call, precision).orElseThrow().seconds();
    assertThat(seconds).isFinite().isGreaterThan(0.95 * h100().roofs().seconds(call, precision));
  }

  @Provide
  Arbitrary<Precision> precisions() {
    return Arbitraries.of("bf16", "fp16", "fp8/bf16/bf16", "fp8/bf16/fp8").map(Precision::parse);
  }

  @Test
  void provenanceSaysHowATimeWasGot() {
    assertThat(provenance(new Gemm(8, 5120, 5120))).isEqualTo(Provenance.MEASURED);
    assertThat(provenance(new Gemm(9, 5120, 5120))).isEqualTo(Provenance.INTERPOLATED);
    assertThat(provenance(new Gemm(8, 25600, 5120))).isEqualTo(Provenance.INTERPOLATED);
    assertThat(provenance(new Gemm(8, 75968, 5120))).isEqualTo(Provenance.EXTRAPOLATED);
    assertThat(provenance(new Gemm(9000, 5120, 5120))).isEqualTo(Provenance.EXTRAPOLATED);
  }

  private static Provenance provenance(KernelCall call) {
    return h100().time(call, Precision.BF16).orElseThrow().provenance();
  }
}
