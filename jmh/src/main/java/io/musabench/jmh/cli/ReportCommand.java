package io.musabench.jmh.cli;

import io.musabench.results.compare.Comparison;
import io.musabench.results.compare.Judge;
import io.musabench.results.compare.MeasuredRun;
import io.musabench.results.compare.Tolerance;
import io.musabench.results.devices.DataSheet;
import io.musabench.results.report.CardsReport;
import io.musabench.results.report.MarkdownReport;
import io.musabench.results.report.html.HtmlReport;
import io.musabench.results.run.AtomicFile;
import io.musabench.results.run.EnvironmentKey;
import io.musabench.results.run.RunException;
import io.musabench.results.serving.Analysis;
import io.musabench.results.serving.Definitions;
import io.musabench.results.serving.Run;
import io.musabench.results.serving.ServingFiles;
import io.musabench.results.serving.Summary;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.answers.AnswerFile;
import io.musabench.results.tpot.answers.Setup;
import io.musabench.results.tpot.answers.Sweep;
import io.musabench.results.tpot.answers.WhatIf;
import io.musabench.results.tpot.kernels.KernelSourceException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code musabench report}. */
@Command(
    name = "report",
    mixinStandardHelpOptions = true,
    description = {
      "Writes one HTML file that opens without a network, or a short table in Markdown.",
      "",
      "Of runs it shows the environment, steps, their kernels, rooflines, launch costs, samples and"
          + " the TPOT that follows; of two runs on one device also the differences of the second"
          + " from the first, on two devices both side by side; of runs on several cards of one"
          + " kind, as of run --devices all, their spread and the card that is odd; of serving"
          + " files their distributions, Goodput and checklist; of files of tpot --json what they"
          + " predict, beside what was measured where they hold it.",
      ""
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:written, whatever it says",
      "64:usage: unknown option, name or value, or a file that cannot be used",
      "70:an error inside musabench",
      "74:the report cannot be written"
    },
    footer = {
      "",
      "Examples:",
      "  musabench report results/runs/latest",
      "  musabench report results/runs/latest --baseline main -o report.html",
      "  musabench report results/runs/A results/runs/B --format md",
      "  musabench report results/runs/S5000 results/runs/S4000",
      "  musabench report results/runs/S5000 --from S5000 --to S4000 --model Qwen3-8B"
          + " --kernels results/runs/S5000 --isl 1024 --osl 256",
      "  musabench report results/runs/latest tpot.json validation.json",
      "  musabench report --serving bench.json --ttft 1s --tpot 50ms"
    })
final class ReportCommand implements Callable<Integer> {
  /** Requests in flight of predictions, unless others are asked for. */
  static final List<String> CONCURRENCY = List.of("1,8,32,128".split(","));

  private static final Set<String> WHAT_IF = Set.of("--from", "--to", "--utilisation");

  /** What every command of a predicted service says anyway. */
  private static final Set<String> SAID =
      Set.of("--model", "--tp", "--kernels", "--mode", "--precision", "--isl", "--osl");

  private enum Form {
    HTML,
    MD;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Parameters(
      paramLabel = "RUN|FILE",
      arity = "0..*",
      description =
          "run directories, and files that tpot, or one of its questions step, validate, check,"
              + " sensitivity, graph-gain and what-if, printed with --json")
  private List<Path> named = List.of();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description =
          "file to write; - is standard output. By default report.html in the working folder, and"
              + " standard output for md")
  private String output;

  @Option(
      names = "--format",
      paramLabel = "NAME",
      defaultValue = "html",
      description = "html or md (default ${DEFAULT-VALUE})")
  private Form form;

  @Option(
      names = "--baseline",
      paramLabel = "NAME|DIR",
      description = "the base of the first RUN: a baseline of its device, or a run directory")
  private String baseline;

  @Mixin private BaselinesOption baselines;

  @Option(
      names = "--paired",
      description =
          "fork i of one run was measured beside fork i of the other; of the two runs of one ab"
              + " that is known")
  private boolean paired;

  @Option(
      names = "--accept",
      paramLabel = "NAME",
      description = "a condition that may differ, as for compare")
  private List<String> accepted = List.of();

  @Option(
      names = "--serving",
      paramLabel = "FILE|DIR",
      description = "result files of serving benchmarks; may be repeated")
  private List<Path> serving = List.of();

  @Mixin private LatencyLimits limits;

  @Option(
      names = "--concurrency",
      paramLabel = "N|SWEEP",
      split = ",",
      description = "requests in flight of predictions; 1,8,32,128 by default")
  private List<String> concurrency = CONCURRENCY;

  @Option(names = "--no-tpot", description = "no predictions from the kernels of the runs")
  private boolean noTpot;

  @Option(
      names = "--from",
      paramLabel = "DEVICE",
      description = "with --to: the device of the kernel times, or its data sheet")
  private String from;

  @Option(
      names = "--to",
      paramLabel = "DEVICE",
      description = "predict the service of --model on this device too, from the data sheets")
  private String to;

  @Option(
      names = "--utilisation",
      paramLabel = "SHARE",
      defaultValue = "0.75",
      description =
          "with --to and without --kernels: share of its roof that every operation reaches")
  private double utilisation;

  @Mixin private TpotOptions options;

  @Mixin private TpotOptions.Loads loads;

  @Spec private CommandSpec spec;

  private List<Path> runs;

  @Override
  public Integer call() {
    List<Path> answers = named.stream().filter(Files::isRegularFile).toList();
    runs = named.stream().filter(path -> !answers.contains(path)).toList();
    if (named.isEmpty() && serving.isEmpty() && to == null && options.kernels.isEmpty()) {
      throw new UsageException(
          "name a RUN, a FILE of tpot --json, --serving FILE, --kernels SRC or --to DEVICE");
    }
    if (form == Form.MD && (!answers.isEmpty() || runs.isEmpty() && serving.isEmpty())) {
      throw new UsageException("--format md is of runs and serving files; predictions are in html");
    }
    HtmlReport report;
    Comparison comparison;
    List<Summary> summaries;
    try {
      report = new HtmlReport(runs);
      comparison = comparison(report);
      summaries = summaries(report);
      predict(report);
      answers.forEach(file -> report.answer(AnswerFile.read(file)));
    } catch (IllegalArgumentException | KernelSourceException | RunException e) {
      throw new UsageException(UsageException.oneLine(e));
    }
    List<String> words = new ArrayList<>(List.of("musabench"));
    words.addAll(spec.root().commandLine().getParseResult().originalArgs());
    report.command(words);
    String text =
        form == Form.HTML
            ? report.html()
            : MarkdownReport.of(report.runData(), comparison, summaries);
    write(text);
    return ExitCode.OK;
  }

  /** The report of one run with its usual predictions, as the end of a run writes it. */
  static HtmlReport ofRun(Path run) {
    return new HtmlReport(List.of(run))
        .predict(Setup.workloads(Sweep.of(CONCURRENCY), 1024, 256, 0, null, null))
        .command(List.of("musabench", "report", run.toString()));
  }

  private void write(String text) {
    PrintWriter out = spec.commandLine().getOut();
    boolean toOutput = output == null ? form == Form.MD : output.equals("-");
    if (toOutput) {
      out.print(text);
      out.flush();
      return;
    }
    Path file = Path.of(output == null ? HtmlReport.FILE : output);
    AtomicFile.write(file, text.getBytes(StandardCharsets.UTF_8));
    out.println("Report  " + file);
    out.flush();
  }

  private Comparison comparison(HtmlReport report) {
    Path base;
    Path candidate;
    if (baseline != null) {
      if (runs.isEmpty()) {
        throw new UsageException("--baseline needs a RUN to hold against it");
      }
      candidate = runs.get(0);
      base = Path.of(baseline);
    } else if (runs.size() == 2 && sameDevice(report) && !CardsReport.areCards(report.runData())) {
      base = runs.get(0);
      candidate = runs.get(1);
    } else {
      return null;
    }
    baselines.check();
    MeasuredRun judged = MeasuredRun.read(candidate);
    if (baseline != null && !Files.isDirectory(base)) {
      String device = EnvironmentKey.device(judged.environment());
      base = baselines.open().find(device, baseline).path();
    }
    Set<String> names = new HashSet<>(accepted);
    names.add(Comparison.UNDER_TEST);
    Map<String, Double> noise = baselines.noise(judged);
    MeasuredRun held = MeasuredRun.read(base);
    boolean sameSession = held.pairedWith(judged);
    Comparison comparison =
        Comparison.of(
            held,
            judged,
            new Comparison.Options(
                new Judge(), Tolerance.LEAST, noise, names, false, paired || sameSession));
    List<String> command = new ArrayList<>(List.of("musabench", "compare"));
    if (baseline != null && !Files.isDirectory(Path.of(baseline))) {
      command.addAll(List.of(candidate.toString(), "--baseline", baseline));
    } else {
      command.addAll(List.of(base.toString(), candidate.toString()));
    }
    command.addAll(given(n -> n.equals("--accept") || n.equals("--baselines")));
    // Compare knows no other pairs; of those the report's own command stands instead.
    report.comparison(comparison, paired && !sameSession ? List.of() : command);
    return comparison;
  }

  private static boolean sameDevice(HtmlReport report) {
    return report.runData().stream()
            .map(r -> EnvironmentKey.device(r.environment()))
            .distinct()
            .count()
        == 1;
  }

  private List<Summary> summaries(HtmlReport report) {
    List<Run> all = new ArrayList<>();
    for (Path file : serving) {
      try {
        all.addAll(
            Files.isDirectory(file)
                ? ServingFiles.readDirectory(file, null).runs()
                : ServingFiles.read(file, null));
      } catch (NoSuchFileException e) {
        throw new UsageException(e.getFile() + ": no such file or directory");
      } catch (IOException e) {
        throw new UsageException(UsageException.oneLine(e));
      }
    }
    List<Summary> summaries = new Analysis(Definitions.COURSE, limits.with(null), Map.of()).of(all);
    List<String> command = new ArrayList<>(List.of("musabench", "serving"));
    serving.forEach(f -> command.add(f.toString()));
    command.addAll(given(n -> declares(new LatencyLimits(), n)));
    report.serving(summaries, command);
    return summaries;
  }

  /** Options as they were given, by their longest names, for a command of the report. */
  private List<String> given(Predicate<String> wanted) {
    List<String> words = new ArrayList<>();
    for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
      if (wanted.test(option.longestName())) {
        for (String value : option.originalStringValues()) {
          words.add(option.longestName());
          words.add(value);
        }
      }
    }
    return words;
  }

  /** Whether an option is one of model, engine or load, which the commands of {@code tpot} take. */
  private static boolean ofService(String option) {
    return declares(new TpotOptions(), option) || declares(new TpotOptions.Loads(), option);
  }

  private static boolean declares(Object mixin, String option) {
    return CommandSpec.forAnnotatedObject(mixin).findOption(option) != null;
  }

  private void predict(HtmlReport report) {
    List<Workload> workloads = loads.of(Sweep.of(concurrency));
    if (to != null) {
      if (from == null) {
        throw new UsageException("--to needs --from, the device of the kernel times");
      }
      DataSheet here = DataSheet.find(from);
      DataSheet there = DataSheet.find(to);
      WhatIf answer =
          new WhatIf(options.request(), options.source(), utilisation, here, there, workloads);
      List<String> command = new ArrayList<>(List.of("musabench", "tpot", "what-if"));
      command.addAll(given(n -> ofService(n) || WHAT_IF.contains(n)));
      command.addAll(List.of("--batch", String.join(",", concurrency)));
      report.whatIf(answer, command);
    } else if (!options.kernels.isEmpty()) {
      report.predict(options.request(), workloads, given(n -> ofService(n) && !SAID.contains(n)));
      return;
    }
    if (!noTpot) {
      report.predict(workloads);
    }
  }
}
