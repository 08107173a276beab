package io.musabench.jmh.cli;

import io.musabench.results.Printable;
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
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
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
      "64:usage: no such run, baseline or folder, a damaged one, a name that is taken, or a run"
          + " that judges nothing",
      "70:an error inside musabench",
      "74:the baseline cannot be written"
    })
final class BaselineCommand implements Runnable {
  @Mixin private BaselinesOption baselines;

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
    Baseline saved = refused(() -> baselines.open().save(run, name, force));
    RunData kept = refused(() -> RunDirectory.open(saved.path()).read());
    String partial = kept.partial().isEmpty() ? "" : "; " + kept.partial();
    out().println("Saved as " + name + " of " + saved.device() + ", " + saved.path() + partial);
    return ExitCode.OK;
  }

  @Command(name = "list", description = "lists the baselines")
  int list() {
    baselines.check();
    List<Baseline> all = refused(() -> baselines.open().list());
    if (all.isEmpty()) {
      out().println("No baselines in " + baselines.folder());
      return ExitCode.OK;
    }
    List<String> damaged = new ArrayList<>();
    TextTable table = new TextTable("device", "name", "measured", "revision", ">cases").uncut();
    for (Baseline baseline : all) {
      try {
        RunData run = RunDirectory.open(baseline.path()).read();
        String partial = run.partial().isEmpty() ? "" : ", " + run.partial();
        table.row(
            baseline.device(),
            baseline.name(),
            run.environment().createdUtc(),
            revision(run.environment()),
            run.cases().size() + partial);
      } catch (RunException e) {
        damaged.add(e.getMessage());
      }
    }
    if (!table.isEmpty()) {
      out().print(table);
      out().flush();
    }
    damaged.forEach(why -> Main.complain(spec.commandLine().getErr(), why));
    return damaged.isEmpty() ? ExitCode.OK : ExitCode.USAGE;
  }

  @Command(name = "show", description = "shows a baseline's cases")
  int show(
      @Parameters(paramLabel = "NAME", description = "name of the baseline") String name,
      @Option(
              names = "--device",
              paramLabel = "DEVICE",
              description = "where several devices have one of that name")
          String device) {
    Baseline baseline = refused(() -> baselines.open().find(device, name));
    RunData run = refused(() -> RunDirectory.open(baseline.path()).read());
    Environment environment = run.environment();
    out().println(baseline.name() + " of " + baseline.device() + ", " + baseline.path());
    line("measured", environment.createdUtc());
    line("revision", revision(environment));
    line("driver", environment.device().driverVersion());
    if (!run.partial().isEmpty()) {
      line("cases", run.partial());
    }
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

  private void line(String what, String text) {
    out().println("  %-8s  %s".formatted(what, Printable.line(String.valueOf(text))));
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
