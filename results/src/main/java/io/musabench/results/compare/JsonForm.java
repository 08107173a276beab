package io.musabench.results.compare;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.musabench.results.stats.Interval;
import java.io.IOException;
import java.io.Writer;

/** A comparison as JSON; a number that does not exist is null. */
final class JsonForm {
  private static final String SCHEMA = "musabench.compare/1";

  private JsonForm() {}

  static void write(Comparison comparison, Writer out) throws IOException {
    try (JsonGenerator json = new JsonFactory().createGenerator(out)) {
      json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
      json.useDefaultPrettyPrinter();
      json.writeStartObject();
      json.writeStringField("schema", SCHEMA);
      json.writeStringField("base", comparison.base().name());
      json.writeStringField("candidate", comparison.candidate().name());
      json.writeStringField("basePartial", comparison.base().partial());
      json.writeStringField("candidatePartial", comparison.candidate().partial());
      json.writeBooleanField("paired", comparison.options().paired());
      json.writeNumberField("alpha", comparison.options().judge().alpha());
      json.writeNumberField("intervalLevel", Judge.LEVEL);
      json.writeNumberField("exitCode", comparison.exitCode());
      number(json, "geometricMeanRatio", comparison.geometricMean());
      json.writeArrayFieldStart("cases");
      for (CaseComparison row : comparison.rows()) {
        row(json, row);
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    out.write('\n');
  }

  private static void row(JsonGenerator json, CaseComparison row) throws IOException {
    json.writeStartObject();
    json.writeStringField("case", row.id());
    json.writeStringField("verdict", row.verdict().text());
    json.writeBooleanField("clockEffect", row.clockEffect());
    json.writeBooleanField("regression", row.regression());
    side(json, "base", row.base());
    side(json, "candidate", row.candidate());
    boolean judged = row.ratio() != null;
    Interval interval = judged ? row.ratio().ratio(Judge.LEVEL) : null;
    number(json, "ratio", judged ? row.ratio().ratio() : Double.NaN);
    number(json, "ratioLow", judged ? interval.low() : Double.NaN);
    number(json, "ratioHigh", judged ? interval.high() : Double.NaN);
    number(json, "epsilon", judged ? row.tolerance().fraction() : Double.NaN);
    json.writeStringField("epsilonFrom", judged ? row.tolerance().reason() : "");
    number(json, "adjustedP", row.p());
    if (row.moreForks().isPresent()) {
      json.writeNumberField("moreForks", row.moreForks().getAsInt());
    } else {
      json.writeNullField("moreForks");
    }
    json.writeStringField("remark", row.remark());
    json.writeEndObject();
  }

  private static void side(JsonGenerator json, String name, MeasuredCase c) throws IOException {
    if (c == null) {
      json.writeNullField(name);
      return;
    }
    json.writeObjectFieldStart(name);
    number(json, "timeUs", c.timeUs());
    number(json, "halfWidth", c.halfWidth());
    json.writeNumberField("forks", c.forks().size());
    json.writeNumberField("samples", c.forks().stream().mapToInt(ForkMedian::samples).sum());
    json.writeEndObject();
  }

  private static void number(JsonGenerator json, String name, double value) throws IOException {
    if (Double.isFinite(value)) {
      json.writeNumberField(name, value);
    } else {
      json.writeNullField(name);
    }
  }
}
