package io.musabench.results.report.html;

import io.musabench.results.report.RunReport;
import io.musabench.results.report.ServedDecode;
import io.musabench.results.report.Units;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Params;
import io.musabench.results.tpot.Prediction;
import io.musabench.results.tpot.StepTime;
import io.musabench.results.tpot.Term;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.answers.Sensitivity;
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
      List<ReportedRun> runs, List<Service> services, List<Service.Refusal> refused, Cases cases) {
    Section section = new Section("tpot");
    for (Service s : services) {
      section.command(s.command()).add(tpot(s)).add(ttft(s)).add(decomposition(s));
      section.command(s.sensitivityCommand()).add(sensitivity(s));
    }
    for (Service s : services) {
      section
          .command(s.command())
          .add(predictions(s))
          .add(operations(s))
          .command(s.sensitivityCommand())
          .add(effects(s));
    }
    section.command(null).add(fromSteps(runs, cases));
    for (Service s : services) {
      for (String assumption : s.setup().assumptionsAfter()) {
        section.note(Message.of("note.assumed", "service", s.name(), "what", assumption));
      }
    }
    if (!section.isEmpty()) {
      for (Service.Refusal r : refused) {
        section.note(Message.of("note.not_predicted", "service", r.name(), "reason", r.reason()));
      }
    }
    return section;
  }

  private static String id(String what, Service s) {
    return what + "-" + ReportModel.slug(s.name());
  }

  private static Message load(String key, Service s) {
    Workload w = s.predictions().get(0).workload();
    return Message.of(
        key,
        "service",
        s.name(),
        "input",
        Integer.toString(w.inputTokens()),
        "output",
        Integer.toString(w.outputTokens()),
        "change",
        Units.percent(100 * Service.CHANGE));
  }

  private static Chart tpot(Service s) {
    Chart chart =
        new Chart(id("tpot", s), load("chart.tpot", s))
            .x("concurrency", Type.COUNT, true)
            .y("tpot", Type.TIME_US, true)
            .note(Message.of("note.interval_kernels"));
    Chart.Series line = chart.series(Message.of("series.tpot"), Kind.PREDICTED, Chart.Shape.LINE);
    for (Prediction p : s.predictions()) {
      line.point(
          Table.NO_CASE,
          p.workload().concurrency(),
          1e6 * p.tpot().value(),
          1e6 * p.tpot().low(),
          1e6 * p.tpot().high());
    }
    return chart;
  }

  private static Chart ttft(Service s) {
    Chart chart =
        new Chart(id("ttft", s), load("chart.ttft", s))
            .x("concurrency", Type.COUNT, true)
            .y("ttft", Type.TIME_US, true)
            .note(Message.of("note.ttft"));
    Chart.Series staggered =
        chart.series(Message.of("series.staggered"), Kind.PREDICTED, Chart.Shape.LINE);
    Chart.Series burst = chart.series(Message.of("series.burst"), Kind.PREDICTED, Chart.Shape.LINE);
    for (Prediction p : s.predictions()) {
      staggered.point(p.workload().concurrency(), 1e6 * p.ttftStaggered().value());
      burst.point(p.workload().concurrency(), 1e6 * p.ttftBurst().value());
    }
    return chart;
  }

  private static Chart decomposition(Service s) {
    List<String> names = new ArrayList<>();
    s.predictions().forEach(p -> names.add(Integer.toString(p.workload().concurrency())));
    Chart chart =
        new Chart(id("decomposition", s), load("chart.decomposition", s))
            .categories("concurrency", names)
            .y("share_of_tpot", Type.PERCENT, false)
            .note(Message.of("note.decomposition"));
    Map<String, double[]> roles = new LinkedHashMap<>();
    double[] small = new double[names.size()];
    double[] launching = new double[names.size()];
    double[] waiting = new double[names.size()];
    for (int i = 0; i < names.size(); i++) {
      Prediction p = s.predictions().get(i);
      StepTime step = p.decodeStep();
      double percent = 100 / Math.max(p.tpot().value(), step.seconds());
      for (Term t : step.terms()) {
        roles.computeIfAbsent(t.role(), r -> new double[names.size()])[i] += percent * t.seconds();
      }
      launching[i] = percent * Math.max(0, step.seconds() - step.kernelSeconds());
      waiting[i] = percent * Math.max(0, p.tpot().value() - step.seconds());
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
    pile(chart, Message.of("series.other_operations"), small);
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

  private static Chart sensitivity(Service s) {
    Set<String> roles = new LinkedHashSet<>();
    for (Sensitivity.Load load : s.sensitivity().loads()) {
      load.effects().forEach(e -> roles.add(e.role()));
    }
    List<String> names = List.copyOf(roles);
    Chart chart =
        new Chart(id("sensitivity", s), load("chart.sensitivity", s))
            .categories("operation", names)
            .y("tpot_change", Type.CHANGE, false)
            .note(Message.of("note.sensitivity"));
    for (Sensitivity.Load load : s.sensitivity().loads()) {
      Chart.Series series =
          chart.series(
              Message.of(
                  "series.in_flight",
                  "count",
                  Integer.toString(load.base().workload().concurrency())),
              Kind.PREDICTED,
              Chart.Shape.POINTS);
      for (Sensitivity.Effect e : load.effects()) {
        series.point(names.indexOf(e.role()), 100 * e.tpotS() / load.base().tpot().value());
      }
      if (load.hostBound()) {
        chart.note(
            Message.of(
                "note.host_bound",
                "count",
                Integer.toString(load.base().workload().concurrency())));
      }
    }
    return chart;
  }

  private static Table predictions(Service s) {
    Table table =
        new Table(id("predictions", s), load("table.predictions", s))
            .column("kind", Type.KIND)
            .column("concurrency", Type.COUNT)
            .column("tpot", Type.TIME_US)
            .column("low_90", Type.TIME_US)
            .column("high_90", Type.TIME_US)
            .column("ttft_staggered", Type.TIME_US)
            .column("ttft_burst", Type.TIME_US)
            .column("requests_per_s", Type.NUMBER)
            .column("tokens_per_s", Type.NUMBER)
            .column("prefill_share", Type.PERCENT)
            .column("bound", Type.TEXT)
            .column("known", Type.PERCENT)
            .column("remark", Type.TEXT);
    for (Prediction p : s.predictions()) {
      table.row(
          Kind.of(p.provenance()),
          p.workload().concurrency(),
          1e6 * p.tpot().value(),
          1e6 * p.tpot().low(),
          1e6 * p.tpot().high(),
          1e6 * p.ttftStaggered().value(),
          1e6 * p.ttftBurst().value(),
          p.requestsPerSecond(),
          p.outputTokensPerSecond(),
          100 * p.prefillShare(),
          Message.of(p.bound()),
          100 * p.decodeStep().known(),
          p.remark());
    }
    return table;
  }

  private static Table operations(Service s) {
    Table table =
        new Table(id("operations", s), load("table.operations", s))
            .column("concurrency", Type.COUNT)
            .column("step", Type.TEXT)
            .column("operation", Type.CODE)
            .column("shape", Type.CODE)
            .column("calls", Type.COUNT)
            .column("each", Type.TIME_US)
            .column("all_calls", Type.TIME_US)
            .column("share", Type.PERCENT)
            .column("bound", Type.TEXT)
            .column("provenance", Type.TEXT);
    for (Prediction p : s.predictions()) {
      operations(table, p, "decode", p.decodeStep());
      operations(table, p, "prefill", p.prefillStep());
    }
    return table;
  }

  private static void operations(Table table, Prediction p, String phase, StepTime step) {
    for (Term t : step.terms()) {
      table.row(
          p.workload().concurrency(),
          phase,
          t.role(),
          t.call().shape(),
          t.count(),
          1e6 * t.time().seconds(),
          1e6 * t.seconds(),
          100 * step.share(t),
          Message.of(t.bound()),
          Message.of(t.time().provenance()));
    }
  }

  private static Table effects(Service s) {
    Table table =
        new Table(id("effects", s), load("table.effects", s))
            .column("kind", Type.KIND)
            .column("concurrency", Type.COUNT)
            .column("operation", Type.CODE)
            .column("share", Type.PERCENT)
            .column("tpot_change", Type.CHANGE)
            .column("throughput_change", Type.CHANGE)
            .column("tpot_change_prefill", Type.CHANGE)
            .column("throughput_change_prefill", Type.CHANGE);
    for (Sensitivity.Load load : s.sensitivity().loads()) {
      double tpot = load.base().tpot().value();
      for (Sensitivity.Effect e : load.effects()) {
        table.row(
            Kind.PREDICTED,
            load.base().workload().concurrency(),
            e.role(),
            100 * e.share(),
            100 * e.tpotS() / tpot,
            100 * e.throughput(),
            100 * e.tpotWithPrefillS() / tpot,
            100 * e.throughputWithPrefill());
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
            100 * p.prefillShare(),
            p.remark());
      }
    }
    return table;
  }
}
