package io.musabench.results.tpot.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.ElementType;
import io.musabench.results.model.KernelCall.AllReduce;
import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.KernelCall.RmsNorm;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Provenance;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelSourcesTest {
  private static final String HEADER = "kernel,shape,precision,seconds_us,relative_error,source\n";

  @TempDir Path folder;

  private Path write(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  private static void refused(List<Path> paths, String... parts) {
    assertThatThrownBy(() -> KernelSources.open(paths, Mode.GRAPH))
        .isInstanceOf(KernelSourceException.class)
        .hasMessageNotContaining("\n")
        .satisfies(e -> assertThat(e.getMessage()).contains(parts));
  }

  @Test
  void ourOwnCsvIsReadBack() throws IOException {
    Path file =
        write(
            "x.csv",
            HEADER
                + "gemm,m=8 n=64 k=32,bf16,12.5,0.02,my bench\n"
                + "gemm,m=8 n=64 k=32,fp8/bf16/fp8,7,,\n"
                + "all_reduce,elements=1000 ranks=2,bf16,5,,\n"
                + "all_reduce,elements=3000 ranks=2,bf16,7,,\n");
    KernelSource source = KernelSources.open(file, Mode.GRAPH);
    assertThat(source.name()).isEqualTo("csv x.csv");
    KernelTime gemm = source.time(new Gemm(8, 64, 32), Precision.BF16).orElseThrow();
    assertThat(gemm).isEqualTo(new KernelTime(12.5e-6, 0.02, Provenance.MEASURED, "my bench"));
    Precision fp8 = new Precision(ElementType.FP8, ElementType.BF16, ElementType.FP8);
    assertThat(source.time(new Gemm(8, 64, 32), fp8).orElseThrow().seconds()).isEqualTo(7e-6);
    assertThat(source.time(new AllReduce(2000, 2), Precision.BF16).orElseThrow().seconds())
        .isCloseTo(6e-6, within(1e-12));
    assertThat(source.launch()).isEmpty();
  }

  @Test
  void aSpreadsheetsMarkIsNoPartOfTheFirstColumn() throws IOException {
    Path file = write("x.csv", "\uFEFF" + HEADER + "gemm,m=8 n=64 k=32,bf16,12.5,0.02,me\n");
    KernelSource source = KernelSources.open(file, Mode.GRAPH);
    assertThat(source.time(new Gemm(8, 64, 32), Precision.BF16).orElseThrow().seconds())
        .isEqualTo(12.5e-6);
  }

  @Test
  void aWrongCellIsNamed() throws IOException {
    refused(
        List.of(write("a.csv", HEADER + "gemm,m=8 n=64 k=32,bf16,12.5,0.02,x\ngem,m=8,bf16,1,,\n")),
        "a.csv, line 3, column shape: \"m=8\" is not a shape of gem: no kernel is called \"gem\""
            + " (did you mean gemm?)");
    refused(
        List.of(write("a.csv", HEADER + "gemm,m=8 n=64,bf16,12.5,0.02,x\n")),
        "a.csv, line 2, column shape",
        "has no k=");
    refused(
        List.of(write("a.csv", HEADER + "gemm,m=8 n=64 k=32,b16,12.5,0.02,x\n")),
        "a.csv, line 2, column precision",
        "did you mean bf16?");
    refused(
        List.of(write("a.csv", HEADER + "gemm,m=8 n=64 k=32,bf16,0,0.02,x\n")),
        "a.csv, line 2, column seconds_us: \"0\" is not a number above 0");
    refused(
        List.of(write("a.csv", HEADER + "gemm,m=8 n=64 k=32,bf16,1,-0.02,x\n")),
        "a.csv, line 2, column relative_error: \"-0.02\" is not a number from 0 on");
    refused(List.of(write("a.csv", HEADER)), "No kernel stands in");
  }

  @Test
  void whatIsNotASourceIsRefusedWithWhatIs() throws IOException {
    refused(List.of(), "No kernel times were given; expected is a run directory");
    refused(List.of(folder.resolve("none")), "There is no file or folder");
    refused(List.of(folder), "no kernel times in there; expected is a run directory");
    refused(List.of(write("b.csv", "a,b\n1,2\n")), "b.csv: no kernel times in there");
    Path own = write("a.csv", HEADER + "gemm,m=8 n=64 k=32,bf16,1,,\n");
    refused(List.of(own, folder.resolve("b.csv")), "a.csv is of another kind");
  }

  @Test
  void aKernelThatNobodyKnowsIsAssumedOrRefused() throws IOException {
    Path file = write("x.csv", HEADER + "gemm,m=1000 n=1000 k=1000,bf16,100,,\n");
    KernelTimes times = new KernelTimes(KernelSources.open(file, Mode.GRAPH));
    RmsNorm norm = new RmsNorm(8, 5000);
    KernelTime assumed = times.of(norm, Precision.BF16);
    // The only bandwidth known is that of the product: 6 MB in 100 us.
    assertThat(assumed.seconds()).isCloseTo(norm.work(2).bytes() / 60e9, within(1e-12));
    assertThat(assumed.provenance()).isEqualTo(Provenance.ASSUMED);
    assertThat(times.assumed()).containsExactly("rms_norm (its roof)");
    assertThatThrownBy(() -> times.of(new AllReduce(1000, 2), Precision.BF16))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("No time of the kernel all_reduce elements=1000 ranks=2 is known")
        .hasMessageContaining("add a run of AllReduce on as many devices to --kernels")
        .hasMessageContaining("--link and --link-us");
  }

  @Test
  void aLinkThatIsGivenTimesCommunicationInPlaceOfTheTables() throws IOException {
    Path file =
        write(
            "x.csv",
            HEADER
                + "gemm,m=1000 n=1000 k=1000,bf16,100,,\n"
                + "all_reduce,elements=1000 ranks=4,bf16,7,,\n");
    KernelSource source = KernelSources.open(file, Mode.GRAPH);
    KernelTimes times = new KernelTimes(source, new Link(50, 20e-6));
    KernelTime sum = times.of(new AllReduce(1_000_000, 4), Precision.BF16);
    // Each rank sends 3/4 of 2 MB twice.
    assertThat(sum.seconds()).isCloseTo(20e-6 + 3e6 / 50e9, within(1e-12));
    assertThat(sum.provenance()).isEqualTo(Provenance.ASSUMED);
    assertThat(times.of(new AllReduce(1000, 4), Precision.BF16).seconds()).isGreaterThan(20e-6);
    assertThat(times.of(new Gemm(1000, 1000, 1000), Precision.BF16).seconds()).isEqualTo(100e-6);
    assertThat(times.assumed()).isEmpty();
    assertThat(new KernelTimes(source).of(new AllReduce(1000, 4), Precision.BF16).seconds())
        .isEqualTo(7e-6);
    assertThatThrownBy(() -> new Link(0, 1e-6)).hasMessageContaining("bandwidth above 0");
    assertThatThrownBy(() -> new Link(50, Double.NaN)).hasMessageContaining("cannot be NaN s");
  }

  @Test
  void manyThreadsGetTheSameAnswers() throws IOException {
    StringBuilder rows = new StringBuilder(HEADER);
    for (int m = 1; m <= 64; m *= 2) {
      rows.append("gemm,m=").append(m).append(" n=64 k=32,bf16,").append(10 + m).append(",,\n");
    }
    KernelTimes times =
        new KernelTimes(KernelSources.open(write("x.csv", rows.toString()), Mode.GRAPH));
    assertThat(
            IntStream.range(0, 20_000)
                .parallel()
                .mapToDouble(
                    i ->
                        times.of(new Gemm(1 + i % 64, 64, 32), Precision.BF16).seconds()
                            - (11 + i % 64) * 1e-6)
                .map(Math::abs)
                .max()
                .orElseThrow())
        .isLessThan(1e-12);
  }
}
