package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.JsonNode;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.report.RunReport;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.GraphCosts;
import io.musabench.results.run.Params;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What launching costs, and from which batch on a graph gains nothing. */
final class Launch {
  private Launch() {}

  /** The eager and the graph case of one step. */
  private record Pair(int run, CaseResult eager, CaseResult graph) {
    double gain() {
      return eager.deviceTimeMedianUs() / graph.deviceTimeMedianUs();
    }
  }

  static Section section(List<ReportedRun> runs, List<Answer> gains, Cases cases) {
    Section section = new Section("launch");
    section.add(costs(runs, cases));
    List<Pair> pairs = pairs(runs);
    for (Answer a : gains) {
      section.command(a.command()).add(gain(a, pairs, cases)).command(null);
      section.note(breakEven(a));
      section.note(hostBound(a));
      if (a.file() != null) {
        // What is made for this report assumes what its predictions do, and those say so.
        a.notes().forEach(section::note);
      }
    }
    section.add(breakEvens(runs, cases));
    section.add(measuredGain(pairs, cases));
    for (Answer a : gains) {
      section.command(a.command()).add(predictedGain(a)).command(null);
    }
    return section.add(table(runs, cases));
  }

  private static Chart costs(List<ReportedRun> runs, Cases cases) {
    List<String> names = new ArrayList<>();
    Map<String, Integer> places = new LinkedHashMap<>();
    for (int i = 0; i < runs.size(); i++) {
      for (CaseResult c : runs.get(i).data().measured(CaseResult.LAUNCH)) {
        String name = name(c);
        places.computeIfAbsent(
            name,
            n -> {
              names.add(n);
              return names.size() - 1;
            });
      }
    }
    Chart chart =
        new Chart("launch-costs", Message.of("chart.launch"))
            .categories("launch", names)
            .y("time", Type.TIME_US, true);
    for (int i = 0; i < runs.size(); i++) {
      String run = runs.size() > 1 ? ReportModel.letter(i) + " " : "";
      Chart.Series device =
          chart.series(
              Message.of("series.device_time", "run", run), Kind.MEASURED, Chart.Shape.POINTS);
      Chart.Series host =
          chart.series(
              Message.of("series.host_time", "run", run), Kind.MEASURED, Chart.Shape.POINTS);
      Chart.Series submit =
          chart.series(
              Message.of("series.submit_time", "run", run), Kind.MEASURED, Chart.Shape.POINTS);
      for (CaseResult c : runs.get(i).data().measured(CaseResult.LAUNCH)) {
        int index = cases.of(i, c.id());
        int x = places.get(name(c));
        device.point(index, x, c.deviceTimeMedianUs(), c.deviceTimeP10Us(), c.deviceTimeP90Us());
        host.point(index, x, c.hostTimeMedianUs(), Double.NaN, Double.NaN);
        submit.point(index, x, c.submitTimeMedianUs(), Double.NaN, Double.NaN);
      }
    }
    return chart;
  }

  private static String name(CaseResult c) {
    return c.params().isEmpty()
        ? c.shortName()
        : c.shortName() + " " + Params.format(c.params()).replace(';', ' ');
  }

  private static Table table(List<ReportedRun> runs, Cases cases) {
    Table table =
        new Table("launch", Message.of("table.launch"))
            .column("run", Type.TEXT)
            .column("case", Type.CODE)
            .column("device_time", Type.TIME_US)
            .column("host_time", Type.TIME_US)
            .column("submit", Type.TIME_US);
    for (int i = 0; i < runs.size(); i++) {
      for (CaseResult c : runs.get(i).data().measured(CaseResult.LAUNCH)) {
        table.caseRow(
            cases.of(i, c.id()),
            ReportModel.letter(i),
            name(c),
            c.deviceTimeMedianUs(),
            c.hostTimeMedianUs(),
            c.submitTimeMedianUs());
      }
    }
    return table;
  }

  private static List<Pair> pairs(List<ReportedRun> runs) {
    List<Pair> pairs = new ArrayList<>();
    for (int i = 0; i < runs.size(); i++) {
      Map<String, CaseResult> eager = new LinkedHashMap<>();
      Map<String, CaseResult> graph = new LinkedHashMap<>();
      for (CaseResult c : runs.get(i).data().measured(CaseResult.STEP)) {
        Map<String, String> rest = new TreeMap<>(c.params());
        String mode = rest.remove(Params.MODE);
        String key = c.shortName() + Params.format(rest);
        if (Params.EAGER.equals(mode)) {
          eager.put(key, c);
        } else if (Params.GRAPH.equals(mode)) {
          graph.put(key, c);
        }
      }
      for (Map.Entry<String, CaseResult> e : eager.entrySet()) {
        if (graph.containsKey(e.getKey())) {
          pairs.add(new Pair(i, e.getValue(), graph.get(e.getKey())));
        }
      }
    }
    return pairs;
  }

  /** What was measured of a graph beside the same step launched kernel by kernel. */
  private static Table breakEvens(List<ReportedRun> runs, Cases cases) {
    Table table =
        new Table("break-even", Message.of("table.break_even"))
            .column("run", Type.TEXT)
            .column("step", Type.TEXT)
            .column("model", Type.TEXT)
            .column("batch", Type.CODE)
            .column("eager_span", Type.TIME_US)
            .column("graph_span", Type.TIME_US)
            .column("saved", Type.TIME_US)
            .column("low_95", Type.TIME_US)
            .column("high_95", Type.TIME_US)
            .column("capture", Type.TIME_US)
            .column("instantiate", Type.TIME_US)
            .column("upload", Type.TIME_US)
            .column("pays", Type.TEXT)
            .column("replays", Type.COUNT)
            .column("replays_least", Type.COUNT)
            .column("replays_most", Type.COUNT)
            .column("updated_span", Type.TIME_US)
            .column("captured_requests", Type.COUNT)
            .column("padded_span", Type.TIME_US);
    for (int i = 0; i < runs.size(); i++) {
      for (CaseResult c : runs.get(i).data().measured(CaseResult.STEP)) {
        GraphCosts costs = c.graphCosts();
        if (!costs.known()) {
          continue;
        }
        GraphCosts.BreakEven even = costs.breakEven();
        table.caseRow(
            cases.of(i, c.id()),
            ReportModel.letter(i),
            RunReport.phase(c),
            RunReport.model(c),
            c.param(Params.BATCH),
            costs.eager().spanUs(),
            costs.graph().spanUs(),
            costs.savedUs().median(),
            costs.savedUs().low(),
            costs.savedUs().high(),
            costs.captureUs(),
            costs.instantiateUs(),
            costs.uploadUs(),
            Message.of("pays." + even.outcome().text()),
            even.replays(),
            even.least(),
            even.most(),
            costs.updated().spanUs(),
            costs.capturedRequests() == 0 ? null : costs.capturedRequests(),
            costs.padded().spanUs());
      }
    }
    return table;
  }

  private static Table measuredGain(List<Pair> pairs, Cases cases) {
    Table table =
        new Table("graph-gain", Message.of("table.graph_gain"))
            .column("run", Type.TEXT)
            .column("step", Type.TEXT)
            .column("model", Type.TEXT)
            .column("batch", Type.CODE)
            .column("kernels", Type.COUNT)
            .column("eager", Type.TIME_US)
            .column("graph", Type.TIME_US)
            .column("gain", Type.RATIO)
            .column("submit_eager", Type.TIME_US)
            .column("submit_graph", Type.TIME_US);
    for (Pair p : pairs) {
      table.caseRow(
          cases.of(p.run(), p.graph().id()),
          ReportModel.letter(p.run()),
          RunReport.phase(p.eager()),
          RunReport.model(p.eager()),
          p.eager().param(Params.BATCH),
          p.eager().kernels(),
          p.eager().deviceTimeMedianUs(),
          p.graph().deviceTimeMedianUs(),
          p.gain(),
          p.eager().submitTimeMedianUs(),
          p.graph().submitTimeMedianUs());
    }
    return table;
  }

  /** Predicted steps of both modes over the batch, and the measured ones of the same model. */
  private static Chart gain(Answer a, List<Pair> pairs, Cases cases) {
    Chart chart =
        new Chart(a.id("graph-gain"), a.message("chart.graph_gain"))
            .x("requests", Type.COUNT, true)
            .y("latency", Type.TIME_US, true)
            .note(Message.of(a.file() == null ? "note.graph_gain" : "note.graph_gain_predicted"))
            .note(Message.of("note.interval_kernels"));
    Chart.Series eager =
        chart.series(Message.of("series.mode", "mode", "eager"), Kind.PREDICTED, Chart.Shape.LINE);
    Chart.Series graph =
        chart.series(Message.of("series.mode", "mode", "graph"), Kind.PREDICTED, Chart.Shape.LINE);
    for (JsonNode row : a.root().path("rows")) {
      predicted(eager, row, "eager");
      predicted(graph, row, "graph");
    }
    if (a.file() != null) {
      return chart; // Nobody knows which device it is of.
    }
    Chart.Series measuredEager =
        chart.series(Message.of("series.mode", "mode", "eager"), Kind.MEASURED, Chart.Shape.POINTS);
    Chart.Series measuredGraph =
        chart.series(Message.of("series.mode", "mode", "graph"), Kind.MEASURED, Chart.Shape.POINTS);
    for (Pair p : pairs) {
      // A batch that this version cannot read has no place on an axis.
      BatchSpec batch = p.eager().batch().orElse(null);
      if (batch != null
          && batch.isDecode()
          && (a.run() == null || a.run() == p.run())
          && RunReport.model(p.eager()).equals(Answer.model(a.root()))) {
        point(measuredEager, p, p.eager(), batch, cases);
        point(measuredGraph, p, p.graph(), batch, cases);
      }
    }
    return chart;
  }

  private static void predicted(Chart.Series series, JsonNode row, String mode) {
    series.point(
        Table.NO_CASE,
        row.path("batch").asInt(),
        Answer.us(row.path(mode + "_ms")),
        Answer.us(row.path(mode + "_low_ms")),
        Answer.us(row.path(mode + "_high_ms")));
  }

  private static void point(
      Chart.Series series, Pair pair, CaseResult c, BatchSpec batch, Cases cases) {
    series.point(
        cases.of(pair.run(), c.id()),
        batch.size(),
        c.deviceTimeMedianUs(),
        c.deviceTimeP10Us(),
        c.deviceTimeP90Us());
  }

  private static Message breakEven(Answer a) {
    boolean ends = a.root().path("break_even_batch").isNumber();
    return Message.of(
        ends ? "note.break_even" : "note.gains_always",
        "service",
        a.name(),
        "batch",
        a.root().path("break_even_batch").asText(),
        "most",
        a.root().path("largest_batch").asText());
  }

  private static Message hostBound(Answer a) {
    int until = a.root().path("host_bound_until_batch").asInt();
    return Message.of(
        until == 0 ? "note.host_never" : "note.host_until",
        "service",
        a.name(),
        "batch",
        Integer.toString(until));
  }

  private static Table predictedGain(Answer a) {
    Table table =
        new Table(a.id("graph-gain-predicted"), a.message("table.graph_gain_predicted"))
            .column("kind", Type.KIND)
            .column("requests", Type.COUNT)
            .column("kernels", Type.COUNT)
            .column("kernel_sum", Type.TIME_US)
            .interval90("kernel_sum", Type.TIME_US)
            .column("launching", Type.TIME_US)
            .column("eager", Type.TIME_US)
            .interval90("eager", Type.TIME_US)
            .column("graph", Type.TIME_US)
            .interval90("graph", Type.TIME_US)
            .column("gain", Type.RATIO)
            .interval90("gain", Type.RATIO)
            .column("break_even_launch", Type.TIME_US)
            .interval90("launch", Type.TIME_US)
            .column("replays", Type.COUNT)
            .interval90("replays", Type.COUNT)
            .column("host_bound", Type.TEXT);
    for (JsonNode r : a.root().path("rows")) {
      table.row(
          Kind.PREDICTED,
          r.path("batch").asInt(),
          r.path("kernels").asInt(),
          Answer.us(r.path("kernels_ms")),
          Answer.us(r.path("kernels_low_ms")),
          Answer.us(r.path("kernels_high_ms")),
          Answer.us(r.path("launch_ms")),
          Answer.us(r.path("eager_ms")),
          Answer.us(r.path("eager_low_ms")),
          Answer.us(r.path("eager_high_ms")),
          Answer.us(r.path("graph_ms")),
          Answer.us(r.path("graph_low_ms")),
          Answer.us(r.path("graph_high_ms")),
          Answer.number(r.path("gain")),
          Answer.number(r.path("gain_low")),
          Answer.number(r.path("gain_high")),
          Answer.number(r.path("break_even_launch_us")),
          Answer.number(r.path("break_even_launch_low_us")),
          Answer.number(r.path("break_even_launch_high_us")),
          finite(Answer.number(r.path("break_even_replays"))),
          finite(Answer.number(r.path("break_even_replays_low"))),
          finite(Answer.number(r.path("break_even_replays_high"))),
          Message.of(r.path("host_bound_eager").asBoolean() ? "word.yes" : "word.no"));
    }
    return table;
  }

  /** A count that is never reached has none. */
  private static double finite(double count) {
    return Double.isInfinite(count) ? Double.NaN : count;
  }
}
