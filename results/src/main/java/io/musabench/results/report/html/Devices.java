package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.musabench.results.report.AcrossDevices;
import java.util.List;

/** Two devices beside each other: both measured, or one predicted from the data sheets. */
final class Devices {
  private static final String FROM = "from";

  /** Both devices of an answer, as its document names them. */
  private static final List<String> SIDES = List.of(FROM, "to");

  private Devices() {}

  static Section section(List<ReportedRun> runs, List<Answer> predicted, Cases cases) {
    Section section = new Section("devices");
    for (int i = 1; i < runs.size(); i++) {
      if (!runs.get(i).device().equals(runs.get(0).device())) {
        measured(section, runs, i, cases);
      }
    }
    for (Answer a : predicted) {
      section.command(a.command()).add(tpot(a)).add(table(a)).add(operations(a));
      a.notes().forEach(section::note);
      section.note(
          Message.of(
              "note.interval",
              "service",
              a.name(),
              "what",
              Message.said(a.root().path("interval").asText())));
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

  private static Chart tpot(Answer a) {
    Chart chart =
        new Chart(a.id("what-if"), Message.of("chart.what_if", "name", a.name()))
            .x("concurrency", Type.COUNT, true)
            .y("tpot", Type.TIME_US, true)
            .note(Message.of("note.what_if"));
    for (String side : SIDES) {
      Message name = Message.literal(a.root().at("/" + side + "/name").asText());
      Chart.Series line = chart.series(name, kind(a, side), Chart.Shape.LINE);
      for (JsonNode row : a.root().path("rows")) {
        JsonNode p = row.path(side);
        line.point(
            Table.NO_CASE,
            row.path("concurrency").asInt(),
            Answer.us(p.path("tpot_ms")),
            Answer.us(p.path("tpot_low_ms")),
            Answer.us(p.path("tpot_high_ms")));
      }
    }
    return chart;
  }

  /** Predicted from the device's own kernels only where those were given. */
  private static Kind kind(Answer a, String side) {
    boolean own = side.equals(FROM) && a.root().path("from_own_kernels").asBoolean();
    return own ? Kind.PREDICTED : Kind.SHEET;
  }

  private static Table table(Answer a) {
    Table table =
        new Table(a.id("what-if"), Message.of("table.what_if", "name", a.name()))
            .column("kind", Type.KIND)
            .column("device", Type.TEXT)
            .column("concurrency", Type.COUNT)
            .column("tpot", Type.TIME_US)
            .column("low_90", Type.TIME_US)
            .column("high_90", Type.TIME_US)
            .column("ttft_staggered", Type.TIME_US)
            .column("ttft_burst", Type.TIME_US)
            .column("requests_per_s", Type.NUMBER)
            .interval90("requests_per_s", Type.NUMBER)
            .column("tpot_ratio", Type.RATIO)
            .interval90("tpot_ratio", Type.RATIO)
            .column("provenance", Type.TEXT)
            .column("bound", Type.TEXT)
            .column("remark", Type.TEXT);
    for (JsonNode row : a.root().path("rows")) {
      for (String side : SIDES) {
        JsonNode p = row.path(side);
        JsonNode ratios = side.equals(FROM) ? MissingNode.getInstance() : row;
        table.row(
            kind(a, side),
            a.root().at("/" + side + "/name").asText(),
            row.path("concurrency").asInt(),
            Answer.us(p.path("tpot_ms")),
            Answer.us(p.path("tpot_low_ms")),
            Answer.us(p.path("tpot_high_ms")),
            Answer.us(p.path("ttft_staggered_ms")),
            Answer.us(p.path("ttft_burst_ms")),
            Answer.number(p.path("requests_per_s")),
            Answer.number(p.path("requests_per_s_low")),
            Answer.number(p.path("requests_per_s_high")),
            Answer.number(ratios.path("tpot_ratio")),
            Answer.number(ratios.path("tpot_ratio_low")),
            Answer.number(ratios.path("tpot_ratio_high")),
            Message.provenance(p.path("provenance")),
            Message.bound(p.path("bound")),
            Message.said(p.path("remark").asText()));
      }
    }
    return table;
  }

  private static Table operations(Answer a) {
    Table table =
        new Table(
                a.id("what-if-operations"),
                Message.of("table.what_if_operations", "name", a.name()))
            .column("kind", Type.KIND)
            .column("concurrency", Type.COUNT)
            .column("step", Type.TEXT)
            .column("operation", Type.CODE)
            .column("of_roof", Type.PERCENT)
            .interval90("of_roof", Type.PERCENT)
            .column("from", Type.TIME_US)
            .interval90("from", Type.TIME_US)
            .column("to", Type.TIME_US)
            .interval90("to", Type.TIME_US)
            .column("provenance", Type.TEXT)
            .column("bound_from", Type.TEXT)
            .column("bound_to", Type.TEXT);
    for (JsonNode row : a.root().path("rows")) {
      for (JsonNode c : row.path("operations")) {
        table.row(
            Kind.SHEET,
            row.path("concurrency").asInt(),
            c.path("phase").asText(),
            c.path("role").asText(),
            100 * Answer.number(c.path("utilisation")),
            100 * Answer.number(c.path("utilisation_low")),
            100 * Answer.number(c.path("utilisation_high")),
            Answer.number(c.path("from_us")),
            Answer.number(c.path("from_low_us")),
            Answer.number(c.path("from_high_us")),
            Answer.number(c.path("to_us")),
            Answer.number(c.path("to_low_us")),
            Answer.number(c.path("to_high_us")),
            Message.provenance(c.path("to_provenance")),
            Message.bound(c.path("from_bound")),
            Message.bound(c.path("to_bound")));
      }
    }
    return table;
  }
}
