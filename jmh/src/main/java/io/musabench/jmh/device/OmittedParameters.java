package io.musabench.jmh.device;

import io.musabench.results.run.Params;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Parameters that a case's name leaves out where they have their usual value. They were added to
 * benchmarks whose cases had names already: so those keep them, and what was measured before can
 * still be compared with what is measured now.
 */
public final class OmittedParameters {
  private static final Map<String, String> USUAL = new TreeMap<>(Params.MATE_DEFAULTS);

  static {
    USUAL.put(Libraries.PARAMETER, Libraries.PORTABLE);
    USUAL.put("gemm", Libraries.AUTO);
  }

  private OmittedParameters() {}

  /** Whether a name leaves this out. */
  public static boolean omits(String parameter, String value) {
    return value.equals(USUAL.get(parameter));
  }

  /** The parameters that a name has. */
  public static SortedMap<String, String> named(Map<String, String> parameters) {
    SortedMap<String, String> named = new TreeMap<>(parameters);
    named.entrySet().removeIf(e -> omits(e.getKey(), e.getValue()));
    return named;
  }

  /**
   * A parameter's usual value.
   *
   * @return null if it is in every name
   */
  public static String usual(String parameter) {
    return USUAL.get(parameter);
  }
}
