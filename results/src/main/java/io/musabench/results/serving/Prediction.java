package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The TPOT that {@code musabench tpot --json} predicts, put beside a measured one: what the kernels
 * explain, and what they do not.
 */
public final class Prediction {
  private final String source;
  private final List<Case> cases;

  /** One predicted TPOT: for which load, and its interval; NaN where the file does not say. */
  private record Case(
      String name,
      double concurrency,
      double input,
      double output,
      double tpotMs,
      double lowMs,
      double highMs) {

    /** What to know before the two are compared; null if nothing. */
    String differs(Summary s) {
      boolean lengths = far(input, s.meanInput) || far(output, s.meanOutput);
      boolean load = far(concurrency, s.run.concurrencyLimit);
      return lengths || load
          ? String.format(
              Locale.ROOT,
              "not the same load: measured with %s tokens in and %s out%s",
              Text.number(s.meanInput),
              Text.number(s.meanOutput),
              load ? ", " + Text.number(s.run.concurrencyLimit) + " requests at once" : "")
          : null;
    }

    private static boolean far(double predicted, double measured) {
      return Math.abs(predicted - measured) > 0.1 * measured;
    }

    String interval(double measured) {
      if (Double.isNaN(lowMs + highMs)) {
        return "";
      }
      return measured >= lowMs && measured <= highMs
          ? " (inside the interval)"
          : " (outside the interval)";
    }
  }

  private Prediction(String source, List<Case> cases) {
    this.source = source;
    this.cases = cases;
  }

  /**
   * Reads {@code predictions[]}, each with {@code tpot: {value_ms, low_ms, high_ms}}; one such
   * object alone, or {@code {"tpot_ms": 16.0}} written by hand, is understood too.
   *
   * @throws ServingFormatException if there is no TPOT in it
   */
  public static Prediction read(Path file) throws IOException {
    JsonNode root;
    try (InputStream in = new Source(file, file.toString()).open()) {
      root = Json.MAPPER.readTree(in);
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      throw new ServingFormatException(file + ": " + Json.damage(e), e);
    }
    List<Case> cases = new ArrayList<>();
    JsonNode predictions = root.path("predictions");
    for (JsonNode p : predictions.isArray() ? predictions : List.of(root)) {
      JsonNode tpot = p.has("tpot") ? p.get("tpot") : p.path("tpot_ms");
      double value = tpot.isNumber() ? tpot.doubleValue() : Json.number(tpot.path("value_ms"));
      if (value > 0) {
        double low = Json.number(tpot.path("low_ms"));
        double high = Json.number(tpot.path("high_ms"));
        double concurrency = Json.number(p.path("concurrency"));
        double in = Json.number(p.path("input_tokens"));
        double out = Json.number(p.path("output_tokens"));
        cases.add(new Case(name(root, p), concurrency, in, out, value, low, high));
      }
    }
    if (cases.isEmpty()) {
      throw new ServingFormatException(
          file + ": no predicted TPOT in it: looked for predictions[] with tpot.value_ms");
    }
    return new Prediction(file.toString(), cases);
  }

  /** Which prediction it is, by the keys that {@code musabench tpot} writes. */
  private static String name(JsonNode root, JsonNode prediction) {
    List<String> parts = new ArrayList<>();
    for (String key :
        List.of("model", "tp", "mode", "concurrency", "input_tokens", "output_tokens")) {
      JsonNode v = prediction.has(key) ? prediction.get(key) : root.path(key);
      if (v.isValueNode() && v.asText().length() <= 60) {
        parts.add(key + "=" + v.asText());
      }
    }
    return String.join(" ", parts);
  }

  /** The predictions for the concurrency of a run, or all where none is for it. */
  private List<Case> casesFor(Summary s) {
    List<Case> same = cases.stream().filter(c -> c.concurrency == s.run.concurrencyLimit).toList();
    return same.isEmpty() ? cases : same;
  }

  void print(Summary s, PrintWriter out) {
    double measured = s.stat(Metric.TPOT).mean;
    if (Double.isNaN(measured)) {
      out.println("  prediction  no measured TPOT to compare with");
      return;
    }
    for (Case c : casesFor(s)) {
      out.printf(
          Locale.ROOT,
          "  prediction  TPOT %.3f ms predicted%s, %.3f ms measured: %+.3f ms (%+.1f %%"
              + " of the measured) unexplained%s%s%s%n",
          c.tpotMs,
          Double.isNaN(c.lowMs + c.highMs)
              ? ""
              : String.format(Locale.ROOT, " (%.3f to %.3f)", c.lowMs, c.highMs),
          measured,
          measured - c.tpotMs,
          100 * (measured - c.tpotMs) / measured,
          c.interval(measured),
          c.name.isEmpty() ? "" : "; " + c.name,
          c.differs(s) == null ? "" : "; " + c.differs(s));
    }
  }

  void write(Summary s, JsonGenerator g) throws IOException {
    double measured = s.stat(Metric.TPOT).mean;
    g.writeArrayFieldStart("predictions");
    for (Case c : casesFor(s)) {
      g.writeStartObject();
      g.writeStringField("source", source);
      g.writeStringField("name", c.name);
      JsonReport.number(g, "predicted_tpot_ms", c.tpotMs);
      JsonReport.number(g, "predicted_low_ms", c.lowMs);
      JsonReport.number(g, "predicted_high_ms", c.highMs);
      JsonReport.number(g, "measured_tpot_ms", measured);
      JsonReport.number(g, "unexplained_ms", measured - c.tpotMs);
      JsonReport.number(g, "unexplained_share", (measured - c.tpotMs) / measured);
      g.writeStringField("unexplained_share_of", "measured");
      g.writeStringField("load_mismatch", c.differs(s));
      g.writeEndObject();
    }
    g.writeEndArray();
  }
}
