package io.musabench.results.audit;

import io.musabench.results.audit.Finding.Level;
import io.musabench.results.audit.RowChecks.Check;
import io.musabench.results.audit.RowChecks.Subject;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What is consistent in an end-to-end table and what is not.
 *
 * @param table the table
 * @param rows one verdict a row
 * @param assumptions what was taken for granted because nobody said it
 * @param ratios how the last row compares with the first, by name of the quantity
 */
public record TableAudit(
    EndToEndTable table, List<RowVerdict> rows, List<String> assumptions, List<Ratio> ratios) {
  /** Repairs of one row; more would be another row. */
  private static final int MOST_EDITS = 8;

  private static final int FEWEST_DIGITS = 3;
  private static final int MOST_DIGITS = 8;
  private static final List<RoundingMode> SIDES =
      List.of(RoundingMode.HALF_UP, RoundingMode.CEILING, RoundingMode.FLOOR);

  /**
   * What was found about one row.
   *
   * @param row the row
   * @param findings one a check
   * @param edits the smallest changes found that together satisfy every check, given that the rows
   *     above are changed likewise; empty if none is needed
   * @param consistentAfter whether they do
   */
  public record RowVerdict(
      EndToEndRow row, List<Finding> findings, List<Edit> edits, boolean consistentAfter) {
    /** Whether no check objects. */
    public boolean consistent() {
      return findings.stream().noneMatch(f -> f.level() == Level.WARN);
    }

    /** The finding of a check. */
    public Finding finding(String id) {
      return findings.stream().filter(f -> f.id().equals(id)).findFirst().orElseThrow();
    }
  }

  /**
   * A quantity in the last row over the same in the first.
   *
   * @param name {@code throughput}, {@code goodput}, {@code tpot} or {@code ttft}
   * @param value last over first
   * @param low the least that rounding allows
   * @param high the most that rounding allows
   */
  public record Ratio(String name, double value, double low, double high) {}

  /** Copies the lists. */
  public TableAudit {
    rows = List.copyOf(rows);
    assumptions = List.copyOf(assumptions);
    ratios = List.copyOf(ratios);
  }

  /**
   * Audits a table.
   *
   * @throws IllegalArgumentException if an option names what does not exist
   */
  public static TableAudit of(EndToEndTable table, AuditOptions options) {
    Set<String> assumed = new LinkedHashSet<>();
    List<RowVerdict> verdicts = new ArrayList<>();
    Subject previous = null;
    Subject repairedPrevious = null;
    for (EndToEndRow row : table.rows()) {
      Load load = new Load(row, table, options);
      assumed.addAll(load.assumed.values());
      Subject subject = new Subject(row, load);
      List<Finding> findings = new ArrayList<>();
      for (Check check : RowChecks.ALL) {
        findings.add(rounded(check, subject, previous));
      }
      Repair repair = new Repair(subject, repairedPrevious);
      verdicts.add(new RowVerdict(row, findings, repair.edits(), repair.warnings() == 0));
      previous = subject;
      repairedPrevious = repair.current;
    }
    List<String> assumptions = new ArrayList<>();
    if (!assumed.isEmpty()) {
      assumptions.add(
          (table.statesLoad()
                  ? "neither in the table nor given: "
                  : "neither in the table nor given, so taken from the course's test bed: ")
              + String.join(", ", assumed));
    }
    boolean noMean =
        table.rows().stream()
            .anyMatch(r -> r.has(Column.TTFT + "_p50") && !r.has(Column.TTFT + Column.MEAN));
    if (noMean) {
      assumptions.add("mean TTFT is not in the table: its median stands for it");
    }
    assumptions.add(
        "the rates and latencies of the table are right to "
            + RowChecks.number(Math.round(1000 * options.tolerance()) / 10.0)
            + " %");
    return new TableAudit(table, verdicts, assumptions, ratios(table));
  }

  /** A finding whose edits are numbers as people write them, and still satisfy the check. */
  private static Finding rounded(Check check, Subject subject, Subject previous) {
    Finding found = check.of(subject, previous);
    return found.edits().isEmpty()
        ? found
        : found.withEdits(
            found.edits().stream().map(e -> rounded(check, subject, previous, e)).toList());
  }

  private static Edit rounded(Check check, Subject subject, Subject previous, Edit edit) {
    double scale = subject.row().scale(edit.key());
    BigDecimal exact = BigDecimal.valueOf(edit.to() / scale);
    for (int digits = FEWEST_DIGITS; digits <= MOST_DIGITS; digits++) {
      for (RoundingMode mode : SIDES) {
        double to = scale * exact.round(new MathContext(digits, mode)).doubleValue();
        if (check.level(subject.with(edit.key(), to), previous) != Level.WARN) {
          return edit.to(to);
        }
      }
    }
    // An edit that satisfies the check only together with others.
    return edit.to(scale * exact.round(new MathContext(MOST_DIGITS)).doubleValue());
  }

  /** Whether no row has a finding that objects. */
  public boolean consistent() {
    return rows.stream().allMatch(RowVerdict::consistent);
  }

  private static List<Ratio> ratios(EndToEndTable table) {
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put("throughput", Column.THROUGHPUT);
    keys.put("goodput", Column.GOODPUT);
    keys.put("tpot", Column.TPOT + Column.MEAN);
    keys.put("ttft", Column.TTFT + "_p50");
    EndToEndRow first = table.rows().get(0);
    EndToEndRow last = table.rows().get(table.rows().size() - 1);
    List<Ratio> ratios = new ArrayList<>();
    // Rows that differ in their load are no ladder of configurations.
    boolean moreInFlight = Double.compare(first.concurrency(), last.concurrency()) != 0;
    if (first == last || table.statesLoad() || moreInFlight) {
      return ratios;
    }
    keys.forEach(
        (name, key) -> {
          double a = first.get(key);
          double b = last.get(key);
          if (a > 0 && b > 0) {
            double da = first.rounding(key);
            double db = last.rounding(key);
            ratios.add(new Ratio(name, b / a, (b - db) / (a + da), (b + db) / (a - da)));
          }
        });
    return ratios;
  }

  /** Changes a row, check by check, until none objects. */
  private static final class Repair {
    private final Subject original;
    private final Subject previous;
    private Subject current;

    Repair(Subject subject, Subject previous) {
      this.original = subject;
      this.previous = previous;
      this.current = subject;
      for (int i = 0; i < MOST_EDITS; i++) {
        if (!step()) {
          return;
        }
      }
    }

    long warnings() {
      return warnings(current);
    }

    private long warnings(Subject subject) {
      return RowChecks.ALL.stream()
          .filter(check -> check.level(subject, previous) == Level.WARN)
          .count();
    }

    private boolean step() {
      long before = warnings(current);
      for (Check check : RowChecks.ALL) {
        if (check.level(current, previous) != Level.WARN) {
          continue;
        }
        Finding finding = rounded(check, current, previous);
        List<Subject> candidates = new ArrayList<>();
        finding.edits().forEach(e -> candidates.add(current.with(e.key(), e.to())));
        if (finding.id().equals("units")) {
          // One header gives all numbers below it their unit.
          Subject all = current;
          for (Edit e : finding.edits()) {
            all = all.with(e.key(), e.to());
          }
          candidates.add(0, all);
        }
        for (Subject candidate : candidates) {
          boolean mended = check.level(candidate, previous) != Level.WARN;
          if (mended && warnings(candidate) < before) {
            current = candidate;
            return true;
          }
        }
      }
      return false;
    }

    /** From the original numbers to the final ones. */
    List<Edit> edits() {
      List<Edit> edits = new ArrayList<>();
      new TreeMap<>(current.row().cells())
          .forEach(
              (key, cell) -> {
                double from = original.row().get(key);
                if (key.equals(Column.CONCURRENCY) && Double.isNaN(from)) {
                  from = original.load().concurrency;
                }
                if (cell.value() != from) {
                  edits.add(new Edit(cell.column(), key, from, cell.value()));
                }
              });
      return edits;
    }
  }
}
