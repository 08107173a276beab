package io.musabench.results.audit;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One configuration of a service and what was measured of it. Times are milliseconds, rates are
 * requests a second; what the table does not say is NaN or an empty text.
 */
public final class EndToEndRow {
  private final int number;
  private final Map<String, String> texts;
  private final Map<String, Cell> cells;

  EndToEndRow(int number, Map<String, String> texts, Map<String, Cell> cells) {
    this.number = number;
    this.texts = Map.copyOf(texts);
    this.cells = Map.copyOf(cells);
  }

  /** Number of the row, from 1. */
  public int number() {
    return number;
  }

  /** What the table calls it, or what tells it apart. */
  public String label() {
    String given = text(Column.LABEL);
    if (!given.isEmpty()) {
      return given;
    }
    StringBuilder label = new StringBuilder(text(Column.MODEL));
    for (String key : new String[] {Column.TP, Column.ISL, Column.OSL, Column.CONCURRENCY}) {
      if (has(key)) {
        label.append(label.isEmpty() ? "" : " ").append(key).append('=');
        label.append(RowChecks.number(get(key)));
      }
    }
    return label.isEmpty() ? "row " + number : label.toString();
  }

  /** The model's name, or an empty text. */
  public String model() {
    return text(Column.MODEL);
  }

  /** The device's name, or an empty text. */
  public String device() {
    return text(Column.DEVICE);
  }

  /** The column {@code mode}, or an empty text. */
  public String mode() {
    return text(Column.MODE);
  }

  /** Tensor-parallel ranks. */
  public double tp() {
    return get(Column.TP);
  }

  /** Tokens of a prompt. */
  public double inputTokens() {
    return get(Column.ISL);
  }

  /** Tokens of an answer. */
  public double outputTokens() {
    return get(Column.OSL);
  }

  /** Requests in flight that the client kept. */
  public double concurrency() {
    return get(Column.CONCURRENCY);
  }

  /** Mean TTFT, or the median where the table has no mean. */
  public double ttftMs() {
    return either(Column.TTFT);
  }

  /** Mean TPOT, or the median where the table has no mean. */
  public double tpotMs() {
    return either(Column.TPOT);
  }

  /** Requests answered a second. */
  public double requestsPerS() {
    double tokens = get(Column.OUTPUT_TOKENS) / outputTokens();
    return has(Column.THROUGHPUT) ? get(Column.THROUGHPUT) : tokens;
  }

  double either(String metric) {
    double mean = get(metric + Column.MEAN);
    return Double.isNaN(mean) ? get(metric + "_p50") : mean;
  }

  String text(String key) {
    return texts.getOrDefault(key, "");
  }

  boolean has(String key) {
    return cells.containsKey(key);
  }

  double get(String key) {
    Cell cell = cells.get(key);
    return cell == null ? Double.NaN : cell.value();
  }

  double rounding(String key) {
    Cell cell = cells.get(key);
    return cell == null ? 0 : cell.rounding();
  }

  /** Factor from the unit of a column to the one here; 1 where it has no column. */
  double scale(String key) {
    Cell cell = cells.get(key);
    return cell == null ? 1 : cell.scale();
  }

  /** Header of a column in the file, or its key where it has none. */
  String column(String key) {
    Cell cell = cells.get(key);
    return cell == null ? key : cell.column();
  }

  /** The known percentiles of a metric, in milliseconds, by share (0.5 for P50). */
  SortedMap<Double, Double> percentiles(String metric) {
    SortedMap<Double, Double> found = new TreeMap<>();
    cells.forEach(
        (key, cell) -> {
          if (key.startsWith(metric + "_p")) {
            found.put(Double.parseDouble(key.substring(metric.length() + 2)) / 100, cell.value());
          }
        });
    return found;
  }

  /** Every number, by key. */
  Map<String, Cell> cells() {
    return cells;
  }

  /** This row with one number changed. */
  EndToEndRow with(String key, double value) {
    Map<String, Cell> changed = new TreeMap<>(cells);
    Cell old = cells.get(key);
    changed.put(key, old == null ? new Cell(key, value, 0) : old.with(value));
    return new EndToEndRow(number, texts, changed);
  }

  EndToEndRow withText(String key, String value) {
    Map<String, String> changed = new TreeMap<>(texts);
    changed.put(key, value);
    return new EndToEndRow(number, changed, cells);
  }
}
