package io.musabench.jmh.cli;

import java.io.PrintWriter;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code musabench run}: measures cases and writes a run directory. */
@Command(
    name = "run",
    mixinStandardHelpOptions = true,
    description = {
      "Measures cases, each in its own JVM, and writes a run directory.",
      "",
      "With neither REGEX nor --suite it runs the default suite. With REGEX alone it runs the"
          + " matching benchmarks with their default parameter values; with --suite, the matching"
          + " cases of that suite.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  musabench run",
      "  musabench run PagedDecode -p batch=8q1s4k,64q1s4k -p page=16",
      "  musabench run --suite smoke --label vllm_musa_commit=abc123",
      "  musabench run ReadBandwidth Gemm --devices all"
    })
final class RunCommand implements Callable<Integer> {
  @Mixin private MeasureOptions measure;

  @Option(names = "--forks", paramLabel = "N", description = "fresh JVMs a case")
  private Integer forks;

  @Option(
      names = "--no-roofs",
      description = "do not measure the roofs first; then there is no %% of roof")
  private boolean noRoofs;

  @Option(
      names = "--together",
      description =
          "measure the cases, but for the roofs, side by side in turns of 50 ms or one sample, so"
              + " that what drifts is in all of them alike and their ratios can be trusted; steps"
              + " without their kernels. Takes up to --time-limit for each of them together, and"
              + " memory for all of them; a case that finds none is measured by itself")
  private boolean together;

  @Option(
      names = "--devices",
      paramLabel = "all|N,…",
      description =
          "measure these devices one after the other, each in a run of its own, and show which one"
              + " differs from the rest")
  private String devices;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    Catalog catalog = Catalog.load();
    ParameterTable table = BenchmarkParameters.table();
    Suite chosen = measure.select(catalog, table);
    Set<CaseSpec> cases = new LinkedHashSet<>();
    if (!noRoofs) {
      cases.addAll(Suite.load(Suite.ROOFS, catalog, table).cases());
    }
    cases.addAll(chosen.cases());
    Campaign campaign = measure.campaign(out, chosen, forks);
    return devices == null
        ? new SuiteRunner(campaign, Setting.AS_IS, together).run(cases).exitCode()
        : new CardsRunner(campaign, together).run(devices, cases);
  }
}
