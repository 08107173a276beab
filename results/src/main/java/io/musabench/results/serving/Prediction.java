package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;

/**
 * The TPOT that {@code musabench tpot --json} predicts, put beside a measured one: what the kernels
 * explain, and what they do not.
 */
public final class Prediction {
  private final String source;
  private final double tpotMs;
  private final double lowMs;
  private final double highMs;

  private Prediction(String source, double tpotMs, double lowMs, double highMs) {
    this.source = source;
    this.tpotMs = tpotMs;
    this.lowMs = lowMs;
    this.highMs = highMs;
  }

  /**
   * Reads a prediction: {@code tpot_ms}, a number or {@code {value, low, high}}; {@code tpot} with
   * {@code ms}, {@code value_ms} or {@code value} is understood too.
   *
   * @throws ServingFormatException if there is no TPOT in it
   */
  public static Prediction read(Path file) throws IOException {
    JsonNode root;
    try (InputStream in = new Source(file, file.toString()).open()) {
      root = Json.MAPPER.readTree(in);
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      throw new ServingFormatException(file + ": damaged JSON: " + e.getOriginalMessage(), e);
    }
    JsonNode tpot = root.has("tpot_ms") ? root.get("tpot_ms") : root.path("tpot");
    double value = first(tpot, "value", "ms", "value_ms", "mean", "tpot_ms", "median");
    if (!(value > 0)) {
      throw new ServingFormatException(
          file + ": no predicted TPOT in it: looked for tpot_ms, and for tpot with ms or value");
    }
    double low = first(tpot, "low", "low_ms", "lower");
    double high = first(tpot, "high", "high_ms", "upper");
    JsonNode interval = tpot.path("interval");
    if (interval.isArray() && interval.size() == 2) {
      low = Json.number(interval.get(0));
      high = Json.number(interval.get(1));
    }
    return new Prediction(
        file.toString(),
        value,
        tpot.isNumber() ? Double.NaN : low,
        tpot.isNumber() ? Double.NaN : high);
  }

  private static double first(JsonNode node, String... names) {
    if (node.isNumber()) {
      return node.doubleValue();
    }
    for (String name : names) {
      if (node.path(name).isNumber()) {
        return node.get(name).doubleValue();
      }
    }
    return Double.NaN;
  }

  void print(Summary s, PrintWriter out) {
    double measured = s.stat(Metric.TPOT).mean;
    if (Double.isNaN(measured)) {
      out.println("  prediction  no measured TPOT to compare with");
      return;
    }
    out.printf(
        Locale.ROOT,
        "  prediction  TPOT %.3f ms predicted%s, %.3f ms measured: %+.3f ms (%+.1f %%) unexplained%n",
        tpotMs,
        Double.isNaN(lowMs) ? "" : String.format(Locale.ROOT, " (%.3f to %.3f)", lowMs, highMs),
        measured,
        measured - tpotMs,
        100 * (measured / tpotMs - 1));
  }

  void write(Summary s, JsonGenerator g) throws IOException {
    double measured = s.stat(Metric.TPOT).mean;
    g.writeObjectFieldStart("prediction");
    g.writeStringField("source", source);
    JsonReport.number(g, "predicted_tpot_ms", tpotMs);
    JsonReport.number(g, "predicted_low_ms", lowMs);
    JsonReport.number(g, "predicted_high_ms", highMs);
    JsonReport.number(g, "measured_tpot_ms", measured);
    JsonReport.number(g, "unexplained_ms", measured - tpotMs);
    JsonReport.number(g, "unexplained_share", (measured - tpotMs) / measured);
    g.writeEndObject();
  }
}
