package io.musabench.jmh.cli;

import io.musabench.results.Printable;
import io.musabench.results.compare.MeasuredRun;
import io.musabench.results.history.ChangePoints.Change;
import io.musabench.results.history.History;
import io.musabench.results.history.History.Entry;
import io.musabench.results.history.History.Series;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import io.musabench.results.run.RunException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code musabench history}. */
@Command(
    name = "history",
    mixinStandardHelpOptions = true,
    description = {
      "Adds runs to the history, and shows where times changed from run to run and since which one.",
      "",
      "The history is a CSV file a case and environment under results/history; a run adds one line"
          + " to each. Apache Otava reads them as well: otava analyze, in that folder.",
      ""
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "1:--fail-within N, and a case is slower since one of its last N runs",
      "64:usage: no run directory, no such history, or a damaged file",
      "70:an error inside musabench",
      "74:the history cannot be written"
    },
    footer = {
      "",
      "Examples:",
      "  musabench history results/runs/latest",
      "  musabench history --case PagedDecode --fail-within 5"
    })
final class HistoryCommand implements Callable<Integer> {
  private static final int SLOWER = 1;

  @Parameters(paramLabel = "RUN", arity = "0..*", description = "run directories to add first")
  private List<Path> runs = List.of();

  @Option(
      names = "--history",
      paramLabel = "DIR",
      description = "where the history is (default: results/history of the checkout)")
  private Path named;

  @Option(
      names = "--case",
      paramLabel = "REGEX",
      description = "shows cases whose name contains a match")
  private String expression = "";

  @Option(
      names = "--fail-within",
      paramLabel = "N",
      description = "exit code 1 if a case became slower within its last N runs")
  private Integer failWithin;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    if (failWithin != null && failWithin < 1) {
      throw new UsageException("--fail-within must be at least 1");
    }
    try {
      return show(add());
    } catch (RunException e) {
      throw UsageException.of(e);
    } catch (PatternSyntaxException e) {
      throw new UsageException("--case is no regular expression: " + e.getDescription());
    }
  }

  private Path folder() {
    return named == null ? Checkout.folder().resolve("results/history") : named;
  }

  private History add() {
    History history = new History(folder());
    if (named != null && runs.isEmpty() && !history.exists()) {
      throw new UsageException("There is no history " + named);
    }
    List<MeasuredRun> read = new ArrayList<>();
    runs.forEach(run -> read.add(MeasuredRun.read(run)));
    for (MeasuredRun run : read) {
      int added = history.add(run);
      String partial = run.partial().isEmpty() ? "" : "; " + run.partial();
      out().println(Printable.line(run.name()) + ": " + added + " cases added" + partial);
    }
    return history;
  }

  private int show(History history) {
    Pattern pattern = Pattern.compile(expression);
    TextTable table =
        new TextTable(
                "case", ">change", "", "first run", "its revision", "run before", ">runs since")
            .uncut();
    List<Series> all = history.all();
    if (all.isEmpty()) {
      out().println("The history " + folder() + " has no runs yet");
      out().flush();
      return ExitCode.OK;
    }
    int series = 0;
    boolean slower = false;
    for (Series s : all) {
      if (!pattern.matcher(s.entries().get(0).caseId()).find()) {
        continue;
      }
      series++;
      for (Change change : s.changes()) {
        int since = s.entries().size() - change.index();
        slower |= failWithin != null && change.slower() && since <= failWithin;
        row(table, s, change, since);
      }
    }
    if (table.isEmpty()) {
      out().println("No changes in " + series + " series in " + folder());
    } else {
      out().print(table);
    }
    out().flush();
    return slower ? SLOWER : ExitCode.OK;
  }

  private static void row(TextTable table, Series series, Change change, int since) {
    Entry first = series.entries().get(change.index());
    Entry before = series.entries().get(change.index() - 1);
    table.row(
        first.caseId(),
        Units.change(100 * (change.ratio() - 1)),
        change.slower() ? "slower" : "faster",
        first.run(),
        first.commit().substring(0, Math.min(12, first.commit().length())),
        before.run(),
        Integer.toString(since));
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }
}
