package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.CommandLine;
import io.musabench.results.compare.Comparison;
import io.musabench.results.run.AtomicFile;
import io.musabench.results.run.RunData;
import io.musabench.results.serving.Summary;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.answers.AnswerFile;
import io.musabench.results.tpot.answers.Setup;
import io.musabench.results.tpot.answers.WhatIf;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A report of runs, comparisons, predictions and serving results as one HTML file that needs
 * nothing else: no network, no server, no other file. Add what it shall show, then {@link #write}.
 */
public final class HtmlReport {
  /** Name of the report in a run directory. */
  public static final String FILE = "report.html";

  private final List<ReportedRun> runs = new ArrayList<>();
  private final List<Summary> serving = new ArrayList<>();
  private final List<Answer> answers = new ArrayList<>();
  private final List<Service.Refusal> refused = new ArrayList<>();
  private Comparison comparison;
  private String comparisonCommand;
  private String servingCommand;
  private String command;
  private Instant now = Instant.now();

  /** A report of these run directories, each with its own letter; may be empty. */
  public HtmlReport(List<Path> paths) {
    paths.forEach(path -> runs.add(ReportedRun.open(path)));
  }

  /**
   * Judged by the caller: which is the base, and by what options, is not the report's to say.
   *
   * @param command that prints the same, word by word
   */
  public HtmlReport comparison(Comparison value, List<String> command) {
    comparison = value;
    comparisonCommand = CommandLine.of(command);
    return this;
  }

  /**
   * Results of serving benchmarks.
   *
   * @param command that prints the same, word by word
   */
  public HtmlReport serving(List<Summary> summaries, List<String> command) {
    serving.addAll(summaries);
    servingCommand = CommandLine.of(command);
    return this;
  }

  /**
   * Predictions for every model whose decode steps the runs measured, from those runs' own kernels.
   * What cannot be predicted is said in the report.
   */
  public HtmlReport predict(List<Workload> loads) {
    Service.ofRuns(runs, loads, refused).forEach(this::add);
    return this;
  }

  /**
   * Predictions from kernel times that are named.
   *
   * @param engine further options of engine and load, names and values by turns: the commands of
   *     the report repeat them
   * @throws IllegalArgumentException if something asked for does not exist or does not fit
   */
  public HtmlReport predict(Setup.Request request, List<Workload> loads, List<String> engine) {
    Service.of(request, loads, engine).forEach(this::add);
    return this;
  }

  /**
   * The same service on another device.
   *
   * @param command that prints the same, word by word
   */
  public HtmlReport whatIf(WhatIf value, List<String> command) {
    ObjectNode root = value.tree();
    add(Answer.of(Answer.WHAT_IF, Answer.devices(root), root, null, CommandLine.of(command)));
    return this;
  }

  /**
   * What a question of {@code musabench tpot} answered before.
   *
   * @throws IllegalArgumentException if a page cannot show the answer to this question, or it has
   *     this very file already
   */
  public HtmlReport answer(AnswerFile file) {
    if (!Answer.SHOWN.contains(file.answer())) {
      throw new IllegalArgumentException(
          file.path()
              + " answers "
              + file.answer()
              + ", which no page shows; it shows answers of "
              + String.join(", ", Answer.SHOWN));
    }
    if (answers.stream().anyMatch(a -> file.path().equals(a.file()))) {
      throw new IllegalArgumentException(file.path() + " is named twice");
    }
    add(Answer.of(file));
    return this;
  }

  private void add(Answer answer) {
    Answer named = answer;
    for (int n = 2; isTaken(named); n++) {
      named = answer.number(n);
    }
    answers.add(named);
  }

  private boolean isTaken(Answer answer) {
    return answers(answer.question()).stream().anyMatch(a -> a.slug().equals(answer.slug()));
  }

  /** The command line that makes this report, words as they were given. */
  public HtmlReport command(List<String> words) {
    command = CommandLine.of(words);
    return this;
  }

  /** When it was made; now unless said otherwise. */
  public HtmlReport at(Instant value) {
    now = value;
    return this;
  }

  /** The runs, for other forms of the same report. */
  public List<RunData> runData() {
    return runs.stream().map(ReportedRun::data).toList();
  }

  /** The whole file. */
  public String html() {
    ReportModel model = new ReportModel(this);
    return Page.html(title(), model.json(), model.samplesJson());
  }

  /**
   * Writes it whole or not at all.
   *
   * @throws io.musabench.results.run.RunException in one line, if it cannot be written
   */
  public void write(Path file) {
    AtomicFile.write(file, html().getBytes(StandardCharsets.UTF_8));
  }

  List<ReportedRun> runs() {
    return runs;
  }

  Comparison comparison() {
    return comparison;
  }

  String comparisonCommand() {
    return comparisonCommand;
  }

  String servingCommand() {
    return servingCommand;
  }

  String command() {
    return command;
  }

  List<Summary> serving() {
    return serving;
  }

  /** The answers to one question. */
  List<Answer> answers(String question) {
    return answers.stream().filter(a -> a.question().equals(question)).toList();
  }

  List<Answer> answers() {
    return answers;
  }

  List<Service.Refusal> refused() {
    return refused;
  }

  String generatedUtc() {
    return now.truncatedTo(ChronoUnit.SECONDS).toString();
  }

  String title() {
    return runs.isEmpty()
        ? "musabench"
        : "musabench " + runs.stream().map(r -> r.data().name()).collect(Collectors.joining(", "));
  }
}
