package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.run.CaseResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Everything that the page shows, as JSON. */
final class ReportModel {
  /**
   * So many samples are embedded: about 2 MB of text, which a browser reads in a tenth of a second.
   * Of more, every second, third and so on is kept, and the page says so.
   */
  private static final long MOST_SAMPLES = 300_000;

  private final List<ReportedRun> runs;
  private final List<RunSamples> samples = new ArrayList<>();
  private final Cases cases;
  private final ObjectNode root = JsonNodeFactory.instance.objectNode();
  private final ArrayNode sections = root.putArray("sections");

  ReportModel(HtmlReport report) {
    this.runs = report.runs();
    this.cases = new Cases(runs);
    runs.forEach(r -> samples.add(RunSamples.of(r)));
    root.put("title", report.title());
    root.put("generated", report.generatedUtc());
    root.put("command", report.command());
    List<Cards> cards = Cards.of(runs);
    root.set("verdict", Overview.verdict(runs, report.comparison(), report.serving(), cards));
    root.set("cases", cases.json());
    ArrayNode letters = root.putArray("runs");
    for (int i = 0; i < runs.size(); i++) {
      ObjectNode run = letters.addObject();
      run.put("letter", letter(i));
      run.put("name", runs.get(i).data().name());
      run.put("device", runs.get(i).device());
    }
    add(Overview.failures(runs, cases));
    if (!runs.isEmpty()) {
      add(Overview.environment(runs));
    }
    add(Differences.section(report.comparison(), report.comparisonCommand(), runs, cases));
    add(Cards.section(cards, runs, cases));
    add(Steps.latency(runs, cases));
    add(Steps.kernels(runs, cases));
    add(Roofline.section(runs, cases));
    add(Launch.section(runs, report.answers(Answer.GRAPH_GAIN), cases));
    if (!runs.isEmpty()) {
      add(AllCases.samples(runs, samples, cases));
    }
    add(Tpot.section(runs, report.answers(), report.refused(), cases));
    add(Validations.section(report.answers()));
    add(Devices.section(runs, report.answers(Answer.WHAT_IF), cases));
    add(Serving.section(report.serving(), report.servingCommand()));
    if (!runs.isEmpty()) {
      add(AllCases.table(runs, samples, cases));
    }
  }

  private void add(Section section) {
    if (!section.isEmpty()) {
      sections.add(section.json());
    }
  }

  /** The page's data but for the samples. */
  ObjectNode json() {
    return root;
  }

  /**
   * The samples by number of their case: apart, because a page that only shows tables needs none.
   */
  ObjectNode samplesJson() {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    long size = samples.stream().mapToLong(RunSamples::size).sum();
    int every = (int) Math.max(1, (size + MOST_SAMPLES - 1) / MOST_SAMPLES);
    for (int i = 0; i < runs.size(); i++) {
      for (CaseResult c : runs.get(i).data().cases()) {
        ObjectNode of = samples.get(i).json(c.id(), every);
        if (of != null) {
          node.set(Integer.toString(cases.of(i, c.id())), of);
        }
      }
    }
    return node;
  }

  /** A, B and so on; after Z, a number. */
  static String letter(int run) {
    return run < 26 ? Character.toString('A' + run) : Integer.toString(run + 1);
  }

  /** How a run is called where several are shown. */
  static String title(ReportedRun run, int number) {
    return letter(number) + ", " + run.device();
  }

  /** A text as part of an identifier and of a file name. */
  static String slug(String text) {
    String plain = text.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
    return plain.replaceAll("^-|-$", "");
  }
}
