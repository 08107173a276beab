package io.musabench.results.report.html;

import io.musabench.results.serving.Check;
import io.musabench.results.serving.Finding;
import io.musabench.results.serving.Goodput;
import io.musabench.results.serving.Metric;
import io.musabench.results.serving.Slo;
import io.musabench.results.serving.Stat;
import io.musabench.results.serving.Status;
import io.musabench.results.serving.Summary;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;

/** Result files of serving benchmarks: measured by others, read and judged here. */
final class Serving {
  private static final List<Metric> SHOWN = List.of(Metric.TTFT, Metric.TPOT, Metric.ITL);

  /** Medians further apart than this factor are drawn on a logarithmic axis. */
  private static final double WIDE = 20;

  private Serving() {}

  static Section section(List<Summary> summaries, String command) {
    Section section = new Section("serving").command(command);
    if (summaries.isEmpty()) {
      return section;
    }
    List<String> names = names(summaries);
    for (Metric metric : SHOWN) {
      section.add(cdf(metric, summaries, names));
    }
    section.add(goodput(summaries, names));
    section.add(latencies(summaries, names));
    section.add(rates(summaries, names));
    section.add(checklist(summaries, names));
    section.add(audit(summaries, names));
    return section;
  }

  /** File names, with their folder where two are alike. */
  private static List<String> names(List<Summary> summaries) {
    List<String> names = new ArrayList<>();
    for (Summary s : summaries) {
      Path path = Path.of(s.run().source().replace('\0', ' '));
      Path last = path.getFileName();
      String name = last == null ? s.run().source() : last.toString();
      int same = 1;
      String unique = name;
      while (names.contains(unique)) {
        same++;
        unique = name + " (" + same + ")";
      }
      names.add(unique);
    }
    return names;
  }

  private static Chart cdf(Metric metric, List<Summary> summaries, List<String> names) {
    String id = metric.id();
    Chart chart =
        new Chart("cdf-" + id, Message.of("chart.cdf", "metric", id.toUpperCase(Locale.ROOT)))
            .x(id, Type.TIME_US, wide(metric, summaries))
            .y("share_up_to", Type.PERCENT, false);
    boolean some = false;
    for (int i = 0; i < summaries.size(); i++) {
      Stat stat = summaries.get(i).stat(metric);
      if (stat == null || stat.curve().isEmpty()) {
        continue;
      }
      some = true;
      Chart.Series line =
          chart.series(
              Message.literal(names.get(i)),
              Kind.MEASURED,
              summaries.get(i).run().hasRequests() ? Chart.Shape.STEPS : Chart.Shape.LINE);
      stat.curve().forEach(p -> line.point(1e3 * p.milliseconds(), 100 * p.share()));
    }
    List<Double> limits = new ArrayList<>();
    for (Summary s : summaries) {
      double limit = limit(metric, s.goodput().slo());
      if (some && Double.isFinite(limit) && !limits.contains(limit)) {
        limits.add(limit);
        chart
            .series(Message.of("series.slo", "metric", id), Kind.LIMIT, Chart.Shape.RULE)
            .point(1e3 * limit, 0)
            .point(1e3 * limit, 100);
      }
    }
    if (summaries.stream().anyMatch(s -> !s.run().hasRequests())) {
      chart.note(Message.of("note.percentiles_only"));
    }
    return chart;
  }

  /** Whether medians lie so far apart that on a plain axis one curve would press others flat. */
  private static boolean wide(Metric metric, List<Summary> summaries) {
    DoubleSummaryStatistics medians =
        summaries.stream()
            .map(s -> s.stat(metric))
            .filter(s -> s != null && !s.curve().isEmpty() && s.p50() > 0)
            .mapToDouble(Stat::p50)
            .summaryStatistics();
    return medians.getMax() > WIDE * medians.getMin();
  }

  private static double limit(Metric metric, Slo slo) {
    return switch (metric) {
      case TTFT -> slo.ttftMs();
      // A limit on TPOT is one on the mean gap of a request; no tool limits single gaps.
      case TPOT -> slo.tpotMs();
      case E2E -> slo.e2eMs();
      default -> Double.NaN;
    };
  }

  private static Chart goodput(List<Summary> summaries, List<String> names) {
    Chart chart =
        new Chart("goodput", Message.of("chart.goodput"))
            .x("requests_per_s", Type.NUMBER, false)
            .y("goodput", Type.NUMBER, false)
            .note(Message.of("note.goodput"));
    double most = 0;
    boolean some = false;
    for (int i = 0; i < summaries.size(); i++) {
      Summary s = summaries.get(i);
      Goodput g = s.goodput();
      double all = Math.max(s.requestsPerS(), g.requestsPerS());
      if (!Double.isFinite(g.requestsPerS()) || !Double.isFinite(s.requestsPerS())) {
        continue;
      }
      some = true;
      most = Math.max(most, all);
      double scale = g.share() > 0 ? g.requestsPerS() / g.share() : Double.NaN;
      chart
          .series(Message.literal(names.get(i)), Kind.MEASURED, Chart.Shape.POINTS)
          .point(
              Table.NO_CASE, s.requestsPerS(), g.requestsPerS(), scale * g.low(), scale * g.high());
    }
    if (some) {
      chart
          .series(Message.of("series.all_good"), Kind.LIMIT, Chart.Shape.RULE)
          .point(0, 0)
          .point(1.1 * most, 1.1 * most);
    }
    return chart;
  }

  private static Table latencies(List<Summary> summaries, List<String> names) {
    Table table =
        new Table("serving-latencies", Message.of("table.serving_latencies"))
            .column("file", Type.CODE)
            .column("metric", Type.TEXT)
            .column("count", Type.COUNT)
            .column("mean", Type.TIME_US)
            .column("p50", Type.TIME_US)
            .column("p90", Message.literal("P90"), Type.TIME_US)
            .column("p95", Type.TIME_US)
            .column("p99", Type.TIME_US)
            .column("formula", Type.CODE)
            .column("meaning", Type.TEXT);
    for (int i = 0; i < summaries.size(); i++) {
      for (Metric metric : Metric.values()) {
        Stat s = summaries.get(i).stat(metric);
        if (s != null && !s.missing()) {
          table.row(
              names.get(i),
              metric.id().toUpperCase(Locale.ROOT),
              s.count() < 0 ? null : s.count(),
              1e3 * s.mean(),
              1e3 * s.p50(),
              1e3 * s.p90(),
              1e3 * s.p95(),
              1e3 * s.p99(),
              s.formula().id(),
              Message.of(s.formula()));
        }
      }
    }
    return table;
  }

  private static Table rates(List<Summary> summaries, List<String> names) {
    Table table =
        new Table("serving-rates", Message.of("table.serving_rates"))
            .column("file", Type.CODE)
            .column("tool", Type.TEXT)
            .column("requests", Type.COUNT)
            .column("errors", Type.COUNT)
            .column("duration_s", Type.NUMBER)
            .column("requests_per_s", Type.NUMBER)
            .column("tokens_per_s", Type.NUMBER)
            .column("goodput", Type.NUMBER)
            .column("good_share", Type.PERCENT)
            .column("low_95", Type.PERCENT)
            .column("high_95", Type.PERCENT)
            .column("slo_ttft", Type.TIME_US)
            .column("slo_tpot", Type.TIME_US)
            .column("remark", Type.TEXT);
    for (int i = 0; i < summaries.size(); i++) {
      Summary s = summaries.get(i);
      Goodput g = s.goodput();
      table.row(
          names.get(i),
          s.run().tool(),
          s.total() < 0 ? null : s.total(),
          s.count(Status.ERROR) < 0 ? null : s.count(Status.ERROR),
          s.durationS(),
          s.requestsPerS(),
          s.outputTokensPerS(),
          g.requestsPerS(),
          100 * g.share(),
          100 * g.low(),
          100 * g.high(),
          1e3 * g.slo().ttftMs(),
          1e3 * g.slo().tpotMs(),
          Message.said(g.note()));
    }
    return table;
  }

  private static Table checklist(List<Summary> summaries, List<String> names) {
    Table table =
        new Table("serving-checklist", Message.of("table.checklist"))
            .column("file", Type.CODE)
            .column("item", Type.CODE)
            .column("state", Type.STATE)
            .column("reason", Type.TEXT);
    for (int i = 0; i < summaries.size(); i++) {
      for (Check c : summaries.get(i).checklist()) {
        table.row(names.get(i), c.id(), c.verdict(), Message.said(c.reason()));
      }
    }
    return table;
  }

  private static Table audit(List<Summary> summaries, List<String> names) {
    Table table =
        new Table("serving-audit", Message.of("table.audit"))
            .column("file", Type.CODE)
            .column("finding", Type.CODE)
            .column("state", Type.STATE)
            .column("what", Type.TEXT)
            .column("effect", Type.TEXT);
    for (int i = 0; i < summaries.size(); i++) {
      for (Finding f : summaries.get(i).audit()) {
        table.row(
            names.get(i), f.id(), f.level(), Message.said(f.what()), Message.said(f.effect()));
      }
    }
    return table;
  }
}
