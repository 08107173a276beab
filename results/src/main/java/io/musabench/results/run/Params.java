package io.musabench.results.run;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Names of the parameters that reports understand, and the way a case's parameters are written in
 * one CSV field: {@code name=value} pairs sorted by name and joined by {@code ;}.
 */
public final class Params {
  /** Model name or path. */
  public static final String MODEL = "model";

  /** Number of tensor-parallel ranks. */
  public static final String TP = "tp";

  /** Batch spec. */
  public static final String BATCH = "batch";

  /** Requests that a padded graph is captured for; a number, or the name of a list of sizes. */
  public static final String CAPTURED = "captured";

  /** {@link #EAGER} or {@link #GRAPH}. */
  public static final String MODE = "mode";

  /** Value of {@link #MODE}: kernels launched one by one. */
  public static final String EAGER = "eager";

  /** Value of {@link #MODE}: one graph replayed. */
  public static final String GRAPH = "graph";

  /** Where the operands are: {@link #COLD}, {@link #HOT}, {@link #AS_IN_STEP}, or others. */
  public static final String CACHE = "cache";

  /** Value of {@link #CACHE}: in no cache. */
  public static final String COLD = "cold";

  /**
   * Value of {@link #CACHE}: weights and KV cache in none, activations where the launch before has
   * left them, launches back to back.
   */
  public static final String AS_IN_STEP = "step";

  /** Value of {@link #CACHE}: where the launch before has left them. */
  public static final String HOT = "hot";

  /**
   * What can be asked of mate's attention, with the value that asks for nothing. The parameters
   * came later than the names of cases, which leave them out where they have it.
   */
  public static final Map<String, String> MATE_DEFAULTS =
      Map.of("backend", "auto", "packGqa", "auto", "metadata", "with", "mpMargin", "0");

  private Params() {}

  /** One field with all parameters; {@code %}, {@code ;} and {@code =} in values are escaped. */
  public static String format(Map<String, String> params) {
    return new TreeMap<>(params)
        .entrySet().stream()
            .map(e -> e.getKey() + "=" + escape(e.getValue()))
            .collect(Collectors.joining(";"));
  }

  /**
   * Reads what {@link #format} wrote.
   *
   * @throws IllegalArgumentException if a pair has no {@code =}
   */
  public static SortedMap<String, String> parse(String text) {
    SortedMap<String, String> params = new TreeMap<>();
    if (text.isEmpty()) {
      return params;
    }
    for (String pair : text.split(";")) {
      int equals = pair.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException("\"" + pair + "\" is not of the form name=value");
      }
      params.put(pair.substring(0, equals), unescape(pair.substring(equals + 1)));
    }
    return Collections.unmodifiableSortedMap(params);
  }

  private static String escape(String value) {
    return value.replace("%", "%25").replace(";", "%3B").replace("=", "%3D");
  }

  private static String unescape(String value) {
    // The decoder is for form data, where a plus sign stands for a blank.
    return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
  }
}
