package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * The scalars of a JSON object by path ({@code successes.latency.time_to_first_token.p99}), for
 * documents that are small by nature. Array elements are {@code [0]}, {@code [1]} … Bounded: what
 * lies deeper than {@value #MAX_DEPTH} or comes after {@value #MAX_ENTRIES} entries is left out.
 */
final class Flat {
  private static final int MAX_ENTRIES = 50_000;
  private static final int MAX_DEPTH = 8;
  private static final int MAX_TEXT = 4096;

  private final Set<String> skipped;
  private final Map<String, String> values = new HashMap<>();
  private final Set<String> parents = new LinkedHashSet<>();

  Flat(String... skipped) {
    this.skipped = Set.of(skipped);
  }

  /**
   * Takes over the value at the parser under {@code path}, without what lies under skipped keys.
   */
  void put(String path, JsonParser p) throws IOException {
    put(path, p, 1);
  }

  private void put(String path, JsonParser p, int depth) throws IOException {
    JsonToken token = p.currentToken();
    if (token == JsonToken.START_OBJECT && depth <= MAX_DEPTH) {
      parent(path);
      Json.object(
          p,
          (name, q) -> {
            if (skipped.contains(name)) {
              return false;
            }
            put(path + "." + name, q, depth + 1);
            return true;
          });
    } else if (token == JsonToken.START_ARRAY && depth <= MAX_DEPTH) {
      parent(path);
      int[] i = {0};
      Json.array(
          p,
          q -> {
            put(path + ".[" + i[0]++ + "]", q, depth + 1);
            return true;
          });
    } else if (token != null && token.isScalarValue()) {
      if (token != JsonToken.VALUE_NULL && values.size() < MAX_ENTRIES && path.length() < 1000) {
        String text = p.getText();
        values.put(path, text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) : text);
      }
    } else {
      p.skipChildren();
    }
  }

  /** Sets one value directly, for sources that are not JSON. */
  void set(String path, String text) {
    if (values.size() < MAX_ENTRIES) {
      int dot = path.lastIndexOf('.');
      if (dot > 0) {
        parents.add(path.substring(0, dot));
      }
      values.put(path, text);
    }
  }

  private void parent(String path) {
    if (parents.size() < MAX_ENTRIES && path.length() < 1000) {
      parents.add(path);
    }
  }

  /** The text at a path, or null. */
  String text(String path) {
    return values.get(path);
  }

  /** The first of several paths that is there, or null: for keys that versions rename. */
  String text(String path, String... others) {
    String found = values.get(path);
    for (int i = 0; found == null && i < others.length; i++) {
      found = values.get(others[i]);
    }
    return found;
  }

  double number(String path, String... others) {
    String found = text(path, others);
    return found == null ? Double.NaN : Json.number(found);
  }

  /** A count, -1 if missing. */
  long count(String path, String... others) {
    double v = number(path, others);
    return v >= 0 && v < 9e15 ? Math.round(v) : -1;
  }

  Boolean flag(String path) {
    String v = values.get(path);
    return "true".equals(v) ? Boolean.TRUE : "false".equals(v) ? Boolean.FALSE : null;
  }

  boolean has(String path) {
    return values.containsKey(path) || parents.contains(path);
  }

  /** The statistics below a path ({@code path.mean}, {@code path.p99} …), scaled to ms. */
  Reported statistics(Formula formula, String called, String path, double toMs) {
    Reported r = new Reported(formula, called);
    String prefix = path + ".";
    for (Map.Entry<String, String> e : values.entrySet()) {
      if (e.getKey().startsWith(prefix)) {
        String statistic = e.getKey().substring(prefix.length());
        if (statistic.equals("count")) {
          r.count = count(e.getKey());
        } else if (statistic.indexOf('.') < 0 || statistic.matches("p\\d+\\.\\d+")) {
          r.set(statistic, Json.number(e.getValue()) * toMs);
        }
      }
    }
    return r;
  }

  /** Some statistics of a length below a path. */
  Run.Tokens lengths(String path) {
    return new Run.Tokens(
        number(path + ".min"), number(path + ".p25"), number(path + ".p75"), number(path + ".max"));
  }

  Map<String, String> all() {
    return values;
  }
}
