package io.musabench.results.serving;

import io.musabench.results.Printable;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/** The report of one run for a terminal. */
final class TextReport {
  private static final String ROW = "  %-7s %10s %10s %10s %10s %10s %10s %10s  %s%n";

  private TextReport() {}

  static void print(Summary s, PrintWriter out) {
    Run run = s.run;
    String version = run.toolVersion == null ? "" : " " + run.toolVersion;
    String what = run.hasRequests() ? "every request" : "the tool's own statistics";
    out.printf("%s%n", Printable.line(run.source));
    out.printf("  %s, %s%n", Printable.line(run.tool + version), what);
    s.notes.forEach(note -> out.println("  note: " + Printable.line(note)));
    out.printf(
        "  requests    %s total, %s ok, %s error, %s cancelled%s%n",
        Text.count(s.total),
        Text.count(s.ok),
        Text.count(s.errors),
        Text.count(s.cancelled),
        s.cut > 0 ? ", " + s.cut + " cut off by the end of the run" : "");
    out.printf("  duration    %s s (%s)%n", Text.number(s.durationS), s.durationHow);
    out.printf(
        "  throughput  %s req/s, %s output tokens/s%s%n",
        Text.number(s.requestsPerS),
        Text.number(s.outputTokensPerS),
        s.allOutputTokensPerS > s.outputTokensPerS * 1.0001
            ? " (" + Text.number(s.allOutputTokensPerS) + " with unfinished ones)"
            : "");
    out.printf(
        "  tokens      %s in, %s out on average%s%n",
        Text.number(s.meanInput),
        Text.number(s.meanOutput),
        s.tokenSources.isEmpty()
            ? ""
            : " (output counted by: "
                + Printable.line(String.join(", ", s.tokenSources.keySet()))
                + ")");
    metrics(s, out);
    goodput(s, out);
    lengths(s, out);
    out.println("  checklist");
    for (Check c : s.checklist) {
      String verdict = c.verdict().name().toLowerCase(Locale.ROOT);
      out.printf("    %-8s %-26s %s%n", verdict, c.id(), Printable.line(c.reason()));
    }
    out.println("  audit");
    for (Finding f : s.audit) {
      String level = f.level().name().toLowerCase(Locale.ROOT);
      String said = Printable.line(f.what() + "; " + f.effect());
      out.printf("    %-5s %s: %s%n", level, f.id(), said);
    }
  }

  private static void metrics(Summary s, PrintWriter out) {
    out.printf(ROW, "ms", "mean", "p50", "p90", "p95", "p99", "min", "max", "formula");
    s.metrics.forEach((metric, stat) -> row(metric.id().toUpperCase(Locale.ROOT), stat, out));
    s.others.forEach((name, stat) -> row(name.toUpperCase(Locale.ROOT), stat, out));
    Stat ttft = s.metrics.get(Metric.TTFT);
    for (Stat stat : List.of(ttft, s.metrics.get(Metric.TPOT), s.metrics.get(Metric.E2E))) {
      String p99 = p99(stat);
      if (!p99.isEmpty()) {
        out.printf("  P99 %s: %s%n", stat.metric.id().toUpperCase(Locale.ROOT), p99);
      }
    }
  }

  private static String p99(Stat stat) {
    String text = "";
    if (!Double.isNaN(stat.p99Low)) {
      text = "95 % interval from " + Text.number(stat.p99Low) + " ms ";
      text +=
          Double.isInfinite(stat.p99High)
              ? "without upper bound"
              : "to " + Text.number(stat.p99High) + " ms";
    }
    if (!Double.isNaN(stat.p99WithFailures)) {
      text += text.isEmpty() ? "" : "; ";
      text += "with failures as infinite " + Text.number(stat.p99WithFailures);
    }
    return text;
  }

  private static void row(String name, Stat stat, PrintWriter out) {
    String called = stat.called == null ? "" : " (file: " + stat.called + ")";
    String note = stat.note == null ? "" : " - " + stat.note;
    if (stat.percentileError > 0) {
      note +=
          String.format(Locale.ROOT, " - percentiles within %.3f %%", 100 * stat.percentileError);
    }
    out.printf(
        ROW,
        Printable.line(name),
        Text.number(stat.mean),
        Text.number(stat.p50),
        Text.number(stat.p90),
        Text.number(stat.p95),
        Text.number(stat.p99),
        Text.number(stat.min),
        Text.number(stat.max),
        Printable.line(stat.formula.id() + called + note));
  }

  private static void goodput(Summary s, PrintWriter out) {
    Goodput g = s.goodput;
    out.printf("  goodput     ");
    if (g.considered() == 0) {
      out.printf("- req/s: 0 of 0 good (-)");
    } else if (g.basis().equals("requests") || g.basis().equals("tool")) {
      out.printf(
          Locale.ROOT,
          "%s req/s: %d of %d good (%.1f %%, 95 %% interval %.1f to %.1f %%)",
          Text.number(g.requestsPerS()),
          g.good(),
          g.considered(),
          100 * g.share(),
          100 * g.low(),
          100 * g.high());
    } else if (g.basis().equals("percentiles")) {
      out.printf(Locale.ROOT, "share between %.1f and %.1f %%", 100 * g.low(), 100 * g.high());
    } else {
      out.println("not computed: " + g.note());
      toolsGoodput(s, out);
      return;
    }
    out.printf(
        "; %s, %s%s%s%n",
        Text.slo(g.slo()),
        s.definitions.inclusive() ? "limit included" : "strictly",
        g.notEvaluable() > 0 ? "; " + g.notEvaluable() + " cannot be judged" : "",
        g.note() == null ? "" : "; " + g.note());
    toolsGoodput(s, out);
  }

  private static void toolsGoodput(Summary s, PrintWriter out) {
    if (!Double.isNaN(s.run.goodputPerS)) {
      String under = s.run.slo == null ? "unknown limits" : Text.slo(s.run.slo);
      out.printf(
          "              the tool says %s req/s under %s%n", Text.number(s.run.goodputPerS), under);
    }
  }

  private static void lengths(Summary s, PrintWriter out) {
    if (s.byLength.isEmpty()) {
      return;
    }
    out.println(
        "  by prompt length     requests  TTFT p50       p99  TPOT p50       p99   E2E p50");
    for (Summary.LengthBucket b : s.byLength) {
      out.printf(
          "    %-16s %10d %9s %9s %9s %9s %9s%n",
          b.from() + "-" + b.to(),
          b.count(),
          Text.number(b.ttft().p50),
          Text.number(b.ttft().p99),
          Text.number(b.tpot().p50),
          Text.number(b.tpot().p99),
          Text.number(b.e2e().p50));
    }
  }
}
