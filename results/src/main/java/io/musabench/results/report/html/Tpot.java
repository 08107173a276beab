package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.JsonNode;
import io.musabench.results.report.RunReport;
import io.musabench.results.report.ServedDecode;
import io.musabench.results.report.Units;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Params;
import io.musabench.results.tpot.Prediction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What users of a service would feel. Everything in it is predicted and says so. */
final class Tpot {
  /** Operations that never take so many per cent of TPOT are drawn as one. */
  private static final double LEAST_SHARE = 3;

  private Tpot() {}

  static Section section(
      List<ReportedRun> runs, List<Answer> answers, List<Service.Refusal> refused, Cases cases) {
    Section section = new Section("tpot");
    for (Answer a : answers) {
      section.command(a.command());
      if (a.question().equals(Answer.PREDICT)) {
        section.add(tpot(a)).add(ttft(a)).add(decomposition(a));
      } else if (a.question().equals(Answer.SENSITIVITY)) {
        section.add(sensitivity(a));
      }
    }
    for (Answer a : answers) {
      section.command(a.command());
      if (a.question().equals(Answer.PREDICT)) {
        section.add(predictions(a)).add(operations(a)).add(steps(a)).add(operationsOfSteps(a));
        section.add(Lookups.table(a));
        a.notes().forEach(section::note);
      } else if (a.question().equals(Answer.SENSITIVITY)) {
        section.add(effects(a));
        a.notes().forEach(section::note);
      }
    }
    section.command(null).add(fromSteps(runs, cases));
    if (!section.isEmpty()) {
      for (Service.Refusal r : refused) {
        section.note(
            Message.of(
                "note.not_predicted", "service", r.name(), "reason", Message.said(r.reason())));
      }
    }
    return section;
  }

  private static JsonNode predicted(Answer a) {
    return a.root().path("predictions");
  }

  private static Message load(String key, Answer a) {
    JsonNode first = predicted(a).path(0);
    return Message.of(
        key,
        "service",
        a.name(),
        "input",
        first.path("input_tokens").asText(),
        "output",
        first.path("output_tokens").asText());
  }

  private static Message change(String key, Answer a) {
    String change = Units.change(Answer.number(a.root().path("change_pct")));
    return Message.of(key, "service", a.name(), "change", change);
  }

  private static Chart tpot(Answer a) {
    Chart chart =
        new Chart(a.id("tpot"), load("chart.tpot", a))
            .x("concurrency", Type.COUNT, true)
            .y("tpot", Type.TIME_US, true)
            .note(Message.of("note.interval_kernels"));
    Chart.Series line = chart.series(Message.of("series.tpot"), Kind.PREDICTED, Chart.Shape.LINE);
    for (JsonNode p : predicted(a)) {
      line.point(
          Table.NO_CASE,
          p.path("concurrency").asInt(),
          Answer.us(p.at("/tpot/value_ms")),
          Answer.us(p.at("/tpot/low_ms")),
          Answer.us(p.at("/tpot/high_ms")));
    }
    return chart;
  }

  private static Chart ttft(Answer a) {
    Chart chart =
        new Chart(a.id("ttft"), a.message("chart.ttft"))
            .x("concurrency", Type.COUNT, true)
            .y("ttft", Type.TIME_US, true)
            .note(Message.of("note.ttft"));
    Chart.Series staggered =
        chart.series(Message.of("series.staggered"), Kind.PREDICTED, Chart.Shape.LINE);
    Chart.Series burst = chart.series(Message.of("series.burst"), Kind.PREDICTED, Chart.Shape.LINE);
    for (JsonNode p : predicted(a)) {
      int concurrency = p.path("concurrency").asInt();
      staggered.point(concurrency, Answer.us(p.at("/ttft/staggered_ms")));
      burst.point(concurrency, Answer.us(p.at("/ttft/burst_ms")));
    }
    return chart;
  }

  private static Chart decomposition(Answer a) {
    JsonNode predictions = predicted(a);
    List<String> names = new ArrayList<>();
    predictions.forEach(p -> names.add(p.path("concurrency").asText()));
    Chart chart =
        new Chart(a.id("decomposition"), a.message("chart.decomposition"))
            .categories("concurrency", names)
            .y("share_of_tpot", Type.PERCENT, false)
            .note(Message.of("note.decomposition"));
    Map<String, double[]> roles = new LinkedHashMap<>();
    double[] kernels = new double[names.size()];
    double[] small = new double[names.size()];
    double[] launching = new double[names.size()];
    double[] waiting = new double[names.size()];
    for (int i = 0; i < names.size(); i++) {
      JsonNode step = predictions.get(i).path("decode_step");
      double tpot = Answer.us(predictions.get(i).at("/tpot/value_ms"));
      double all = Answer.us(step.path("ms"));
      double sum = Answer.us(step.path("kernels_ms"));
      double percent = 100 / Math.max(tpot, all);
      JsonNode terms = step.path("decomposition");
      for (JsonNode t : terms) {
        roles.computeIfAbsent(t.path("role").asText(), r -> new double[names.size()])[i] +=
            percent * Answer.number(t.path("total_us"));
      }
      // Of many predictions a file may leave the operations out.
      kernels[i] = terms.isEmpty() ? percent * sum : 0;
      launching[i] = percent * Math.max(0, all - sum);
      waiting[i] = percent * Math.max(0, tpot - all);
    }
    roles.forEach(
        (role, shares) -> {
          if (Arrays.stream(shares).max().orElse(0) < LEAST_SHARE) {
            for (int i = 0; i < shares.length; i++) {
              small[i] += shares[i];
            }
          } else {
            pile(chart, Message.literal(role), shares);
          }
        });
    if (roles.isEmpty()) {
      pile(chart, Message.of("series.kernels"), kernels);
    } else {
      pile(chart, Message.of("series.other_operations"), small);
    }
    pile(chart, Message.of("series.not_kernels"), launching);
    pile(chart, Message.of("series.other_prefills"), waiting);
    return chart;
  }

  private static void pile(Chart chart, Message name, double[] shares) {
    Chart.Series series = chart.series(name, Kind.PREDICTED, Chart.Shape.STACK);
    for (int i = 0; i < shares.length; i++) {
      series.point(i, shares[i]);
    }
  }

  private static Chart sensitivity(Answer a) {
    Set<String> roles = new LinkedHashSet<>();
    for (JsonNode load : a.root().path("batches")) {
      load.path("operations").forEach(e -> roles.add(e.path("role").asText()));
    }
    List<String> names = List.copyOf(roles);
    Chart chart =
        new Chart(a.id("sensitivity"), change("chart.sensitivity", a))
            .categories("operation", names)
            .y("tpot_change", Type.CHANGE, false)
            .note(Message.of("note.sensitivity"))
            .note(Message.of("note.interval_kernels"));
    for (JsonNode load : a.root().path("batches")) {
      String count = load.path("concurrency").asText();
      Chart.Series series =
          chart.series(
              Message.of("series.in_flight", "count", count), Kind.PREDICTED, Chart.Shape.POINTS);
      for (JsonNode e : load.path("operations")) {
        series.point(
            Table.NO_CASE,
            names.indexOf(e.path("role").asText()),
            Answer.number(e.path("tpot_delta_pct")),
            Answer.number(e.path("tpot_delta_low_pct")),
            Answer.number(e.path("tpot_delta_high_pct")));
      }
      if (load.path("host_bound").asBoolean()) {
        chart.note(Message.of("note.host_bound", "count", count));
      }
    }
    return chart;
  }

  private static Table predictions(Answer a) {
    Table table =
        new Table(a.id("predictions"), load("table.predictions", a))
            .column("kind", Type.KIND)
            .column("concurrency", Type.COUNT)
            .column("tpot", Type.TIME_US)
            .column("low_90", Type.TIME_US)
            .column("high_90", Type.TIME_US)
            .column("ttft_staggered", Type.TIME_US)
            .column("ttft_burst", Type.TIME_US)
            .interval90("ttft", Type.TIME_US)
            .column("requests_per_s", Type.NUMBER)
            .interval90("requests_per_s", Type.NUMBER)
            .column("tokens_per_s", Type.NUMBER)
            .column("prefill_share", Type.PERCENT)
            .column("bound", Type.TEXT)
            .column("known", Type.PERCENT)
            .column("remark", Type.TEXT);
    for (JsonNode p : predicted(a)) {
      table.row(
          Kind.of(p.path("provenance")),
          p.path("concurrency").asInt(),
          Answer.us(p.at("/tpot/value_ms")),
          Answer.us(p.at("/tpot/low_ms")),
          Answer.us(p.at("/tpot/high_ms")),
          Answer.us(p.at("/ttft/staggered_ms")),
          Answer.us(p.at("/ttft/burst_ms")),
          Answer.us(p.at("/ttft/low_ms")),
          Answer.us(p.at("/ttft/high_ms")),
          Answer.number(p.path("requests_per_s")),
          Answer.number(p.path("requests_per_s_low")),
          Answer.number(p.path("requests_per_s_high")),
          Answer.number(p.path("output_tokens_per_s")),
          100 * Answer.number(p.path("prefill_share")),
          Message.bound(p.path("bound")),
          known(p.path("decode_step")),
          Message.said(p.path("remark").asText()));
    }
    return table;
  }

  /** Per cent of the kernels' time that was measured, or lies between measured points. */
  private static double known(JsonNode step) {
    JsonNode shares = step.path("provenance_shares");
    return 100
        * (Answer.number(shares.path("measured")) + Answer.number(shares.path("interpolated")));
  }

  private static Table operations(Answer a) {
    Table table =
        columns(
            new Table(a.id("operations"), a.message("table.operations"))
                .column("concurrency", Type.COUNT)
                .column("step", Type.TEXT));
    for (JsonNode p : predicted(a)) {
      operations(table, p.path("decode_step"), p.path("concurrency").asInt(), "decode");
      operations(table, p.path("prefill_step"), p.path("concurrency").asInt(), "prefill");
    }
    return table;
  }

  private static Table columns(Table table) {
    return table
        .column("operation", Type.CODE)
        .column("shape", Type.CODE)
        .column("calls", Type.COUNT)
        .column("each", Type.TIME_US)
        .column("all_calls", Type.TIME_US)
        .column("share", Type.PERCENT)
        .column("bound", Type.TEXT)
        .column("provenance", Type.TEXT);
  }

  private static void operations(Table table, JsonNode step, Object... first) {
    for (JsonNode t : step.path("decomposition")) {
      List<Object> cells = new ArrayList<>(List.of(first));
      cells.add(t.path("role").asText());
      cells.add(t.path("shape").asText());
      cells.add(t.path("count").asInt());
      cells.add(Answer.number(t.path("us")));
      cells.add(Answer.number(t.path("total_us")));
      cells.add(100 * Answer.number(t.path("share")));
      cells.add(Message.bound(t.path("bound")));
      cells.add(Message.provenance(t.path("provenance")));
      table.row(cells.toArray());
    }
  }

  /** Single steps, which {@code tpot step} predicts. */
  private static Table steps(Answer a) {
    Table table =
        new Table(a.id("steps-predicted"), a.message("table.steps_predicted"))
            .column("kind", Type.KIND)
            .column("batch", Type.CODE)
            .column("latency", Type.TIME_US)
            .column("low_90", Type.TIME_US)
            .column("high_90", Type.TIME_US)
            .column("kernel_sum", Type.TIME_US)
            .column("launching", Type.TIME_US)
            .column("kernels", Type.COUNT)
            .column("bound", Type.TEXT)
            .column("known", Type.PERCENT);
    for (JsonNode step : a.root().path("steps")) {
      table.row(
          Kind.of(step.path("provenance")),
          step.path("batch").asText(),
          Answer.us(step.path("ms")),
          Answer.us(step.path("low_ms")),
          Answer.us(step.path("high_ms")),
          Answer.us(step.path("kernels_ms")),
          Answer.us(step.path("host_ms")),
          step.path("kernels").asInt(),
          Message.bound(step.path("bound")),
          known(step));
    }
    return table;
  }

  private static Table operationsOfSteps(Answer a) {
    Table table =
        columns(
            new Table(a.id("steps-operations"), a.message("table.operations"))
                .column("batch", Type.CODE));
    for (JsonNode step : a.root().path("steps")) {
      operations(table, step, step.path("batch").asText());
    }
    return table;
  }

  private static Table effects(Answer a) {
    Table table =
        new Table(a.id("effects"), change("table.effects", a))
            .column("kind", Type.KIND)
            .column("concurrency", Type.COUNT)
            .column("operation", Type.CODE)
            .column("share", Type.PERCENT)
            .interval90("share", Type.PERCENT)
            .column("tpot_change", Type.CHANGE)
            .interval90("tpot", Type.CHANGE)
            .column("throughput_change", Type.CHANGE)
            .interval90("throughput", Type.CHANGE)
            .column("tpot_change_prefill", Type.CHANGE)
            .interval90("tpot_prefill", Type.CHANGE)
            .column("throughput_change_prefill", Type.CHANGE)
            .interval90("throughput_prefill", Type.CHANGE);
    for (JsonNode load : a.root().path("batches")) {
      double tpot = Answer.number(load.path("tpot_ms"));
      for (JsonNode e : load.path("operations")) {
        table.row(
            Kind.PREDICTED,
            load.path("concurrency").asInt(),
            e.path("role").asText(),
            100 * Answer.number(e.path("share")),
            100 * Answer.number(e.path("share_low")),
            100 * Answer.number(e.path("share_high")),
            Answer.number(e.path("tpot_delta_pct")),
            Answer.number(e.path("tpot_delta_low_pct")),
            Answer.number(e.path("tpot_delta_high_pct")),
            Answer.number(e.path("throughput_delta_pct")),
            Answer.number(e.path("throughput_delta_low_pct")),
            Answer.number(e.path("throughput_delta_high_pct")),
            100 * Answer.number(e.path("tpot_delta_ms_with_prefill")) / tpot,
            Answer.number(e.path("tpot_delta_low_pct_with_prefill")),
            Answer.number(e.path("tpot_delta_high_pct_with_prefill")),
            Answer.number(e.path("throughput_delta_pct_with_prefill")),
            Answer.number(e.path("throughput_delta_low_pct_with_prefill")),
            Answer.number(e.path("throughput_delta_high_pct_with_prefill")));
      }
    }
    return table;
  }

  /** From the measured steps themselves, as the run's own closing table. */
  private static Table fromSteps(List<ReportedRun> runs, Cases cases) {
    Table table =
        new Table(
                "tpot-from-steps",
                Message.of(
                    "table.from_steps", "output", Integer.toString(ServedDecode.OUTPUT_TOKENS)))
            .column("kind", Type.KIND)
            .column("run", Type.TEXT)
            .column("model", Type.TEXT)
            .column("mode", Type.TEXT)
            .column("concurrency", Type.COUNT)
            .column("context", Type.COUNT)
            .column("input", Type.COUNT)
            .column("tpot", Type.TIME_US)
            .column("ttft_staggered", Type.TIME_US)
            .column("ttft_burst", Type.TIME_US)
            .column("tokens_per_s", Type.NUMBER)
            .column("prefill_share", Type.PERCENT)
            .column("remark", Type.TEXT);
    for (int i = 0; i < runs.size(); i++) {
      for (ServedDecode served : ServedDecode.of(runs.get(i).data().measured(CaseResult.STEP))) {
        Prediction p = served.prediction();
        table.caseRow(
            cases.of(i, served.decode().id()),
            Kind.PREDICTED,
            ReportModel.letter(i),
            RunReport.model(served.decode()),
            served.decode().param(Params.MODE),
            served.batch().size(),
            served.batch().maxKv(),
            served.input(),
            served.saturated() ? Double.NaN : 1e6 * p.tpot().value(),
            1e6 * p.ttftStaggered().value(),
            1e6 * p.ttftBurst().value(),
            served.saturated() ? Double.NaN : p.outputTokensPerSecond(),
            100 * p.prefillShare().value(),
            Message.said(p.remark()));
      }
    }
    return table;
  }
}
