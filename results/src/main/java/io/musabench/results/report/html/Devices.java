package io.musabench.results.report.html;

import io.musabench.results.devices.DataSheet;
import io.musabench.results.report.AcrossDevices;
import io.musabench.results.report.Units;
import io.musabench.results.tpot.Prediction;
import io.musabench.results.tpot.answers.WhatIf;
import java.util.List;

/** Two devices beside each other: both measured, or one predicted from the data sheets. */
final class Devices {
  private Devices() {}

  static Section section(List<ReportedRun> runs, List<HtmlReport.Carried> predicted, Cases cases) {
    Section section = new Section("devices");
    for (int i = 1; i < runs.size(); i++) {
      if (!runs.get(i).device().equals(runs.get(0).device())) {
        measured(section, runs, i, cases);
      }
    }
    for (HtmlReport.Carried carried : predicted) {
      WhatIf w = carried.answer();
      section.command(carried.command()).add(tpot(w)).add(table(w)).add(operations(w));
      w.assumptions()
          .forEach(a -> section.note(Message.of("note.assumed", "service", name(w), "what", a)));
    }
    return section;
  }

  private static void measured(Section section, List<ReportedRun> runs, int other, Cases cases) {
    ReportedRun a = runs.get(0);
    ReportedRun b = runs.get(other);
    List<AcrossDevices.Row> rows = AcrossDevices.rows(a.data(), b.data());
    String id = ReportModel.letter(other);
    String nameA = ReportModel.letter(0) + ", " + a.device();
    String nameB = ReportModel.letter(other) + ", " + b.device();
    Chart times =
        new Chart("devices-times-" + id, Message.of("chart.devices", "a", nameA, "b", nameB))
            .x("time_a", Type.TIME_US, true)
            .y("time_b", Type.TIME_US, true)
            .note(Message.of("note.devices"));
    double least = Double.POSITIVE_INFINITY;
    double most = 0;
    Chart.Series points =
        times.series(Message.of("series.cases"), Kind.MEASURED, Chart.Shape.POINTS);
    Table table =
        new Table("devices-" + id, Message.of("table.devices", "a", nameA, "b", nameB))
            .column("case", Type.CODE)
            .column("time_a", Type.TIME_US)
            .column("time_b", Type.TIME_US)
            .column("b_over_a", Type.RATIO)
            .column("gb_per_s_a", Type.NUMBER)
            .column("gb_per_s_b", Type.NUMBER)
            .column("tflop_per_s_a", Type.NUMBER)
            .column("tflop_per_s_b", Type.NUMBER)
            .column("of_roof_a", Type.PERCENT)
            .column("of_roof_b", Type.PERCENT)
            .column("of_sheet_a", Type.PERCENT)
            .column("of_sheet_b", Type.PERCENT);
    for (AcrossDevices.Row row : rows) {
      int number = cases.of(other, row.c().id());
      points.point(number, row.a().timeUs(), row.b().timeUs(), Double.NaN, Double.NaN);
      least = Math.min(least, Math.min(row.a().timeUs(), row.b().timeUs()));
      most = Math.max(most, Math.max(row.a().timeUs(), row.b().timeUs()));
      table.caseRow(
          number,
          row.c().id(),
          row.a().timeUs(),
          row.b().timeUs(),
          row.ratio(),
          row.a().gbPerS(),
          row.b().gbPerS(),
          row.a().tflopPerS(),
          row.b().tflopPerS(),
          row.a().percentOfRoof(),
          row.b().percentOfRoof(),
          row.a().percentOfSheet(),
          row.b().percentOfSheet());
    }
    if (most > 0) {
      times
          .series(Message.of("series.equal"), Kind.LIMIT, Chart.Shape.RULE)
          .point(least, least)
          .point(most, most);
    }
    section.add(times).add(table);
    if (rows.isEmpty()) {
      section.note(Message.of("note.no_common_case", "a", nameA, "b", nameB));
    }
  }

  private static String name(WhatIf w) {
    return w.fromSheet().name() + " → " + w.toSheet().name();
  }

  private static Chart tpot(WhatIf w) {
    Chart chart =
        new Chart(
                "what-if-" + ReportModel.slug(name(w)),
                Message.of("chart.what_if", "name", name(w)))
            .x("concurrency", Type.COUNT, true)
            .y("tpot", Type.TIME_US, true)
            .note(Message.of("note.what_if"));
    side(chart, w, w.fromSheet(), false);
    side(chart, w, w.toSheet(), true);
    return chart;
  }

  private static Kind fromKind(WhatIf w) {
    return w.fromOwnKernels() ? Kind.PREDICTED : Kind.SHEET;
  }

  private static void side(Chart chart, WhatIf w, DataSheet sheet, boolean to) {
    Kind kind = to ? Kind.SHEET : fromKind(w);
    Chart.Series line = chart.series(Message.literal(sheet.name()), kind, Chart.Shape.LINE);
    for (WhatIf.Pair pair : w.pairs()) {
      Prediction p = to ? pair.to() : pair.from();
      line.point(
          Table.NO_CASE,
          p.workload().concurrency(),
          1e6 * p.tpot().value(),
          1e6 * p.tpot().low(),
          1e6 * p.tpot().high());
    }
  }

  private static Table table(WhatIf w) {
    Table table =
        new Table(
                "what-if-" + ReportModel.slug(name(w)),
                Message.of("table.what_if", "name", name(w)))
            .column("kind", Type.KIND)
            .column("device", Type.TEXT)
            .column("concurrency", Type.COUNT)
            .column("tpot", Type.TIME_US)
            .column("low_90", Type.TIME_US)
            .column("high_90", Type.TIME_US)
            .column("ttft_staggered", Type.TIME_US)
            .column("ttft_burst", Type.TIME_US)
            .column("requests_per_s", Type.NUMBER)
            .column("bound", Type.TEXT)
            .column("remark", Type.TEXT);
    for (WhatIf.Pair pair : w.pairs()) {
      row(table, fromKind(w), w.fromSheet(), pair.from(), "");
      row(
          table,
          Kind.SHEET,
          w.toSheet(),
          pair.to(),
          "TPOT ×" + Units.number(pair.to().tpot().value() / pair.from().tpot().value()));
    }
    return table;
  }

  private static void row(Table table, Kind kind, DataSheet sheet, Prediction p, String remark) {
    table.row(
        kind,
        sheet.name(),
        p.workload().concurrency(),
        1e6 * p.tpot().value(),
        1e6 * p.tpot().low(),
        1e6 * p.tpot().high(),
        1e6 * p.ttftStaggered().value(),
        1e6 * p.ttftBurst().value(),
        p.requestsPerSecond(),
        Message.of(p.bound()),
        p.remark().isEmpty() ? remark : (remark + " " + p.remark()).strip());
  }

  private static Table operations(WhatIf w) {
    Table table =
        new Table(
                "what-if-operations-" + ReportModel.slug(name(w)),
                Message.of("table.what_if_operations", "name", name(w)))
            .column("kind", Type.KIND)
            .column("concurrency", Type.COUNT)
            .column("step", Type.TEXT)
            .column("operation", Type.CODE)
            .column("of_roof", Type.PERCENT)
            .column("from", Type.TIME_US)
            .column("to", Type.TIME_US)
            .column("bound_from", Type.TEXT)
            .column("bound_to", Type.TEXT);
    for (WhatIf.Pair pair : w.pairs()) {
      for (WhatIf.Carried c : w.operations(pair)) {
        table.row(
            Kind.SHEET,
            pair.from().workload().concurrency(),
            c.phase(),
            c.from().role(),
            100 * c.utilisation(),
            1e6 * c.from().time().seconds(),
            c.to() == null ? Double.NaN : 1e6 * c.to().time().seconds(),
            Message.of(c.from().bound()),
            c.to() == null ? null : Message.of(c.to().bound()));
      }
    }
    return table;
  }
}
