package io.musabench.results.audit;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.Printable;
import io.musabench.results.audit.Finding.Level;
import io.musabench.results.audit.TableAudit.Ratio;
import io.musabench.results.audit.TableAudit.RowVerdict;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.DoubleFunction;

/** An audit as text and as JSON. */
public final class AuditReport {
  /** Raised when a field changes its meaning or goes away; new fields do not raise it. */
  public static final int SCHEMA_VERSION = 1;

  private static final int WIDTH = 118;

  /** From here on a row without objection is not printed check by check. */
  private static final int MANY_ROWS = 12;

  private final TableAudit audit;

  /** A report on an audit. */
  public AuditReport(TableAudit audit) {
    this.audit = audit;
  }

  /** For a terminal. */
  public String text() {
    StringBuilder out =
        new StringBuilder("audit of " + Printable.line(audit.table().name()) + "\n");
    for (String assumption : audit.assumptions()) {
      wrap(out, "  assumed: ", assumption);
    }
    if (!audit.table().ignored().isEmpty()) {
      wrap(out, "  not read: ", String.join(", ", audit.table().ignored()));
    }
    out.append('\n').append(overview());
    boolean all = audit.rows().size() <= MANY_ROWS;
    if (!all) {
      out.append("  rows with nothing to say about are left out below\n");
    }
    for (RowVerdict v : audit.rows()) {
      if (!all && v.findings().stream().allMatch(AuditReport::quiet)) {
        continue;
      }
      out.append("\nrow ")
          .append(v.row().number())
          .append("  ")
          .append(Printable.line(v.row().label()));
      out.append(v.consistent() ? "  consistent\n" : "  NOT CONSISTENT\n");
      for (Finding f : v.findings()) {
        String effect = f.effect().isEmpty() ? "" : ". " + f.effect();
        wrap(
            out,
            String.format(Locale.ROOT, "  %-7s %s: ", word(f.level()), f.id()),
            f.what() + effect);
      }
      if (!v.edits().isEmpty()) {
        wrap(
            out,
            "  smallest edit: ",
            edits(v.row(), v.edits())
                + (v.consistentAfter() ? "" : "; what is left cannot be mended by one number"));
      }
    }
    for (Ratio r : audit.ratios()) {
      out.append(
          String.format(
              Locale.ROOT,
              "%n%s last over first: %.2fx (%.2fx to %.2fx before rounding)",
              r.name(),
              r.value(),
              r.low(),
              r.high()));
    }
    return out.append(audit.ratios().isEmpty() ? "" : "\n").toString();
  }

  private static boolean quiet(Finding f) {
    return f.level() == Level.OK || f.level() == Level.SKIPPED;
  }

  private String overview() {
    TextTable table =
        new TextTable(
                "row",
                "config",
                ">latency",
                ">",
                ">in flight",
                ">",
                ">needed req/s",
                ">",
                ">good",
                "objections")
            .uncut();
    for (RowVerdict v : audit.rows()) {
      Map<String, Double> little = v.finding("littles_law").numbers();
      Map<String, Double> good = v.finding("goodput").numbers();
      String objections =
          String.join(
              ", ",
              v.findings().stream().filter(f -> f.level() == Level.WARN).map(Finding::id).toList());
      table.row(
          Integer.toString(v.row().number()),
          v.row().label(),
          time(value(little, "end_to_end_s")),
          range(little, "end_to_end_s", AuditReport::time),
          Units.number(value(little, "implied_concurrency")),
          range(little, "implied_concurrency", Units::number),
          Units.number(value(little, "needed_throughput_req_s")),
          range(little, "needed_throughput_req_s", Units::number),
          Units.percent(100 * value(good, "share")),
          objections.isEmpty() ? "none" : objections);
    }
    return table
        + "  behind each number: from and to, as far as the tolerance lets the table be off\n";
  }

  private static String range(
      Map<String, Double> numbers, String name, DoubleFunction<String> form) {
    double low = value(numbers, name + "_low");
    return Double.isNaN(low)
        ? Units.NOTHING
        : form.apply(low) + " - " + form.apply(value(numbers, name + "_high"));
  }

  private static String time(double seconds) {
    return Units.time(1e6 * seconds);
  }

  private static double value(Map<String, Double> numbers, String name) {
    return numbers.getOrDefault(name, Double.NaN);
  }

  private static String word(Level level) {
    return level.name().toLowerCase(Locale.ROOT);
  }

  /** In the units of the file, so that the numbers can be put into it. */
  private static String edits(EndToEndRow row, List<Edit> edits) {
    StringBuilder text = new StringBuilder();
    for (Edit e : edits) {
      text.append(text.isEmpty() ? "" : ", and ");
      text.append(e.field()).append(' ').append(plain(printed(row, e, e.from())));
      text.append(" -> ").append(plain(printed(row, e, e.to())));
    }
    return text.toString();
  }

  /** A number of the row in the unit of its column. */
  private static double printed(EndToEndRow row, Edit edit, double value) {
    // Ten digits: what a change of units adds behind them is no part of the number.
    double inFile = value / row.scale(edit.key());
    return Double.isFinite(inFile)
        ? BigDecimal.valueOf(inFile).round(new MathContext(10)).doubleValue()
        : inFile;
  }

  private static String plain(double value) {
    return Double.isFinite(value)
        ? BigDecimal.valueOf(value).stripTrailingZeros().toPlainString()
        : Units.NOTHING;
  }

  /** Breaks a line between words; what follows is indented. */
  private static void wrap(StringBuilder out, String head, String text) {
    StringBuilder line = new StringBuilder(head);
    int start = line.length();
    for (String word : Printable.line(text).split(" ")) {
      if (line.length() > start && line.length() + word.length() + 1 > WIDTH) {
        out.append(line).append('\n');
        line = new StringBuilder("          ");
        start = line.length();
      }
      line.append(line.length() > start ? " " : "").append(word);
    }
    out.append(line).append('\n');
  }

  /** As JSON. */
  public String json() {
    ObjectNode root = JsonText.root(SCHEMA_VERSION);
    root.put("file", audit.table().name());
    root.put("consistent", audit.consistent());
    JsonText.texts(root, "assumptions", audit.assumptions());
    JsonText.texts(root, "ignored_columns", audit.table().ignored());
    ArrayNode rows = root.putArray("rows");
    for (RowVerdict v : audit.rows()) {
      row(rows.addObject(), v);
    }
    ObjectNode ratios = root.putObject("ratios");
    ObjectNode ranges = root.putObject("ratio_ranges");
    for (Ratio r : audit.ratios()) {
      JsonText.number(ratios, r.name(), r.value());
      ranges.putArray(r.name()).add(r.low()).add(r.high());
    }
    ArrayNode findings = root.putArray("findings");
    for (RowVerdict v : audit.rows()) {
      for (Finding f : v.findings()) {
        if (f.level() == Level.WARN) {
          ObjectNode node = findings.addObject();
          node.put("row", v.row().number());
          node.put("config", v.row().label());
          finding(node, v.row(), f);
        }
      }
    }
    return JsonText.print(root);
  }

  private static void row(ObjectNode node, RowVerdict v) {
    node.put("row", v.row().number());
    node.put("config", v.row().label());
    node.put("verdict", v.consistent() ? "consistent" : "inconsistent");
    Map<String, Double> little = v.finding("littles_law").numbers();
    for (String name :
        List.of(
            "implied_concurrency",
            "implied_concurrency_low",
            "implied_concurrency_high",
            "implied_decode_batch",
            "implied_decode_batch_low",
            "implied_decode_batch_high",
            "concurrency",
            "end_to_end_s",
            "end_to_end_s_low",
            "end_to_end_s_high",
            "needed_throughput_req_s",
            "needed_throughput_req_s_low",
            "needed_throughput_req_s_high")) {
      JsonText.number(node, name, value(little, name));
    }
    ArrayNode checks = node.putArray("checks");
    v.findings().forEach(f -> finding(checks.addObject(), v.row(), f));
    edits(node.putArray("smallest_edit"), v.row(), v.edits());
    node.put("consistent_after_edit", v.consistentAfter());
  }

  private static void finding(ObjectNode node, EndToEndRow row, Finding f) {
    node.put("id", f.id());
    node.put("level", word(f.level()));
    node.put("basis", f.basis().name().toLowerCase(Locale.ROOT));
    node.put("what", f.what());
    node.put("effect", f.effect());
    JsonText.numbers(node, "numbers", f.numbers());
    edits(node.putArray("edits"), row, f.edits());
  }

  private static void edits(ArrayNode array, EndToEndRow row, List<Edit> edits) {
    for (Edit e : edits) {
      ObjectNode node = array.addObject();
      node.put("field", e.field());
      JsonText.number(node, "from", printed(row, e, e.from()));
      JsonText.number(node, "to", printed(row, e, e.to()));
      JsonText.number(node, "factor", e.factor());
    }
  }
}
