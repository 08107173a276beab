package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import io.musabench.results.tpot.kernels.KernelSource;
import io.musabench.results.tpot.kernels.LookupError;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** How far look-ups in the tables of kernel times are off, as part of the answers made of them. */
final class LookupReport {
  private static final String MEANING =
      "  left out: measured times looked up among the others, between sizes, batches or shapes or"
          + " beyond them all;\n"
          + "  sigma: the error of such a look-up (one standard deviation), which the intervals"
          + " already contain\n";

  private LookupReport() {}

  /** A table for a terminal, and in a line each what is not known; empty without tables. */
  static String text(KernelSource source) {
    List<LookupError> errors = source.leaveOneOut();
    if (errors.isEmpty()) {
      return "";
    }
    TextTable table =
        new TextTable("look-up of", ">left out", ">median error", ">P90", ">sigma").uncut();
    Map<String, StringBuilder> unknown = new LinkedHashMap<>();
    for (LookupError e : errors) {
      if (e.known()) {
        table.row(
            e.operation(),
            Integer.toString(e.points()),
            Units.percent(100 * e.median()),
            Units.percent(100 * e.p90()),
            Units.percent(100 * e.sigma()));
      } else {
        String assumed = e.reason() + ", sigma " + Units.percent(100 * e.sigma()) + " assumed";
        StringBuilder operations = unknown.computeIfAbsent(assumed, a -> new StringBuilder());
        operations.append(operations.isEmpty() ? "" : "; ").append(e.operation());
      }
    }
    StringBuilder out = new StringBuilder("\nLeave-one-out error of the kernel times\n");
    if (!table.isEmpty()) {
      out.append(table);
    }
    unknown.forEach(
        (why, operations) ->
            out.append("  ").append(why).append(": ").append(operations).append('\n'));
    return out.append(MEANING).toString();
  }

  /** The same under {@code lookup_errors}. */
  static void json(ObjectNode root, KernelSource source) {
    ArrayNode errors = root.putArray("lookup_errors");
    for (LookupError e : source.leaveOneOut()) {
      ObjectNode node = errors.addObject();
      node.put("operation", e.operation());
      node.put("points", e.points());
      JsonText.number(node, "median_pct", 100 * e.median());
      JsonText.number(node, "p90_pct", 100 * e.p90());
      JsonText.number(node, "sigma_pct", 100 * e.sigma());
      node.put("assumed_because", e.reason());
    }
  }
}
