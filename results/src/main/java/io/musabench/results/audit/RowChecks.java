package io.musabench.results.audit;

import static io.musabench.results.audit.Finding.Basis.ARITHMETIC;
import static io.musabench.results.audit.Finding.Basis.ASSUMPTION;
import static io.musabench.results.audit.Finding.Level.NOTE;
import static io.musabench.results.audit.Finding.Level.OK;
import static io.musabench.results.audit.Finding.Level.WARN;

import io.musabench.results.audit.Finding.Level;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The checks of one row, each on the row alone or beside the row before it. */
final class RowChecks {
  /** A row and the load it is taken to have been measured under. */
  record Subject(EndToEndRow row, Load load) {
    double concurrency() {
      return row.has(Column.CONCURRENCY) ? row.concurrency() : load.concurrency;
    }

    double requestsPerS() {
      return row.has(Column.THROUGHPUT)
          ? row.get(Column.THROUGHPUT)
          : row.get(Column.OUTPUT_TOKENS) / load.output;
    }

    /** Seconds from sending a request to its last token. */
    double endToEndS() {
      double stated = row.get(Column.E2E + Column.MEAN);
      double made = row.ttftMs() + (load.output - 1) * row.tpotMs();
      return (Double.isNaN(stated) ? made : stated) / 1e3;
    }

    /** Seconds that a request spends decoding. */
    double decodingS() {
      return (load.output - 1) * row.tpotMs() / 1e3;
    }

    Subject with(String key, double value) {
      return new Subject(row.with(key, value), load);
    }
  }

  /** One check; {@code previous} is null for the first row. */
  interface Check {
    Finding of(Subject subject, Subject previous);

    /** How the check comes out: {@link #of} where that is cheap. */
    default Level level(Subject subject, Subject previous) {
      return of(subject, previous).level();
    }
  }

  private static final Check GOODPUT =
      new Check() {
        @Override
        public Finding of(Subject subject, Subject previous) {
          return GoodputCheck.of(subject);
        }

        @Override
        public Level level(Subject subject, Subject previous) {
          // Without the search for edits.
          return GoodputCheck.judge(subject).level();
        }
      };

  /** All checks, in the order in which they are reported and repaired. */
  static final List<Check> ALL =
      List.of(
          (s, p) -> units(s),
          (s, p) -> percentileOrder(s),
          (s, p) -> tpotAndItl(s),
          (s, p) -> littlesLaw(s),
          RowChecks::gain,
          GOODPUT,
          (s, p) -> RoofCheck.of(s));

  // No kernel of a decoder of any use is faster, and no user waits longer, than these.
  private static final double LEAST_TPOT_MS = 0.3;
  private static final double MOST_TPOT_MS = 3_000;
  private static final double LEAST_TTFT_MS = 2;
  private static final double MOST_TTFT_MS = 600_000;

  private static final double MEANS_DIFFER = 0.2;

  private RowChecks() {}

  private static final Pattern PLACE = Pattern.compile("%(?:([-+#0-9.]*)[a-z]|%)");

  /**
   * {@link String#format}, but {@code %.4g} is four significant digits without zeros behind them
   * and never an exponent, as people write numbers.
   */
  static String text(String format, Object... values) {
    StringBuilder text = new StringBuilder();
    Matcher place = PLACE.matcher(format);
    int from = 0;
    int next = 0;
    while (place.find()) {
      text.append(format, from, place.start());
      from = place.end();
      String spec = place.group();
      if (spec.equals("%%")) {
        text.append('%');
      } else if (spec.endsWith("g")) {
        int digits = Integer.parseInt(spec.substring(2, spec.length() - 1));
        text.append(significant(((Number) values[next++]).doubleValue(), digits));
      } else {
        text.append(String.format(Locale.ROOT, spec, values[next++]));
      }
    }
    return text.append(format.substring(from)).toString();
  }

  private static String significant(double value, int digits) {
    if (!Double.isFinite(value)) {
      return "unknown";
    }
    BigDecimal rounded = new BigDecimal(value).round(new MathContext(digits, RoundingMode.HALF_UP));
    return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
  }

  // ---- units

  private static Finding units(Subject s) {
    String id = "units";
    double ttft = s.row().ttftMs();
    double tpot = s.row().tpotMs();
    if (Double.isNaN(ttft) && Double.isNaN(tpot)) {
      return Finding.skipped(id, "neither TTFT nor TPOT is in the table");
    }
    List<String> seen = new ArrayList<>();
    List<Edit> edits = new ArrayList<>();
    outside(s, Column.TPOT, "TPOT", tpot, LEAST_TPOT_MS, MOST_TPOT_MS, seen, edits);
    outside(s, Column.TTFT, "TTFT", ttft, LEAST_TTFT_MS, MOST_TTFT_MS, seen, edits);
    // What would lie below TPOT or TTFT once these are mended has the same slip.
    double itl = s.row().get(Column.ITL + "_p99");
    if (tpot < LEAST_TPOT_MS && (itl < 1e3 * tpot || s.row().either(Column.ITL) < 100 * tpot)) {
      addScaled(s, Column.ITL, 1e3, edits);
    }
    if (ttft < LEAST_TTFT_MS && s.row().either(Column.E2E) < 1e3 * ttft) {
      addScaled(s, Column.E2E, 1e3, edits);
    }
    // The same of what lies far above TPOT, or keeps more requests waiting than there are.
    if (tpot > MOST_TPOT_MS) {
      if (itl > tpot / 10 || s.row().either(Column.ITL) > tpot / 100) {
        addScaled(s, Column.ITL, 1e-3, edits);
      }
      if (ttft <= MOST_TTFT_MS && s.requestsPerS() * ttft / 1e3 > 2 * s.concurrency()) {
        addScaled(s, Column.TTFT, 1e-3, edits);
      }
    }
    if (seen.isEmpty() && ttft < tpot / 10) {
      seen.add(
          text(
              "TTFT %.4g ms is less than a tenth of TPOT %.4g ms, but the first token needs a step"
                  + " too",
              ttft, tpot));
      addScaled(s, Column.TTFT, 1e3, edits);
    }
    double implied = s.requestsPerS() * s.endToEndS();
    double limit = s.concurrency();
    double inTokens = implied / s.load().output;
    if (implied > 2 * limit && inTokens > limit / 2 && inTokens < 2 * limit) {
      seen.add(
          text(
              "the throughput of %.4g /s fits the concurrency of %.4g if it counts tokens, not"
                  + " requests",
              s.requestsPerS(), limit));
      addScaled(s, Column.THROUGHPUT, 1 / s.load().output, edits);
    }
    if (seen.isEmpty()) {
      return finding(id, OK, "times and rates have the size of their units", "", Map.of());
    }
    return new Finding(
        id,
        WARN,
        ASSUMPTION,
        String.join("; ", seen),
        "a unit is not what the header says",
        Map.of(),
        edits);
  }

  private static void outside(
      Subject s,
      String metric,
      String name,
      double ms,
      double least,
      double most,
      List<String> seen,
      List<Edit> edits) {
    if (ms < least) {
      seen.add(text("%s of %.4g ms is below %.4g ms: seconds given as ms?", name, ms, least));
      addScaled(s, metric, 1e3, edits);
    } else if (ms > most) {
      seen.add(text("%s of %.4g ms is above %.4g ms: us given as ms?", name, ms, most));
      addScaled(s, metric, 1e-3, edits);
    }
  }

  /** Changes every number of a metric, because one header gave all of them their unit. */
  private static void addScaled(Subject s, String metric, double factor, List<Edit> edits) {
    s.row()
        .cells()
        .forEach(
            (key, cell) -> {
              if (key.equals(metric) || key.startsWith(metric + "_")) {
                edits.add(new Edit(cell.column(), key, cell.value(), cell.value() * factor));
              }
            });
  }

  // ---- order

  private static Finding percentileOrder(Subject s) {
    String id = "percentile_order";
    List<String> held = new ArrayList<>();
    List<String> broken = new ArrayList<>();
    List<Edit> edits = new ArrayList<>();
    for (String metric : Column.LATENCIES) {
      SortedMap<Double, Double> percentiles = s.row().percentiles(metric);
      double mean = s.row().get(metric + Column.MEAN);
      double most = s.row().get(metric + "_max");
      double last = s.row().get(metric + "_min");
      String lastName = "the minimum";
      for (Map.Entry<Double, Double> p : percentiles.entrySet()) {
        String name = "P" + number(100 * p.getKey());
        if (p.getValue() < last) {
          broken.add(
              text(
                  "%s: %s %.4g ms is below %s %.4g ms",
                  upper(metric), name, p.getValue(), lastName, last));
          String key = metric + "_" + name.toLowerCase(Locale.ROOT);
          edits.add(new Edit(s.row().column(key), key, p.getValue(), last));
        } else if (!Double.isNaN(last)) {
          held.add(
              text("%s %s %.4g <= %s %.4g", upper(metric), lastName, last, name, p.getValue()));
        }
        last = p.getValue();
        lastName = name;
        // At least a share 1 - p of the values is no smaller than the p-quantile.
        double least = (1 - p.getKey()) * p.getValue();
        if (mean < least * (1 - 1e-9)) {
          broken.add(
              text(
                  "%s: a mean of %.4g ms is impossible with %s of %.4g ms",
                  upper(metric), mean, name, p.getValue()));
          String key = metric + Column.MEAN;
          edits.add(new Edit(s.row().column(key), key, mean, least));
        }
      }
      if (most < last || most < mean) {
        broken.add(
            text(
                "%s: the maximum %.4g ms is below %.4g ms",
                upper(metric), most, Math.max(last, mean)));
        String key = metric + "_max";
        edits.add(new Edit(s.row().column(key), key, most, Math.max(last, mean)));
      }
    }
    double latency = s.row().either(Column.E2E);
    if (latency < s.row().ttftMs()) {
      broken.add(text("latency %.4g ms is below TTFT %.4g ms", latency, s.row().ttftMs()));
    }
    if (!broken.isEmpty()) {
      return new Finding(
          id,
          WARN,
          ARITHMETIC,
          String.join("; ", broken),
          "the statistics are not of one population",
          Map.of(),
          edits);
    }
    return held.isEmpty()
        ? Finding.skipped(id, "no metric has two statistics to compare")
        : finding(id, OK, String.join(", ", held), "", Map.of());
  }

  private static String upper(String metric) {
    return metric.toUpperCase(Locale.ROOT);
  }

  static String number(double v) {
    return v == Math.rint(v) ? Long.toString((long) v) : Double.toString(v);
  }

  // ---- TPOT and ITL

  private static Finding tpotAndItl(Subject s) {
    String id = "tpot_itl";
    double tpot = s.row().tpotMs();
    double p99 = s.row().get(Column.ITL + "_p99");
    double mean = s.row().get(Column.ITL + Column.MEAN);
    if (Double.isNaN(tpot) || Double.isNaN(p99) && Double.isNaN(mean)) {
      return Finding.skipped(
          id, Double.isNaN(tpot) ? "TPOT is not in the table" : "ITL is not in the table");
    }
    Map<String, Double> numbers = new LinkedHashMap<>();
    numbers.put("itl_p99_over_tpot", p99 / tpot);
    numbers.put("gap_sigma_ms", (p99 - tpot) / Share.Z99);
    if (p99 < tpot) {
      // The mean of all gaps is TPOT; 99 % of them are at most P99.
      double rest = (tpot - 0.99 * p99) / 0.01;
      Finding found =
          new Finding(
              id,
              WARN,
              ASSUMPTION,
              text(
                  "ITL P99 %.4g ms is below TPOT %.4g ms, the mean of the same gaps: the last 1 %%"
                      + " would have to be %.4g ms on average",
                  p99, tpot, rest),
              "possible only with stalls that P99 does not show",
              numbers,
              List.of());
      return found.withEdits(
          List.of(
              new Edit(s.row().column(Column.ITL + "_p99"), Column.ITL + "_p99", p99, tpot),
              edit(s, tpotKey(s), p99)));
    }
    if (Math.abs(mean - tpot) > MEANS_DIFFER * tpot) {
      return finding(
          id,
          NOTE,
          text("mean ITL %.4g ms, mean TPOT %.4g ms", mean, tpot),
          "legal where a chunk carries several tokens or answers differ in length",
          numbers);
    }
    return finding(
        id,
        OK,
        Double.isNaN(p99)
            ? text("mean ITL %.4g ms agrees with TPOT %.4g ms", mean, tpot)
            : text(
                "ITL P99 is %.2f times TPOT: a spread of the gaps of %.3g ms if it is normal",
                p99 / tpot, (p99 - tpot) / Share.Z99),
        "",
        numbers);
  }

  static String tpotKey(Subject s) {
    return s.row().has(Column.TPOT + Column.MEAN)
        ? Column.TPOT + Column.MEAN
        : Column.TPOT + "_p50";
  }

  private static Edit edit(Subject s, String key, double to) {
    return new Edit(s.row().column(key), key, s.row().get(key), to);
  }

  // ---- Little's law

  private static Finding littlesLaw(Subject s) {
    String id = "littles_law";
    double seconds = s.endToEndS();
    double rate = s.requestsPerS();
    double limit = s.concurrency();
    Map<String, Double> numbers = new LinkedHashMap<>();
    double t = s.load().tolerance;
    numbers.put("end_to_end_s", seconds);
    numbers.put("end_to_end_s_low", seconds * (1 - t));
    numbers.put("end_to_end_s_high", seconds * (1 + t));
    numbers.put("implied_concurrency", rate * seconds);
    double low = rate * seconds * (1 - t) * (1 - t);
    double high = rate * seconds * (1 + t) * (1 + t);
    numbers.put("implied_concurrency_low", low);
    numbers.put("implied_concurrency_high", high);
    numbers.put("implied_decode_batch", rate * s.decodingS());
    numbers.put("implied_decode_batch_low", rate * s.decodingS() * (1 - t) * (1 - t));
    numbers.put("implied_decode_batch_high", rate * s.decodingS() * (1 + t) * (1 + t));
    numbers.put("concurrency", limit);
    numbers.put("needed_throughput_req_s", limit / seconds);
    numbers.put("needed_throughput_req_s_low", limit / (seconds * (1 + t)));
    numbers.put("needed_throughput_req_s_high", limit / (seconds * (1 - t)));
    if (Double.isNaN(seconds)) {
      return Finding.skipped(
          id,
          Double.isNaN(s.load().output)
              ? "the number of output tokens is not known; give --osl"
              : "TTFT or TPOT is not in the table");
    }
    if (Double.isNaN(rate)) {
      return new Finding(
          id,
          Level.SKIPPED,
          ARITHMETIC,
          "throughput is not in the table"
              + (Double.isNaN(limit)
                  ? ""
                  : text("; %.4g in flight would give %.3g req/s", limit, limit / seconds)),
          "",
          numbers,
          List.of());
    }
    String law =
        text(
            "%.3g req/s x %.4g s = %.1f requests in flight (%.1f to %.1f at +-%.0f %%)",
            rate, seconds, rate * seconds, low, high, 100 * t);
    if (Double.isNaN(limit)) {
      return finding(id, OK, law, "nothing to compare with: give --concurrency", numbers);
    }
    if (limit >= low && limit <= high) {
      return finding(id, OK, law + text(", concurrency %.4g", limit), "", numbers);
    }
    List<Edit> edits = new ArrayList<>();
    edits.add(edit(s.with(Column.CONCURRENCY, limit), Column.CONCURRENCY, rate * seconds));
    edits.add(
        new Edit(s.row().column(Column.THROUGHPUT), Column.THROUGHPUT, rate, limit / seconds));
    double tpot = (limit / rate * 1e3 - s.row().ttftMs()) / (s.load().output - 1);
    if (tpot > 0) {
      edits.add(edit(s, tpotKey(s), tpot));
    }
    return new Finding(
        id,
        WARN,
        ARITHMETIC,
        law + text(", not %.4g", limit),
        limit > high
            ? text(
                "the load was not kept at %.4g: the client was short of load, or rate or latency"
                    + " are of another run",
                limit)
            : text("more than %.4g can have in flight: rate or latency is wrong", limit),
        numbers,
        edits);
  }

  // ---- gain over the row before

  private static Finding gain(Subject s, Subject previous) {
    String id = "gain_over_previous";
    if (previous == null) {
      return Finding.skipped(id, "the first row has none before it");
    }
    if (otherLoad(s, previous)) {
      return Finding.skipped(id, "the row before is of another model, layout or load");
    }
    double reported = s.requestsPerS() / previous.requestsPerS();
    double latency = previous.endToEndS() / s.endToEndS();
    double flights = Double.isNaN(s.concurrency()) ? 1 : s.concurrency() / previous.concurrency();
    double allowed = latency * flights;
    if (Double.isNaN(reported * allowed)) {
      return Finding.skipped(id, "throughput, TTFT, TPOT or the output length is missing");
    }
    Map<String, Double> numbers = new LinkedHashMap<>();
    numbers.put("reported_gain_pct", 100 * (reported - 1));
    numbers.put("closed_loop_gain_pct", 100 * (allowed - 1));
    String what =
        text(
            "throughput %+.1f %% over the row before; the latency of %.4g s after %.4g s gives a"
                + " closed loop of fixed concurrency %+.1f %%",
            100 * (reported - 1), s.endToEndS(), previous.endToEndS(), 100 * (allowed - 1));
    // Both rates and both latencies may be off by the tolerance.
    double t = s.load().tolerance;
    double slack = Math.pow((1 + t) / (1 - t), 2);
    if (reported > allowed * slack) {
      double rate = previous.requestsPerS() * allowed;
      return new Finding(
          id,
          WARN,
          ARITHMETIC,
          what,
          "impossible at fixed concurrency: the two rows were under different load",
          numbers,
          List.of(
              new Edit(
                  s.row().column(Column.THROUGHPUT), Column.THROUGHPUT, s.requestsPerS(), rate)));
    }
    if (reported < allowed / slack) {
      return finding(id, NOTE, what, "less than it allows: fewer requests were in flight", numbers);
    }
    return finding(id, OK, what, "", numbers);
  }

  private static boolean otherLoad(Subject a, Subject b) {
    return !java.util.Objects.equals(a.load().model, b.load().model)
        || a.load().tp != b.load().tp
        || Double.compare(a.load().input, b.load().input) != 0
        || Double.compare(a.load().output, b.load().output) != 0;
  }

  static Finding finding(
      String id, Level level, String what, String effect, Map<String, Double> numbers) {
    return new Finding(id, level, ARITHMETIC, what, effect, numbers, List.of());
  }
}
