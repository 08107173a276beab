package io.musabench.results.report.html;

import io.musabench.results.devices.DataSheet;
import io.musabench.results.devices.Figure;
import io.musabench.results.model.Work;
import io.musabench.results.report.AcrossDevices;
import io.musabench.results.report.Units;
import io.musabench.results.run.CasePart;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Roofs;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Arithmetic rate over arithmetic intensity, under what was measured and what is published. */
final class Roofline {
  /** The kernels of all steps together; no group of benchmarks has this name. */
  private static final String STEP_KERNELS = "step kernels";

  private Roofline() {}

  /** What binds, in a word that is translated; null where the roofs do not tell. */
  static Message bound(Roofs.Share share) {
    return share == null ? null : Message.of("bound." + share.bound().text());
  }

  private record Point(int caseIndex, double intensity, double tflopPerS) {}

  static Section section(List<ReportedRun> runs, Cases cases) {
    Section section = new Section("roofline");
    for (int i = 0; i < runs.size(); i++) {
      section.add(chart(runs.get(i), i, cases));
    }
    for (int i = 0; i < runs.size(); i++) {
      section.add(roofs(runs.get(i), i, cases));
    }
    return section;
  }

  private static Chart chart(ReportedRun run, int number, Cases cases) {
    Chart chart =
        new Chart(
                "roofline-" + ReportModel.letter(number),
                Message.of("chart.roofline", "run", ReportModel.title(run, number)))
            .x("intensity", Type.NUMBER, true)
            .y("tflop_per_s", Type.NUMBER, true)
            .note(Message.of("note.roofline"));
    Map<String, List<Point>> groups = new TreeMap<>();
    int without = 0;
    double least = Double.POSITIVE_INFINITY;
    double most = 0;
    for (CaseResult c : run.data().cases()) {
      if (!c.ok() || c.group().equals(CaseResult.ROOF) || c.group().equals(CaseResult.LAUNCH)) {
        continue;
      }
      int index = cases.of(number, c.id());
      List<Point> points = new ArrayList<>();
      add(points, index, c.work(), c.deviceTimeMedianUs());
      without += points.isEmpty() ? 1 : 0;
      groups.computeIfAbsent(c.group(), g -> new ArrayList<>()).addAll(points);
      for (CasePart p : c.parts()) {
        List<Point> parts = groups.computeIfAbsent(STEP_KERNELS, g -> new ArrayList<>());
        add(parts, index, p.work(), p.deviceTimeMedianUs());
      }
    }
    for (List<Point> points : groups.values()) {
      for (Point p : points) {
        least = Math.min(least, p.intensity());
        most = Math.max(most, p.intensity());
      }
    }
    if (most == 0) {
      return chart;
    }
    if (without > 0) {
      chart.note(Message.of("note.no_arithmetic", "count", Integer.toString(without)));
    }
    Roofs measured = run.data().roofs();
    double from = least / 2;
    double to = most * 2;
    roof(
        chart,
        Message.of("series.roof_measured"),
        Kind.MEASURED,
        measured.readGbPerS(),
        measured.tflopPerS(),
        from,
        to);
    AcrossDevices.sheet(run.data())
        .ifPresent(
            s -> {
              roof(
                  chart,
                  Message.of("series.roof_sheet", "device", s.name()),
                  Kind.SHEET,
                  s.value(DataSheet.MEMORY_GB_PER_S),
                  s.value(DataSheet.BF16_TFLOPS),
                  from,
                  to);
              if (assumed(s, DataSheet.MEMORY_GB_PER_S) || assumed(s, DataSheet.BF16_TFLOPS)) {
                chart.note(Message.of("note.sheet_assumed"));
              }
            });
    groups.forEach(
        (group, points) -> {
          Chart.Series series =
              chart.series(
                  group.equals(STEP_KERNELS)
                      ? Message.of("series.step_kernels")
                      : Message.literal(group),
                  Kind.MEASURED,
                  Chart.Shape.POINTS);
          points.forEach(
              p ->
                  series.point(
                      p.caseIndex(), p.intensity(), p.tflopPerS(), Double.NaN, Double.NaN));
        });
    return chart;
  }

  private static void add(List<Point> points, int index, Work work, double us) {
    if (work.flops() > 0 && work.bytes() > 0 && us > 0) {
      points.add(new Point(index, (double) work.flops() / work.bytes(), work.tflopPerS(us * 1e-6)));
    }
  }

  /** The lower of both roofs, with its corner where it lies between the ends. */
  private static void roof(
      Chart chart,
      Message name,
      Kind kind,
      double gbPerS,
      double tflopPerS,
      double from,
      double to) {
    if (Double.isNaN(gbPerS) || Double.isNaN(tflopPerS)) {
      return;
    }
    Chart.Series roof = chart.series(name, kind, Chart.Shape.RULE);
    double corner = 1e3 * tflopPerS / gbPerS;
    double first = Math.min(from, corner / 2);
    double last = Math.max(to, corner * 2);
    for (double x : new double[] {first, corner, last}) {
      roof.point(x, Math.min(tflopPerS, x * gbPerS / 1e3));
    }
  }

  private static boolean assumed(DataSheet sheet, String name) {
    Figure figure = sheet.figures().get(name);
    return figure != null && figure.confidence() == Figure.Confidence.ASSUMED;
  }

  private static Table roofs(ReportedRun run, int number, Cases cases) {
    Table table =
        new Table(
                "roofs-" + ReportModel.letter(number),
                Message.of("table.roofs", "run", ReportModel.title(run, number)))
            .column("roof", Type.CODE)
            .column("kind", Type.KIND)
            .column("device_time", Type.TIME_US)
            .column("gb_per_s", Type.NUMBER)
            .column("tflop_per_s", Type.NUMBER)
            .column("remark", Type.TEXT);
    Roofs best = run.data().roofs();
    for (CaseResult c : run.data().measured(CaseResult.ROOF)) {
      table.caseRow(
          cases.of(number, c.id()),
          c.id(),
          Kind.MEASURED,
          c.deviceTimeMedianUs(),
          c.gbPerS(),
          c.tflopPerS(),
          best.isRoof(c) ? Message.of("remark.the_roof") : null);
    }
    AcrossDevices.sheet(run.data())
        .ifPresent(
            s -> {
              for (Map.Entry<String, Figure> f : s.figures().entrySet()) {
                boolean bytes = f.getKey().equals(DataSheet.MEMORY_GB_PER_S);
                if (bytes || f.getKey().endsWith("_tflops")) {
                  double value = f.getValue().value();
                  table.row(
                      s.name() + " " + f.getKey(),
                      Kind.SHEET,
                      Double.NaN,
                      bytes ? value : Double.NaN,
                      bytes ? Double.NaN : value,
                      Message.said(
                          "%s [%s]"
                              .formatted(
                                  f.getValue().source(),
                                  f.getValue().confidence().name().toLowerCase(Locale.ROOT))));
                }
              }
            });
    if (Double.isFinite(best.readGbPerS()) && Double.isFinite(best.tflopPerS())) {
      table.row(
          "ridge",
          Kind.MEASURED,
          Double.NaN,
          Double.NaN,
          Double.NaN,
          Message.of(
              "remark.ridge", "value", Units.number(1e3 * best.tflopPerS() / best.readGbPerS())));
    }
    return table;
  }
}
