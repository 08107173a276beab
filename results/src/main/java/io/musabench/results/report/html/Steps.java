package io.musabench.results.report.html;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.report.RunReport;
import io.musabench.results.run.CasePart;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.OverKernels;
import io.musabench.results.run.Params;
import io.musabench.results.run.Roofs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Whole steps by batch and context, and each as a pile of its kernels. */
final class Steps {
  /** More piles than this in one chart cannot be told apart; the table has them all. */
  private static final int MOST_PILES = 16;

  private Steps() {}

  /** A measured step of a run. */
  private record Step(int run, CaseResult result, BatchSpec batch) {
    String title() {
      return RunReport.phase(result) + " " + RunReport.model(result);
    }
  }

  private static List<Step> all(List<ReportedRun> runs) {
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < runs.size(); i++) {
      for (CaseResult c : runs.get(i).data().measured(CaseResult.STEP)) {
        // A batch that this version cannot read has no place on an axis; it is in the table.
        steps.add(new Step(i, c, c.batch().orElse(null)));
      }
    }
    return steps;
  }

  static Section latency(List<ReportedRun> runs, Cases cases) {
    Section section = new Section("steps");
    List<Step> steps = all(runs);
    Map<String, List<Step>> byTitle = new LinkedHashMap<>();
    for (Step s : steps) {
      if (s.batch() != null) {
        byTitle.computeIfAbsent(s.title(), t -> new ArrayList<>()).add(s);
      }
    }
    byTitle.forEach((title, of) -> section.add(latency(title, of, runs.size() > 1, cases)));
    return section.add(table(steps, cases));
  }

  private static Chart latency(String title, List<Step> steps, boolean named, Cases cases) {
    boolean decode = steps.stream().allMatch(s -> s.batch().isDecode());
    Chart chart =
        new Chart("steps-" + ReportModel.slug(title), Message.of("chart.steps", "step", title))
            .x(decode ? "requests" : "tokens", Type.COUNT, true)
            .y("latency", Type.TIME_US, true)
            .note(Message.of("note.p10_p90"));
    Map<List<Object>, Chart.Series> lines = new TreeMap<>(Steps::compare);
    List<Step> ordered = new ArrayList<>(steps);
    ordered.sort((a, b) -> Double.compare(x(a, decode), x(b, decode)));
    for (Step s : ordered) {
      // A prefill's context is its own length unless a part of it is in the cache.
      int context = s.batch().isPrefill() ? 0 : s.batch().maxKv();
      lines.put(List.of(context, s.result().param(Params.MODE), s.run(), other(s)), null);
    }
    for (List<Object> key : List.copyOf(lines.keySet())) {
      lines.put(key, chart.series(name(key, named), Kind.MEASURED, Chart.Shape.LINE));
    }
    for (Step s : ordered) {
      int context = s.batch().isPrefill() ? 0 : s.batch().maxKv();
      lines
          .get(List.of(context, s.result().param(Params.MODE), s.run(), other(s)))
          .point(
              cases.of(s.run(), s.result().id()),
              x(s, decode),
              s.result().deviceTimeMedianUs(),
              s.result().deviceTimeP10Us(),
              s.result().deviceTimeP90Us());
    }
    return chart;
  }

  private static int compare(List<Object> a, List<Object> b) {
    for (int i = 0; i < a.size(); i++) {
      @SuppressWarnings("unchecked")
      Comparable<Object> left = (Comparable<Object>) a.get(i);
      int order = left.compareTo(b.get(i));
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  private static double x(Step s, boolean decode) {
    return decode ? s.batch().size() : s.batch().totalQ();
  }

  /** Parameters that neither the chart's title nor its axis nor the rest of the name says. */
  private static String other(Step s) {
    Map<String, String> rest = new TreeMap<>(s.result().params());
    List.of(Params.MODEL, Params.TP, Params.BATCH, Params.MODE).forEach(rest::remove);
    rest.values().removeIf(v -> v.length() > 24);
    return String.join(" ", rest.entrySet().stream().map(Object::toString).toList());
  }

  private static Message name(List<Object> key, boolean named) {
    int context = (Integer) key.get(0);
    String run = named ? ReportModel.letter((Integer) key.get(2)) + " " : "";
    String mode = run + key.get(1);
    return context == 0
        ? Message.of("series.mode", "mode", mode)
        : Message.of("series.context", "mode", mode, "context", Integer.toString(context));
  }

  private static Table table(List<Step> steps, Cases cases) {
    Table table =
        new Table("steps", Message.of("table.steps"))
            .column("run", Type.TEXT)
            .column("step", Type.TEXT)
            .column("model", Type.TEXT)
            .column("batch", Type.CODE)
            .column("mode", Type.TEXT)
            .column("latency", Type.TIME_US)
            .column("p10", Type.TIME_US)
            .column("p90", Type.TIME_US)
            .column("kernels", Type.COUNT)
            .column("kernel_sum", Type.TIME_US)
            .column("over_kernels", Type.TIME_US)
            .column("over_low", Type.TIME_US)
            .column("over_high", Type.TIME_US)
            .column("submit", Type.TIME_US);
    for (Step s : steps) {
      CaseResult c = s.result();
      OverKernels over = c.overKernels();
      table.caseRow(
          cases.of(s.run(), c.id()),
          ReportModel.letter(s.run()),
          RunReport.phase(c),
          RunReport.model(c),
          c.param(Params.BATCH),
          c.param(Params.MODE),
          c.deviceTimeMedianUs(),
          c.deviceTimeP10Us(),
          c.deviceTimeP90Us(),
          c.kernels(),
          c.sumOfPartsUs(),
          over.medianUs(),
          over.lowUs(),
          over.highUs(),
          c.submitTimeMedianUs());
    }
    return table;
  }

  static Section kernels(List<ReportedRun> runs, Cases cases) {
    Section section = new Section("kernels");
    List<Step> steps = all(runs).stream().filter(s -> !s.result().parts().isEmpty()).toList();
    if (steps.isEmpty()) {
      return section;
    }
    Map<String, List<Step>> byPhase = new LinkedHashMap<>();
    for (Step s : steps) {
      byPhase.computeIfAbsent(RunReport.phase(s.result()), p -> new ArrayList<>()).add(s);
    }
    byPhase.forEach(
        (phase, of) -> {
          // Prefill is a hundred times decode: in one chart the smaller would vanish.
          section.add(
              piles("kernels-" + ReportModel.slug(phase), phase, of, runs.size() > 1, cases));
        });
    return section.add(parts(steps, runs, cases));
  }

  private static Chart piles(String id, String phase, List<Step> all, boolean named, Cases cases) {
    List<Step> steps = all.subList(0, Math.min(MOST_PILES, all.size()));
    List<String> names = new ArrayList<>();
    Set<String> roles = new LinkedHashSet<>();
    boolean oneModel = steps.stream().map(s -> RunReport.model(s.result())).distinct().count() == 1;
    for (Step s : steps) {
      names.add(
          (named ? ReportModel.letter(s.run()) + " " : "")
              + (oneModel ? "" : RunReport.model(s.result()) + " ")
              + s.result().param(Params.BATCH)
              + " "
              + s.result().param(Params.MODE));
      s.result().parts().forEach(p -> roles.add(p.role()));
    }
    Chart chart =
        new Chart(id, Message.of("chart.kernels", "step", phase))
            .categories("step", names)
            .y("kernel_time", Type.TIME_US, false)
            .note(Message.of("note.kernels"));
    if (steps.size() < all.size()) {
      chart.note(
          Message.of(
              "note.first_of",
              "shown",
              Integer.toString(steps.size()),
              "all",
              Integer.toString(all.size())));
    }
    for (String role : roles) {
      Chart.Series series = chart.series(Message.literal(role), Kind.MEASURED, Chart.Shape.STACK);
      for (int i = 0; i < steps.size(); i++) {
        double us =
            steps.get(i).result().parts().stream()
                .filter(p -> p.role().equals(role))
                .mapToDouble(CasePart::totalUs)
                .sum();
        series.point(
            cases.of(steps.get(i).run(), steps.get(i).result().id()),
            i,
            us,
            Double.NaN,
            Double.NaN);
      }
    }
    return chart;
  }

  private static Table parts(List<Step> steps, List<ReportedRun> runs, Cases cases) {
    Table table =
        new Table("step-kernels", Message.of("table.step_kernels"))
            .column("run", Type.TEXT)
            .column("step", Type.TEXT)
            .column("model", Type.TEXT)
            .column("batch", Type.CODE)
            .column("mode", Type.TEXT)
            .column("operation", Type.CODE)
            .column("kernel", Type.CODE)
            .column("shape", Type.CODE)
            .column("calls", Type.COUNT)
            .column("device_time", Type.TIME_US)
            .column("all_calls", Type.TIME_US)
            .column("share", Type.PERCENT)
            .column("gb_per_s", Type.NUMBER)
            .column("tflop_per_s", Type.NUMBER)
            .column("of_roof", Type.PERCENT)
            .column("bound", Type.TEXT);
    List<Roofs> ofRuns = runs.stream().map(r -> r.data().roofs()).toList();
    for (Step s : steps) {
      CaseResult c = s.result();
      Roofs roofs = ofRuns.get(s.run());
      double sum = c.sumOfPartsUs();
      for (CasePart p : c.parts()) {
        double seconds = p.deviceTimeMedianUs() * 1e-6;
        Roofs.Share share = roofs.share(p.work(), seconds);
        table.caseRow(
            cases.of(s.run(), c.id()),
            ReportModel.letter(s.run()),
            RunReport.phase(c),
            RunReport.model(c),
            c.param(Params.BATCH),
            c.param(Params.MODE),
            p.role(),
            p.kernel(),
            p.shape(),
            p.count(),
            p.deviceTimeMedianUs(),
            p.totalUs(),
            100 * p.totalUs() / sum,
            p.work().bytes() == 0 ? Double.NaN : p.work().gbPerS(seconds),
            p.work().flops() == 0 ? Double.NaN : p.work().tflopPerS(seconds),
            share == null ? Double.NaN : share.percent(),
            Roofline.bound(share));
      }
    }
    return table;
  }
}
