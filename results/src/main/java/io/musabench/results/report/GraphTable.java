package io.musabench.results.report;

import io.musabench.results.run.CaseResult;
import io.musabench.results.run.GraphCosts;
import io.musabench.results.run.MedianInterval;
import io.musabench.results.run.Params;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/** Eager against graph: a table a step and model, a column a batch. */
final class GraphTable {
  /** More columns with intervals in them are wider than a terminal. */
  private static final int MOST_COLUMNS = 4;

  private static final String EXPLANATION =
      """
        in turns on an idle device with cold caches; span: host time from the first call to the end of the work; saved:
        eager span - graph span, round by round; launch: (span - device time of the graph) / kernels, for eager no surer
        than saved; queue: host time until the calls have returned / kernels; pays after so many replays: (capture +
        instantiate + upload) / saved; new inputs: ids, positions, slots, page table and lengths are written and copied
        before each replay, other ones every time; padded: the same requests in a graph captured for more
      """;

  private final TextTable table;
  private final List<CaseResult> cases;

  private GraphTable(String heading, List<CaseResult> cases) {
    this.cases = cases;
    List<String> headers = new ArrayList<>(List.of(heading));
    cases.forEach(c -> headers.add(">" + column(c)));
    table = new TextTable(headers.toArray(String[]::new));
    fill();
  }

  /** The tables of all steps that were measured both ways; empty if none was. */
  static String text(List<CaseResult> steps) {
    Map<String, List<CaseResult>> groups = new LinkedHashMap<>();
    for (CaseResult c : steps) {
      if (c.graphCosts().known()) {
        Map<String, String> rest = new TreeMap<>(c.params());
        rest.keySet().removeAll(Set.of(Params.BATCH, Params.CAPTURED));
        groups.computeIfAbsent(c.shortName() + rest, key -> new ArrayList<>()).add(c);
      }
    }
    if (groups.isEmpty()) {
      return "";
    }
    StringBuilder out = new StringBuilder("\nEager against graph\n");
    for (List<CaseResult> group : groups.values()) {
      String heading = RunReport.phase(group.get(0)) + " " + RunReport.model(group.get(0));
      for (int first = 0; first < group.size(); first += MOST_COLUMNS) {
        int end = Math.min(group.size(), first + MOST_COLUMNS);
        out.append(new GraphTable(heading, group.subList(first, end)).table).append('\n');
      }
    }
    return out.append(EXPLANATION).toString();
  }

  /** The batch, and what it was padded to where somebody has asked for that. */
  private static String column(CaseResult c) {
    String captured = c.param(Params.CAPTURED);
    return c.param(Params.BATCH) + (captured.matches("[0-9]+") ? " in " + captured : "");
  }

  private void fill() {
    row("kernels", c -> Integer.toString(c.kernels()));
    time("device time, eager", c -> c.graphCosts().eager().deviceUs());
    time("device time, graph", c -> c.graphCosts().graph().deviceUs());
    time("span, eager", c -> c.graphCosts().eager().spanUs());
    time("span, graph", c -> c.graphCosts().graph().spanUs());
    time("saved by the graph", c -> c.graphCosts().savedUs().median());
    row("  95 % interval", c -> interval(c.graphCosts().savedUs()));
    time("launch a kernel, eager", c -> launch(c, c.graphCosts().eager()));
    time("launch a kernel, graph", c -> launch(c, c.graphCosts().graph()));
    time("queue a kernel, eager", c -> c.graphCosts().eager().submitUs() / c.kernels());
    time("queue a kernel, graph", c -> c.graphCosts().graph().submitUs() / c.kernels());
    time("capture", c -> c.graphCosts().captureUs());
    time("instantiate", c -> c.graphCosts().instantiateUs());
    time("upload", c -> c.graphCosts().uploadUs());
    row("pays after", c -> breakEven(c.graphCosts().breakEven()));
    time("span, new inputs", c -> c.graphCosts().updated().spanUs());
    time("  of it writing them", c -> c.graphCosts().updateUs());
    if (cases.stream().anyMatch(c -> c.graphCosts().capturedRequests() > 0)) {
      row("padded to", c -> requests(c.graphCosts().capturedRequests()));
      time("device time, padded", c -> c.graphCosts().padded().deviceUs());
      row("  against exact", c -> padding(c.graphCosts()));
      time("span, padded", c -> c.graphCosts().padded().spanUs());
    }
  }

  private void time(String name, Function<CaseResult, Double> us) {
    row(name, c -> Units.time(us.apply(c)));
  }

  private void row(String name, Function<CaseResult, String> cell) {
    List<String> cells = new ArrayList<>(List.of(name));
    cases.forEach(c -> cells.add(cell.apply(c)));
    table.row(cells.toArray(String[]::new));
  }

  private static double launch(CaseResult c, GraphCosts.Spans way) {
    return (way.spanUs() - c.graphCosts().graph().deviceUs()) / c.kernels();
  }

  private static String interval(MedianInterval us) {
    return RunReport.interval(us.low(), us.high());
  }

  private static String breakEven(GraphCosts.BreakEven even) {
    return switch (even.outcome()) {
      case NEVER -> "never";
      case UNDECIDED ->
          Double.isNaN(even.least()) ? "undecided" : "undecided, from " + count(even.least());
      case PAYS ->
          even.least() == even.most()
              ? count(even.replays())
              : "%s (%s to %s)"
                  .formatted(count(even.replays()), count(even.least()), count(even.most()));
    };
  }

  private static String count(double replays) {
    return Long.toString((long) replays);
  }

  private static String requests(int captured) {
    return captured == 0 ? Units.NOTHING : Integer.toString(captured);
  }

  private static String padding(GraphCosts costs) {
    return costs.capturedRequests() == 0
        ? Units.NOTHING
        : Units.change(100 * (costs.padded().deviceUs() / costs.graph().deviceUs() - 1));
  }
}
