package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.JsonNode;
import io.musabench.results.tpot.answers.AnswerFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * An answer of {@code musabench tpot}, made for this report or read from a file. The page reads
 * both from the same document, whose fields {@code musabench tpot schema} tells.
 *
 * @param question which one, as {@code musabench tpot schema} names it
 * @param slug what tells its charts and tables from those of other answers to this question
 * @param name what tells it from the others in headings
 * @param root the document
 * @param run place of the run whose kernels it rests on; null if it rests on others
 * @param file where it was read; null if it was made for this report
 * @param command that prints the same; null if that is not known
 */
record Answer(
    String question,
    String slug,
    String name,
    JsonNode root,
    Integer run,
    Path file,
    String command) {
  static final String PREDICT = "predict";
  static final String SENSITIVITY = "sensitivity";
  static final String GRAPH_GAIN = "graph-gain";
  static final String WHAT_IF = "what-if";
  static final String VALIDATE = "validate";
  static final String CHECK = "check";

  /** The questions whose answers the page shows. */
  static final List<String> SHOWN =
      List.of(PREDICT, SENSITIVITY, GRAPH_GAIN, WHAT_IF, VALIDATE, CHECK);

  /**
   * An answer made for this report.
   *
   * @param run place of the run whose kernels it rests on; null if it rests on others
   * @param command that prints the same
   */
  static Answer of(String question, String name, JsonNode root, Integer run, String command) {
    return new Answer(question, ReportModel.slug(name), name, root, run, null, command);
  }

  /** An answer from a file. */
  static Answer of(AnswerFile file) {
    String path = file.path().toString();
    JsonNode root = file.root();
    String name =
        switch (file.answer()) {
          case WHAT_IF -> devices(root) + ", " + path;
          case VALIDATE, CHECK -> path;
          default -> model(root) + " " + root.path("mode").asText() + ", " + path;
        };
    return new Answer(
        file.answer(), ReportModel.slug(name), name, root, null, file.path(), file.command());
  }

  /** The same, told apart from others whose names have the same letters. */
  Answer number(int number) {
    return new Answer(question, slug + "-" + number, name, root, run, file, command);
  }

  /** Model and ranks, as cases of steps are called. */
  static String model(JsonNode root) {
    int tp = root.path("tp").asInt();
    return root.path("model").asText() + (tp == 1 ? "" : " TP" + tp);
  }

  static String devices(JsonNode whatIf) {
    return whatIf.at("/from/name").asText() + " → " + whatIf.at("/to/name").asText();
  }

  /** Identifier of one of its charts or tables. */
  String id(String what) {
    return what + "-" + slug;
  }

  /** A text that takes the name of the service. */
  Message message(String key) {
    return Message.of(key, "service", name);
  }

  /** Where it comes from, and what it assumes. */
  List<Message> notes() {
    List<Message> notes = new ArrayList<>();
    if (file != null) {
      JsonNode kernels = root.path("kernels");
      String source = kernels.isTextual() ? kernels.asText() : kernels.path("name").asText();
      notes.add(
          Message.of(
              "note.answer_file",
              "service",
              name,
              "question",
              question,
              "kernels",
              Message.said(source)));
    }
    for (JsonNode assumption : root.path("assumptions")) {
      notes.add(
          Message.of("note.assumed", "service", name, "what", Message.said(assumption.asText())));
    }
    return notes;
  }

  /** A number of it; NaN if it is not known. */
  static double number(JsonNode value) {
    return value.isNumber()
        ? value.doubleValue()
        : switch (value.asText()) {
          case "inf" -> Double.POSITIVE_INFINITY;
          case "-inf" -> Double.NEGATIVE_INFINITY;
          default -> Double.NaN;
        };
  }

  /** A time that is given in milliseconds, in microseconds as the page has it. */
  static double us(JsonNode milliseconds) {
    return 1e3 * number(milliseconds);
  }
}
