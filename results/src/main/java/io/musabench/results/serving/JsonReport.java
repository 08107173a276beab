package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The JSON output. One run is one object with the fields of the schema; several runs are {@code
 * {"schema", "runs": […], "comparison": […]}}. What is unknown is null; an infinite number is the
 * string {@code "inf"}.
 */
final class JsonReport {
  /** Raised when a field changes its meaning or goes away; new fields do not raise it. */
  static final String SCHEMA = "musabench.serving/1";

  private final JsonGenerator g;

  private JsonReport(JsonGenerator g) {
    this.g = g;
  }

  static void write(List<Summary> summaries, Prediction prediction, Writer out) throws IOException {
    try (JsonGenerator g = Json.FACTORY.createGenerator(out)) {
      g.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
      g.setPrettyPrinter(new DefaultPrettyPrinter());
      JsonReport report = new JsonReport(g);
      if (summaries.size() == 1) {
        report.summary(summaries.get(0), prediction, true);
      } else {
        g.writeStartObject();
        g.writeStringField("schema", SCHEMA);
        g.writeArrayFieldStart("runs");
        for (Summary s : summaries) {
          report.summary(s, prediction, false);
        }
        g.writeEndArray();
        report.comparison(summaries);
        g.writeEndObject();
      }
    }
    out.write(System.lineSeparator());
    out.flush();
  }

  private void summary(Summary s, Prediction prediction, boolean root) throws IOException {
    g.writeStartObject();
    if (root) {
      g.writeStringField("schema", SCHEMA);
    }
    g.writeObjectFieldStart("source");
    g.writeStringField("file", s.run.source);
    g.writeStringField("tool", s.run.tool);
    text("version", s.run.toolVersion);
    g.writeStringField("basis", s.run.hasRequests() ? "requests" : "statistics");
    g.writeEndObject();
    strings("notes", s.notes);
    map("labels", s.labels);
    definitions(s.definitions);
    g.writeObjectFieldStart("requests");
    count("total", s.total);
    count("ok", s.ok);
    count("error", s.errors);
    count("cancelled", s.cancelled);
    count("cut", s.cut);
    g.writeEndObject();
    number("duration_s", s.durationS);
    g.writeStringField("duration_from", s.durationHow);
    metrics(s);
    throughput(s);
    goodput(s);
    tokens(s);
    lengths(s);
    reported(s);
    checks(s);
    if (prediction != null) {
      prediction.write(s, g);
    }
    g.writeEndObject();
  }

  private void definitions(Definitions d) throws IOException {
    g.writeObjectFieldStart("definitions");
    g.writeStringField("name", d.name());
    g.writeStringField("percentile", d.percentile().id());
    g.writeStringField("slo_comparison", d.inclusive() ? "inclusive" : "strict");
    g.writeStringField("single_token", Definitions.lower(d.singleToken()));
    g.writeStringField("failed", Definitions.lower(d.failed()));
    g.writeStringField("duration", Definitions.lower(d.duration()));
    if (d.compat() != null) {
      strings("differs_from_course", d.compat().differences());
    }
    g.writeEndObject();
  }

  private void metrics(Summary s) throws IOException {
    g.writeObjectFieldStart("metrics");
    for (Map.Entry<Metric, Stat> e : s.metrics.entrySet()) {
      g.writeFieldName(e.getKey().id());
      stat(e.getValue());
    }
    for (Map.Entry<String, Stat> e : s.others.entrySet()) {
      g.writeFieldName(e.getKey());
      stat(e.getValue());
    }
    g.writeEndObject();
  }

  private void stat(Stat stat) throws IOException {
    g.writeStartObject();
    g.writeStringField("unit", "ms");
    g.writeStringField("formula", stat.formula.id());
    g.writeStringField("meaning", stat.formula.meaning());
    text("called", stat.called);
    g.writeStringField("basis", stat.fromRequests ? "requests" : "statistics");
    count("count", stat.count);
    number("mean", stat.mean);
    number("std", stat.std);
    number("p50", stat.p50);
    number("p90", stat.p90);
    number("p95", stat.p95);
    number("p99", stat.p99);
    number("min", stat.min);
    number("max", stat.max);
    number("p99_low", stat.p99Low);
    number("p99_high", stat.p99High);
    number("p99_with_failures", stat.p99WithFailures);
    number("percentile_error", stat.percentileError);
    text("note", stat.note);
    g.writeEndObject();
  }

  private void throughput(Summary s) throws IOException {
    g.writeObjectFieldStart("throughput");
    number("requests_per_s", s.requestsPerS);
    number("output_tokens_per_s", s.outputTokensPerS);
    number("output_tokens_per_s_all", s.allOutputTokensPerS);
    number("mean_concurrency", s.meanConcurrency);
    number("peak_concurrency", s.peakConcurrency);
    g.writeEndObject();
  }

  private void goodput(Summary s) throws IOException {
    Goodput p = s.goodput;
    g.writeObjectFieldStart("goodput");
    number("requests_per_s", p.requestsPerS());
    count("good", p.good());
    count("considered", p.considered());
    count("not_evaluable", p.notEvaluable());
    count("single_token", p.single());
    number("share", p.share());
    number("share_low", p.low());
    number("share_high", p.high());
    g.writeStringField("basis", p.basis());
    g.writeFieldName("slo");
    slo(p.slo(), s.definitions.inclusive());
    text("note", p.note());
    g.writeObjectFieldStart("tool");
    number("requests_per_s", s.run.goodputPerS);
    number("good", s.run.goodCount);
    g.writeFieldName("slo");
    if (s.run.slo == null) {
      g.writeNull();
    } else {
      slo(s.run.slo, true);
    }
    g.writeEndObject();
    g.writeEndObject();
  }

  private void slo(Slo slo, boolean inclusive) throws IOException {
    g.writeStartObject();
    number("ttft_ms", slo.ttftMs());
    number("tpot_ms", slo.tpotMs());
    number("e2e_ms", slo.e2eMs());
    g.writeStringField("comparison", inclusive ? "inclusive" : "strict");
    g.writeEndObject();
  }

  private void tokens(Summary s) throws IOException {
    g.writeObjectFieldStart("tokens");
    number("input_mean", s.meanInput);
    number("input_std", s.stdInput);
    number("output_mean", s.meanOutput);
    number("output_asked", s.askedOutput);
    g.writeObjectFieldStart("output_counted_by");
    for (Map.Entry<String, Long> e : s.tokenSources.entrySet()) {
      g.writeNumberField(e.getKey(), e.getValue());
    }
    g.writeEndObject();
    g.writeEndObject();
  }

  private void lengths(Summary s) throws IOException {
    g.writeArrayFieldStart("by_prompt_length");
    for (Summary.LengthBucket b : s.byLength) {
      g.writeStartObject();
      g.writeNumberField("from", b.from());
      g.writeNumberField("to", b.to());
      g.writeNumberField("count", b.count());
      g.writeFieldName("ttft");
      stat(b.ttft());
      g.writeFieldName("tpot");
      stat(b.tpot());
      g.writeFieldName("e2e");
      stat(b.e2e());
      g.writeEndObject();
    }
    g.writeEndArray();
  }

  /** The tool's own statistics beside those computed here. */
  private void reported(Summary s) throws IOException {
    g.writeArrayFieldStart("reported");
    for (Reported r : s.run.reported) {
      stat(Stat.of(r));
    }
    g.writeEndArray();
  }

  private void checks(Summary s) throws IOException {
    g.writeArrayFieldStart("checklist");
    for (Check c : s.checklist) {
      g.writeStartObject();
      g.writeStringField("item", c.id());
      g.writeStringField("verdict", c.verdict().name().toLowerCase(Locale.ROOT));
      g.writeStringField("reason", c.reason());
      g.writeEndObject();
    }
    g.writeEndArray();
    g.writeArrayFieldStart("audit");
    for (Finding f : s.audit) {
      g.writeStartObject();
      g.writeStringField("id", f.id());
      g.writeStringField("level", f.level().name().toLowerCase(Locale.ROOT));
      g.writeStringField("what", f.what());
      g.writeStringField("effect", f.effect());
      g.writeEndObject();
    }
    g.writeEndArray();
  }

  private void comparison(List<Summary> summaries) throws IOException {
    g.writeArrayFieldStart("comparison");
    for (Comparison.Row row : Comparison.of(summaries)) {
      g.writeStartObject();
      g.writeStringField("file", row.summary().run.source);
      g.writeBooleanField("comparable", row.comparable());
      strings("not_comparable", row.blanked());
      strings("remarks", row.remarks());
      for (Metric m : new Metric[] {Metric.TTFT, Metric.TPOT, Metric.ITL, Metric.E2E}) {
        Stat stat = row.stat(m);
        number(m.id() + "_p50_ms", stat == null ? Double.NaN : stat.p50);
        number(m.id() + "_p99_ms", stat == null ? Double.NaN : stat.p99);
      }
      number("requests_per_s", row.summary().requestsPerS);
      number("goodput_requests_per_s", row.summary().goodput.requestsPerS());
      g.writeEndObject();
    }
    g.writeEndArray();
  }

  private void number(String name, double v) throws IOException {
    number(g, name, v);
  }

  static void number(JsonGenerator g, String name, double v) throws IOException {
    if (Double.isNaN(v)) {
      g.writeNullField(name);
    } else if (Double.isInfinite(v)) {
      g.writeStringField(name, v > 0 ? "inf" : "-inf");
    } else {
      g.writeNumberField(name, v);
    }
  }

  private void count(String name, long n) throws IOException {
    if (n < 0) {
      g.writeNullField(name);
    } else {
      g.writeNumberField(name, n);
    }
  }

  private void text(String name, String value) throws IOException {
    if (value == null) {
      g.writeNullField(name);
    } else {
      g.writeStringField(name, value);
    }
  }

  private void strings(String name, List<String> values) throws IOException {
    g.writeArrayFieldStart(name);
    for (String v : values) {
      g.writeString(v);
    }
    g.writeEndArray();
  }

  private void map(String name, Map<String, String> values) throws IOException {
    g.writeObjectFieldStart(name);
    for (Map.Entry<String, String> e : values.entrySet()) {
      g.writeStringField(e.getKey(), e.getValue());
    }
    g.writeEndObject();
  }
}
