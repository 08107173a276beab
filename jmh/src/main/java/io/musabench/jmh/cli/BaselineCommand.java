package io.musabench.jmh.cli;

import io.musabench.results.compare.Baselines;
import io.musabench.results.compare.Baselines.Baseline;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunData;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.RunException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** {@code musabench baseline}: runs that are kept to be compared with. */
@Command(
    name = "baseline",
    mixinStandardHelpOptions = true,
    description =
        "Keeps runs to compare with, small enough for git, in results/baselines/<device>/<name>.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "64:usage: no such run or baseline, a name that is taken, or a run that judges nothing",
      "70:an error inside musabench",
      "74:the baseline cannot be written"
    })
final class BaselineCommand implements Runnable {
  @Option(
      names = "--baselines",
      paramLabel = "DIR",
      scope = ScopeType.INHERIT,
      description = "where baselines are (default: results/baselines of the checkout)")
  private Path folder = Checkout.folder().resolve("results/baselines");

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "name a command: save, list or show");
  }

  @Command(name = "save", description = "keeps a run directory under a name")
  int save(
      @Parameters(paramLabel = "RUN", description = "run directory") Path run,
      @Parameters(paramLabel = "NAME", description = "name of the baseline") String name,
      @Option(names = "--force", description = "replace one of that name") boolean force) {
    Baseline saved = refused(() -> new Baselines(folder).save(run, name, force));
    out().println("Saved as " + name + " of " + saved.device() + ", " + saved.path());
    return ExitCode.OK;
  }

  @Command(name = "list", description = "lists the baselines")
  int list() {
    List<Baseline> all = new Baselines(folder).list();
    if (all.isEmpty()) {
      out().println("No baselines in " + folder);
      return ExitCode.OK;
    }
    TextTable table = new TextTable("device", "name", "measured", "revision", ">cases").uncut();
    for (Baseline baseline : all) {
      RunData run = refused(() -> RunDirectory.open(baseline.path()).read());
      table.row(
          baseline.device(),
          baseline.name(),
          run.environment().createdUtc(),
          revision(run.environment()),
          Integer.toString(run.cases().size()));
    }
    out().print(table);
    out().flush();
    return ExitCode.OK;
  }

  @Command(name = "show", description = "shows a baseline's cases")
  int show(
      @Parameters(paramLabel = "NAME", description = "name of the baseline") String name,
      @Option(
              names = "--device",
              paramLabel = "DEVICE",
              description = "where several devices have one of that name")
          String device) {
    Baseline baseline = refused(() -> new Baselines(folder).find(device, name));
    RunData run = refused(() -> RunDirectory.open(baseline.path()).read());
    Environment environment = run.environment();
    out().println(baseline.name() + " of " + baseline.device() + ", " + baseline.path());
    out().println("  measured  " + environment.createdUtc());
    out().println("  revision  " + revision(environment));
    out().println("  driver    " + environment.device().driverVersion());
    TextTable table = new TextTable("case", ">forks", ">device", ">host").uncut();
    for (CaseResult c : run.cases()) {
      table.row(
          c.id(),
          Integer.toString(c.forks()),
          Units.time(c.deviceTimeMedianUs()),
          Units.time(c.hostTimeMedianUs()));
    }
    out().print(table);
    out().flush();
    return ExitCode.OK;
  }

  private static String revision(Environment environment) {
    String revision = environment.git() == null ? null : environment.git().revision();
    return revision == null ? "unknown" : revision.substring(0, Math.min(12, revision.length()));
  }

  private static <T> T refused(Supplier<T> work) {
    try {
      return work.get();
    } catch (RunException e) {
      throw UsageException.of(e);
    }
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }
}
