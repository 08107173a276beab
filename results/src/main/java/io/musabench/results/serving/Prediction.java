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
import java.util.Map;

/**
 * The TPOT that {@code musabench tpot --json} predicts, put beside a measured one: what the kernels
 * explain, and what they do not.
 */
public final class Prediction {
  private final String source;
  private final List<Case> cases;

  /** One predicted TPOT: for which load, in the file's own words, and its interval. */
  private record Case(String name, double inFlight, double tpotMs, double lowMs, double highMs) {}

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
        double inFlight =
            Json.number(p.has("in_flight") ? p.get("in_flight") : p.path("concurrency"));
        cases.add(new Case(name(p), inFlight, value, low, high));
      }
    }
    if (cases.isEmpty()) {
      throw new ServingFormatException(
          file + ": no predicted TPOT in it: looked for predictions[] with tpot.value_ms");
    }
    return new Prediction(file.toString(), cases);
  }

  /** What tells a prediction from its neighbours: its short texts and its whole numbers. */
  private static String name(JsonNode prediction) {
    StringBuilder name = new StringBuilder();
    for (Map.Entry<String, JsonNode> e : prediction.properties()) {
      JsonNode v = e.getValue();
      boolean tells = v.isTextual() && v.textValue().length() <= 40 || v.isIntegralNumber();
      if (tells && name.length() < 100) {
        name.append(name.isEmpty() ? "" : " ").append(e.getKey()).append('=').append(v.asText());
      }
    }
    return name.toString();
  }

  /** The predictions for the concurrency of a run, or all where none is for it. */
  private List<Case> casesFor(Summary s) {
    List<Case> same = cases.stream().filter(c -> c.inFlight == s.run.concurrencyLimit).toList();
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
          "  prediction  TPOT %.3f ms predicted%s, %.3f ms measured: %+.3f ms (%+.1f %%)"
              + " unexplained%s%n",
          c.tpotMs,
          Double.isNaN(c.lowMs + c.highMs)
              ? ""
              : String.format(Locale.ROOT, " (%.3f to %.3f)", c.lowMs, c.highMs),
          measured,
          measured - c.tpotMs,
          100 * (measured / c.tpotMs - 1),
          c.name.isEmpty() ? "" : "; " + c.name);
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
      g.writeEndObject();
    }
    g.writeEndArray();
  }
}
