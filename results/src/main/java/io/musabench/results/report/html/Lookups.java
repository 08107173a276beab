package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.JsonNode;

/** How far off look-ups in the tables of kernel times are that an answer rests on. */
final class Lookups {
  private Lookups() {}

  /** Empty where the answer looked up nothing, or is of a version that does not say. */
  static Table table(Answer a) {
    Table table =
        new Table(a.id("lookup-errors"), a.message("table.lookup_errors"))
            .column("look_up", Type.CODE)
            .column("left_out", Type.COUNT)
            .column("error_median", Type.PERCENT)
            .column("error_p90", Type.PERCENT)
            .column("sigma", Type.PERCENT)
            .column("assumed_because", Type.TEXT);
    for (JsonNode e : a.root().path("lookup_errors")) {
      table.row(
          e.path("operation").asText(),
          e.path("points").asInt(),
          Answer.number(e.path("median_pct")),
          Answer.number(e.path("p90_pct")),
          Answer.number(e.path("sigma_pct")),
          Message.said(e.path("assumed_because").asText()));
    }
    return table;
  }
}
