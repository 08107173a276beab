package io.musabench.jmh.cli;

import io.musabench.results.compare.Comparison;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code musabench ab}. */
@Command(
    name = "ab",
    mixinStandardHelpOptions = true,
    description = {
      "Measures cases under two settings in pairs of forks, A B B A, and says whether B is slower"
          + " than A.",
      "",
      "What drifts, such as the clock of a warm device, is the same for both of a pair. Steps are"
          + " measured whole, without their kernels one by one. A setting is a folder with a build of the libraries, a kernel library,"
          + " -Dname=value or NAME=value; a side without one is measured as it is. Both sides are"
          + " saved as run directories.",
      ""
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:no regression",
      "1:a case is slower, fails or crashes more often under B",
      "2:--strict, and a case is undecided or slower by its clock alone",
      "3:a case could not be compared",
      "64:usage: unknown name, bad value or empty selection",
      "69:no usable device, or a library cannot be loaded",
      "70:an error inside musabench",
      "74:a run directory cannot be written",
      "130:stopped by Ctrl-C (129: terminal gone, 143: SIGTERM); the finished cases are saved"
    },
    footer = {
      "",
      "Examples:",
      "  musabench ab PagedDecode --a build-main/lib --b build-new/lib",
      "  musabench ab Gemm --b MUSABENCH_ISA=scalar",
      "  musabench ab DecodeStep --inject 3%%    (a test of the gate itself)"
    })
final class AbCommand implements Callable<Integer> {
  @Mixin private PairOptions pairs;

  @Option(names = "--a", paramLabel = "SETTING", description = "setting of A; may be repeated")
  private List<String> a = List.of();

  @Option(names = "--b", paramLabel = "SETTING", description = "setting of B; may be repeated")
  private List<String> b = List.of();

  @Option(
      names = "--inject",
      paramLabel = "PERCENT",
      description = "make B's measured times longer by so much, to see that the gate finds it")
  private String inject;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr(); // Output may be JSON: progress goes here.
    pairs.check();
    Setting first = Setting.parse("--a", a);
    Setting second = Setting.parse("--b", b);
    if (inject != null) {
      second = second.slower(Percent.parse("--inject", inject));
    }
    if (first.equals(second)) {
      throw new UsageException("A and B are the same; to find the noise, use: musabench qualify");
    }
    Comparison comparison = pairs.compare(first, second, err, true);
    pairs.verdict().print(comparison, out);
    return comparison.exitCode();
  }
}
