package io.musabench.jmh.cli;

import io.musabench.results.serving.Analysis;
import io.musabench.results.serving.Compat;
import io.musabench.results.serving.Definitions;
import io.musabench.results.serving.Format;
import io.musabench.results.serving.Formula;
import io.musabench.results.serving.Metric;
import io.musabench.results.serving.PercentileMethod;
import io.musabench.results.serving.Prediction;
import io.musabench.results.serving.Run;
import io.musabench.results.serving.ServingFiles;
import io.musabench.results.serving.ServingFormatException;
import io.musabench.results.serving.ServingReport;
import io.musabench.results.serving.Slo;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code musabench serving}. */
@Command(
    name = "serving",
    mixinStandardHelpOptions = true,
    description =
        "Reads result files of LLM serving benchmarks (GenAI-Perf, AIPerf, vLLM, SGLang, GuideLLM,"
            + " LLMPerf, evalscope, inference-perf, LMBenchmark, LLMServingSim, console logs) and"
            + " reports TTFT, TPOT, ITL, latency and goodput by named formulas, the course's"
            + " checklist and an audit.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:reported",
      "1:--require-checklist, and an item is fail or unknown",
      "64:usage: unknown option, name or value",
      "65:a file is of no known format or damaged beyond use",
      "66:a file does not exist or cannot be read",
      "70:an error inside musabench"
    })
final class ServingCommand implements Callable<Integer> {
  private static final int CHECKLIST_NOT_PASSED = 1;
  private static final int BAD_DATA = 65;
  private static final int NO_INPUT = 66;

  @Parameters(
      paramLabel = "FILE|DIR",
      arity = "0..*",
      description =
          "result files, plain or gzip, or directories of them; - is standard input. Our own request"
              + " log is JSON Lines of {\"schema\": \"musabench.request/1\", \"start_ns\", \"status\":"
              + " ok|error|cancelled|cut, \"end_ms\", \"events\": [[ms since start, tokens,"
              + " content|reasoning|empty], ...], \"input_tokens\", \"output_tokens\","
              + " \"asked_tokens\"}; only schema is required")
  private List<Path> inputs = List.of();

  @Mixin private LatencyLimits limits;

  @Option(
      names = "--e2e",
      paramLabel = "TIME",
      description = "limit on the whole latency, such as 20s")
  private String e2e;

  @Option(names = "--list-slo", description = "lists the named limits")
  private boolean listSlo;

  @Option(
      names = "--format",
      paramLabel = "NAME",
      description = "reads the files as this format instead of recognising them by content")
  private String format;

  @Option(
      names = "--compat",
      paramLabel = "TOOL",
      description =
          "reproduces a tool's own numbers: genai-perf, aiperf, vllm, sglang, guidellm, llmperf,"
              + " evalscope, inference-perf")
  private String compat;

  @Option(
      names = "--slo-comparison",
      paramLabel = "strict|inclusive",
      description = "whether a request exactly at a limit is good; strict by default")
  private String sloComparison;

  @Option(
      names = "--single-token",
      paramLabel = "exclude|pass|fail",
      description = "goodput of an answer of one token, which has no TPOT; pass (TTFT decides)")
  private String singleToken;

  @Option(
      names = "--failed",
      paramLabel = "bad|exclude|all-bad",
      description =
          "requests without an answer in goodput: errors are bad and cancelled ones left out (bad,"
              + " the default), all left out, or all bad")
  private String failed;

  @Option(
      names = "--percentile",
      paramLabel = "linear|nearest-rank|index",
      description = "percentile method; linear by default")
  private String percentile;

  @Option(
      names = "--duration",
      paramLabel = "span|tool|steady",
      description =
          "what rates are divided by: first start to last end (default), the tool's own, or from"
              + " the first end to the last start: then rates and goodput are of the requests that"
              + " end in it, latencies of those that start in it")
  private String duration;

  @Option(
      names = "--formula",
      paramLabel = "METRIC=NAME",
      description = "another formula, such as itl=spread, ttft=first_any, tpot=incl_first")
  private Map<String, String> formulas = new LinkedHashMap<>();

  @Option(
      names = "--label",
      paramLabel = "KEY=VALUE",
      description = "what the file does not say: musa_sdk, torch_musa, vllm_musa, gpu, …")
  private Map<String, String> labels = new LinkedHashMap<>();

  @Option(
      names = "--require-checklist",
      description = "exit code 1 unless every item of the checklist passes")
  private boolean requireChecklist;

  @Option(
      names = "--predict",
      paramLabel = "FILE",
      description = "the JSON of `musabench tpot`: measured against predicted TPOT")
  private Path predict;

  @Option(names = "--json", description = "prints JSON; --schema prints its schema")
  private boolean json;

  @Option(names = "--csv", description = "prints CSV, one row a run")
  private boolean csv;

  @Option(
      names = "--identify-csv",
      description = "prints the end-to-end table that `musabench tpot identify` reads")
  private boolean identifyCsv;

  @Option(names = "--schema", description = "prints the JSON Schema of --json")
  private boolean schema;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    if ((json ? 1 : 0) + (csv ? 1 : 0) + (identifyCsv ? 1 : 0) > 1) {
      throw usage("--json, --csv and --identify-csv exclude each other");
    }
    if (schema && !inputs.isEmpty()) {
      throw usage("--schema prints the schema and reads no FILE");
    }
    if (schema) {
      out.print(ServingReport.schema());
      out.flush();
      return ExitCode.OK;
    }
    if (listSlo) {
      Slo.named()
          .forEach(
              (name, s) ->
                  out.printf(
                      Locale.ROOT,
                      "%-34s TTFT < %.0f ms, TPOT < %.0f ms%n",
                      name,
                      s.ttftMs(),
                      s.tpotMs()));
      return ExitCode.OK;
    }
    if (inputs.isEmpty()) {
      throw usage("name at least one FILE or DIR");
    }
    Analysis analysis = new Analysis(definitions(), limits(), labels);
    Format given = format == null ? null : known("--format", format, Format::named, Format.names());
    try {
      Prediction prediction = predict == null ? null : Prediction.read(predict);
      ServingReport report = new ServingReport(analysis.of(read(given, err)), prediction);
      print(report, out);
      return requireChecklist && !report.checklistPasses() ? CHECKLIST_NOT_PASSED : ExitCode.OK;
    } catch (ServingFormatException e) {
      Main.complain(err, e.getMessage());
      if (e.unknownFormat()) {
        err.println("Looked for:");
        for (Format known : Format.values()) {
          err.println("  " + known.id() + ": " + known.marks());
        }
      }
      return BAD_DATA;
    } catch (NoSuchFileException e) {
      Main.complain(err, e.getFile() + ": no such file or directory");
      return NO_INPUT;
    } catch (IOException e) {
      Main.complain(err, "cannot read: " + e.getMessage());
      return NO_INPUT;
    }
  }

  private List<Run> read(Format given, PrintWriter err) throws IOException {
    List<Run> runs = new ArrayList<>();
    Set<Path> seen = new HashSet<>();
    for (Path input : inputs) {
      if (Files.exists(input) && !seen.add(input.toRealPath())) {
        Main.complain(err, input + ": given twice, and its runs are in the report twice");
      }
      if (Files.isDirectory(input)) {
        ServingFiles.Directory directory = ServingFiles.readDirectory(input, given);
        directory.notes().forEach(note -> Main.complain(err, note));
        runs.addAll(directory.runs());
      } else {
        runs.addAll(ServingFiles.read(input, given));
      }
    }
    return runs;
  }

  private void print(ServingReport report, PrintWriter out) throws IOException {
    if (json) {
      report.json(out);
    } else if (csv) {
      report.csv(out);
    } else if (identifyCsv) {
      report.endToEndCsv(out);
    } else {
      report.text(out);
    }
    out.flush();
  }

  private Slo limits() {
    try {
      return limits.with(e2e);
    } catch (IllegalArgumentException e) {
      throw usage(e.getMessage());
    }
  }

  private Definitions definitions() {
    Definitions d = Definitions.COURSE;
    if (compat != null) {
      d = known("--compat", compat, Compat::named, Compat.names()).definitions();
    }
    if (sloComparison != null) {
      List<String> words = List.of("strict", "inclusive");
      String word =
          known(
              "--slo-comparison",
              sloComparison,
              w -> Optional.of(w).filter(words::contains),
              words);
      d = d.withInclusive(word.equals("inclusive"));
    }
    if (singleToken != null) {
      d = d.with(word("--single-token", singleToken, Definitions.SingleToken.class));
    }
    if (failed != null) {
      d = d.with(word("--failed", failed, Definitions.Failed.class));
    }
    if (duration != null) {
      d = d.with(word("--duration", duration, Definitions.Duration.class));
    }
    if (percentile != null) {
      d = d.with(word("--percentile", percentile, PercentileMethod.class));
    }
    for (Map.Entry<String, String> f : formulas.entrySet()) {
      Metric metric = word("--formula", f.getKey(), Metric.class);
      Formula formula =
          known(
              "--formula " + f.getKey(),
              f.getValue(),
              name -> Formula.of(metric, name),
              Formula.names(metric));
      d = d.with(formula);
    }
    return d;
  }

  private <E extends Enum<E>> E word(String option, String text, Class<E> type) {
    List<String> words = new ArrayList<>();
    for (E e : type.getEnumConstants()) {
      String word = e.name().toLowerCase(Locale.ROOT).replace('_', '-');
      if (word.equals(text)) {
        return e;
      }
      words.add(word);
    }
    throw usage(option + " does not know \"" + text + "\"; it takes " + String.join(", ", words));
  }

  private interface ByName<T> {
    Optional<T> find(String name);
  }

  private <T> T known(String option, String name, ByName<T> names, List<String> all) {
    return names
        .find(name)
        .orElseThrow(
            () ->
                usage(
                    option
                        + " does not know \""
                        + name
                        + "\"; it takes "
                        + String.join(", ", all)));
  }

  private ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
