package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.JsonNode;
import io.musabench.results.report.Units;
import java.util.List;

/** Predictions beside what was measured: of services, and of single steps. */
final class Validations {
  private Validations() {}

  static Section section(List<Answer> answers) {
    Section section = new Section("validation");
    for (Answer a : answers) {
      if (a.question().equals(Answer.VALIDATE)) {
        section.add(services(a)).add(errors(a)).add(rows(a)).add(Lookups.table(a));
        a.notes().forEach(section::note);
        section.note(covered(a));
      } else if (a.question().equals(Answer.CHECK)) {
        section.add(steps(a)).add(checked(a));
        a.notes().forEach(section::note);
      }
    }
    return section;
  }

  private static Message covered(Answer a) {
    double share = Answer.number(a.root().at("/tpot/interval_coverage"));
    return Message.of("note.covered", "service", a.name(), "share", Units.percent(100 * share));
  }

  private static Chart services(Answer a) {
    Scatter scatter = new Scatter(a, "validation", "tpot_measured", "tpot_predicted");
    Chart.Series compared = scatter.series("series.tpot");
    Chart.Series aside = scatter.series("series.set_aside");
    for (JsonNode row : a.root().path("rows")) {
      scatter.point(
          row.path("set_aside").asText().isEmpty() ? compared : aside,
          Answer.us(row.path("measured_tpot_ms")),
          Answer.us(row.path("predicted_tpot_ms")),
          Answer.us(row.path("predicted_tpot_low_ms")),
          Answer.us(row.path("predicted_tpot_high_ms")));
    }
    return scatter.withEqual();
  }

  private static Chart steps(Answer a) {
    Scatter scatter = new Scatter(a, "check", "step_measured", "step_predicted");
    Chart.Series steps = scatter.series("series.steps");
    for (JsonNode row : a.root().path("steps")) {
      scatter.point(
          steps,
          Answer.us(row.path("measured_ms")),
          Answer.us(row.path("predicted_ms")),
          Answer.us(row.path("predicted_low_ms")),
          Answer.us(row.path("predicted_high_ms")));
    }
    return scatter.withEqual();
  }

  /** Predictions over measurements, and the line on which they are equal. */
  private static final class Scatter {
    private final Chart chart;
    private double least = Double.POSITIVE_INFINITY;
    private double most = 0;

    Scatter(Answer a, String what, String x, String y) {
      chart =
          new Chart(a.id(what), a.message("chart." + what))
              .x(x, Type.TIME_US, true)
              .y(y, Type.TIME_US, true);
    }

    Chart.Series series(String name) {
      return chart.series(Message.of(name), Kind.PREDICTED, Chart.Shape.POINTS);
    }

    void point(Chart.Series series, double measured, double predicted, double low, double high) {
      series.point(Table.NO_CASE, measured, predicted, low, high);
      if (measured > 0 && predicted > 0) {
        least = Math.min(least, Math.min(measured, predicted));
        most = Math.max(most, Math.max(measured, predicted));
      }
    }

    Chart withEqual() {
      if (most > 0) {
        chart
            .series(Message.of("series.as_measured"), Kind.LIMIT, Chart.Shape.RULE)
            .point(least, least)
            .point(most, most);
      }
      return chart;
    }
  }

  /** The whole table's errors, beside those of simpler predictions. */
  private static Table errors(Answer a) {
    Table table =
        new Table(a.id("validation-errors"), a.message("table.validation_errors"))
            .column("kind", Type.KIND)
            .column("what", Type.TEXT)
            .column("rows", Type.COUNT)
            .column("mape", Type.PERCENT)
            .column("bias", Type.CHANGE)
            .column("error_p90", Type.PERCENT);
    errors(table, "errors.tpot", a.root().path("tpot"));
    errors(table, "errors.kernel_sum", a.root().at("/baselines/kernel_sum"));
    errors(table, "errors.roofline", a.root().at("/baselines/roofline"));
    errors(table, "errors.tpot_all", a.root().path("tpot_all_rows"));
    errors(table, "errors.ttft", a.root().path("ttft"));
    return table;
  }

  private static void errors(Table table, String what, JsonNode e) {
    table.row(
        Kind.PREDICTED,
        Message.of(what),
        e.path("rows").asInt(),
        Answer.number(e.path("mape_pct")),
        Answer.number(e.path("bias_pct")),
        Answer.number(e.path("p90_pct")));
  }

  private static Table rows(Answer a) {
    Table table =
        new Table(a.id("validation-rows"), a.message("table.validation_rows"))
            .column("line", Type.COUNT)
            .column("model", Type.TEXT)
            .column("tp", Type.COUNT)
            .column("input", Type.COUNT)
            .column("output", Type.COUNT)
            .column("concurrency", Type.COUNT)
            .column("tpot_measured", Type.TIME_US)
            .column("tpot_predicted", Type.TIME_US)
            .column("low_90", Type.TIME_US)
            .column("high_90", Type.TIME_US)
            .column("error", Type.CHANGE)
            .column("ttft_measured", Type.TIME_US)
            .column("ttft_predicted_staggered", Type.TIME_US)
            .column("ttft_predicted_burst", Type.TIME_US)
            .column("bound", Type.TEXT)
            .column("provenance", Type.TEXT)
            .column("remark", Type.TEXT);
    for (JsonNode row : a.root().path("rows")) {
      String aside = row.path("set_aside").asText();
      table.row(
          row.path("line").asInt(),
          row.path("model").asText(),
          row.path("tp").asInt(),
          row.path("isl").asInt(),
          row.path("osl").asInt(),
          row.path("concurrency").asInt(),
          Answer.us(row.path("measured_tpot_ms")),
          Answer.us(row.path("predicted_tpot_ms")),
          Answer.us(row.path("predicted_tpot_low_ms")),
          Answer.us(row.path("predicted_tpot_high_ms")),
          Answer.number(row.path("error_pct")),
          Answer.us(row.path("measured_ttft_ms")),
          Answer.us(row.path("predicted_ttft_staggered_ms")),
          Answer.us(row.path("predicted_ttft_burst_ms")),
          Message.bound(row.path("bound")),
          Message.provenance(row.path("provenance")),
          Message.said(aside.isEmpty() ? row.path("precision_assumed").asText() : aside));
    }
    return table;
  }

  private static Table checked(Answer a) {
    Table table =
        new Table(a.id("check"), a.message("table.check"))
            .column("case", Type.CODE)
            .column("step_measured", Type.TIME_US)
            .column("step_measured_low_95", Message.of("column.low_95"), Type.TIME_US)
            .column("step_measured_high_95", Message.of("column.high_95"), Type.TIME_US)
            .column("step_predicted", Type.TIME_US)
            .interval90("step_predicted", Type.TIME_US)
            .column("error", Type.CHANGE)
            .column("error_limit", Type.PERCENT)
            .column("within", Type.TEXT)
            .column("assumed_share", Type.PERCENT);
    for (JsonNode row : a.root().path("steps")) {
      table.row(
          row.path("case").asText(),
          Answer.us(row.path("measured_ms")),
          Answer.us(row.path("measured_low_ms")),
          Answer.us(row.path("measured_high_ms")),
          Answer.us(row.path("predicted_ms")),
          Answer.us(row.path("predicted_low_ms")),
          Answer.us(row.path("predicted_high_ms")),
          Answer.number(row.path("error_pct")),
          Answer.number(row.path("limit_pct")),
          Message.of(row.path("within").asBoolean() ? "word.yes" : "word.no"),
          100 * Answer.number(row.path("assumed_share")));
    }
    return table;
  }
}
