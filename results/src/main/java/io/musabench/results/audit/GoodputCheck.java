package io.musabench.results.audit;

import static io.musabench.results.audit.Finding.Basis.ARITHMETIC;
import static io.musabench.results.audit.Finding.Basis.ASSUMPTION;
import static io.musabench.results.audit.Finding.Level.NOTE;
import static io.musabench.results.audit.Finding.Level.OK;
import static io.musabench.results.audit.Finding.Level.WARN;
import static io.musabench.results.audit.RowChecks.text;

import io.musabench.results.audit.Finding.Basis;
import io.musabench.results.audit.Finding.Level;
import io.musabench.results.audit.RowChecks.Subject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * Goodput against the percentiles: the share of requests with TTFT and TPOT below their limits must
 * lie between the Fréchet bounds of the two shares. Three pairs of bounds, each inside the one
 * before if its assumption holds:
 *
 * <ol>
 *   <li><b>free</b>: from the percentiles and means in the table alone;
 *   <li><b>gaps</b>: TPOT has no percentiles of its own but ITL has a P99. The gaps are taken to be
 *       normal up to it, and at most {@link #BETWEEN} of their variance to lie between requests
 *       (requests in one batch share its steps, so most of what makes a gap long makes it long for
 *       all). TTFT stays free;
 *   <li><b>shape</b>: TTFT lognormal through its P50 and P99 besides.
 * </ol>
 *
 * <p>Outside <i>free</i> is impossible; outside <i>gaps</i> is a warning too, with what would have
 * to be true; outside <i>shape</i> alone is a note, because where the limit lies between two
 * percentiles only the shape decides, and nobody knows it.
 */
final class GoodputCheck {
  /** Largest part of the variance of gaps that is taken to lie between requests. */
  static final double BETWEEN = 0.5;

  private static final String ID = "goodput";

  private GoodputCheck() {}

  /** The finding, with the edits that would satisfy it. */
  static Finding of(Subject s) {
    Finding found = judge(s);
    if (found.level() != WARN) {
      return found;
    }
    return found.withEdits(
        Search.edits(
            s,
            List.of(
                Column.GOODPUT,
                Column.GOODPUT_SHARE,
                Column.TPOT + Column.MEAN,
                Column.TPOT + "_p50",
                Column.TPOT + "_p99",
                Column.ITL + "_p99",
                Column.TTFT + "_p50",
                Column.TTFT + "_p99"),
            changed -> new Bounds(changed).possible() && !crossesLimit(s, changed)));
  }

  /**
   * Whether a latency changed sides of its limit: that moves the bounds by jumps, whatever it is
   * that the numbers have against each other, and so explains nothing.
   */
  private static boolean crossesLimit(Subject from, Subject to) {
    return from.row().cells().entrySet().stream()
        .anyMatch(
            e -> {
              double limit =
                  e.getKey().startsWith(Column.TTFT + "_")
                      ? from.load().sloTtftMs
                      : e.getKey().startsWith(Column.TPOT + "_")
                          ? from.load().sloTpotMs
                          : Double.NaN;
              return e.getValue().value() < limit != to.row().get(e.getKey()) < limit;
            });
  }

  /** The bounds and the share that the table claims. */
  private static final class Bounds {
    final double share;
    final Share table;
    final Share freeTtft;
    final Share freeTpot;
    final Share shapedTtft;
    final Share shapedTpot;
    final Share free;
    final Share gaps;
    final Share shape;

    Bounds(Subject s) {
      EndToEndRow row = s.row();
      double rate = s.requestsPerS();
      share =
          row.has(Column.GOODPUT) ? row.get(Column.GOODPUT) / rate : row.get(Column.GOODPUT_SHARE);
      table = rounded(row, rate, share);
      freeTtft = free(row, Column.TTFT, s.load().sloTtftMs);
      freeTpot = free(row, Column.TPOT, s.load().sloTpotMs);
      shapedTpot = shapedTpot(s, freeTpot);
      shapedTtft = shapedTtft(row, s.load().sloTtftMs, freeTtft);
      free = freeTtft.and(freeTpot);
      gaps = freeTtft.and(shapedTpot);
      shape = shapedTtft.and(shapedTpot);
    }

    boolean possible() {
      return table.low() <= 1 && free.meets(table) && gaps.meets(table);
    }
  }

  /** The finding without edits. */
  static Finding judge(Subject s) {
    EndToEndRow row = s.row();
    Load load = s.load();
    if (!row.has(Column.GOODPUT) && !row.has(Column.GOODPUT_SHARE)) {
      return Finding.skipped(ID, "goodput is not in the table");
    }
    Bounds b = new Bounds(s);
    if (Double.isNaN(b.share)) {
      return Finding.skipped(ID, "throughput is not in the table");
    }
    Map<String, Double> numbers = new LinkedHashMap<>();
    numbers.put("share", b.share);
    if (b.table.low() > 1) {
      return result(
          WARN,
          ARITHMETIC,
          text("goodput is %.3g times the throughput", b.share),
          "no more requests can be good than there are",
          numbers);
    }
    if (Double.isNaN(load.sloTtftMs) && Double.isNaN(load.sloTpotMs)) {
      return Finding.skipped(ID, "the limits are not known; give --slo-ttft and --slo-tpot");
    }
    double rate = s.requestsPerS();
    put(numbers, "ttft_share", b.freeTtft);
    put(numbers, "tpot_share", b.freeTpot);
    put(numbers, "free", b.free);
    put(numbers, "ttft_share_shape", b.shapedTtft);
    put(numbers, "tpot_share_shape", b.shapedTpot);
    put(numbers, "gaps", b.gaps);
    put(numbers, "shape", b.shape);
    numbers.put("expected_goodput_req_s_low", b.shape.low() * rate);
    numbers.put("expected_goodput_req_s_high", b.shape.high() * rate);

    String base =
        text(
            "a share of %.3f is good; any distribution with these percentiles allows %s",
            b.share, range(b.free));
    if (!b.free.meets(b.table)) {
      return result(WARN, ARITHMETIC, base, "impossible with these percentiles", numbers);
    }
    String assumed =
        base
            + text(
                ", %s if gaps are normal and at most half of their variance lies between requests,"
                    + " %s if TTFT is lognormal besides",
                range(b.gaps), range(b.shape));
    if (!b.gaps.meets(b.table)) {
      return result(WARN, ASSUMPTION, assumed, needed(s, b.table, b.freeTtft, numbers), numbers);
    }
    if (!b.shape.meets(b.table)) {
      return result(
          NOTE,
          ASSUMPTION,
          assumed,
          text(
              "expected %s req/s; possible, because the limit on TTFT lies between the percentiles"
                  + " that are known, so that only the shape decides",
              range(new Share(b.shape.low() * rate, b.shape.high() * rate))),
          numbers);
    }
    return result(OK, ARITHMETIC, assumed, "", numbers);
  }

  private static Finding result(
      Level level, Basis basis, String what, String effect, Map<String, Double> numbers) {
    return new Finding(ID, level, basis, what, effect, numbers, List.of());
  }

  private static void put(Map<String, Double> numbers, String name, Share share) {
    numbers.put(name + "_low", share.low());
    numbers.put(name + "_high", share.high());
  }

  private static String range(Share s) {
    return s.high() - s.low() < 5e-4 * Math.max(1, s.high())
        ? text("%.3f", s.low())
        : text("%.3f to %.3f", s.low(), s.high());
  }

  /** What the share can have been before goodput and throughput were rounded. */
  private static Share rounded(EndToEndRow row, double rate, double share) {
    if (!row.has(Column.GOODPUT)) {
      double half = row.rounding(Column.GOODPUT_SHARE);
      return new Share(share - half, share + half);
    }
    double goodput = row.get(Column.GOODPUT);
    double half = row.rounding(Column.GOODPUT);
    double rateHalf = row.rounding(Column.THROUGHPUT);
    return new Share((goodput - half) / (rate + rateHalf), (goodput + half) / (rate - rateHalf));
  }

  private static Share free(EndToEndRow row, String metric, double limit) {
    return Double.isNaN(limit)
        ? Share.ALL
        : Share.below(limit, row.percentiles(metric), row.get(metric + Column.MEAN));
  }

  private static Share shapedTtft(EndToEndRow row, double limit, Share free) {
    SortedMap<Double, Double> p = row.percentiles(Column.TTFT);
    if (Double.isNaN(limit) || !p.containsKey(0.5) || !p.containsKey(0.99)) {
      return free;
    }
    double share = Share.lognormal(limit, p.get(0.5), p.get(0.99));
    return new Share(share, share);
  }

  private static Share shapedTpot(Subject s, Share free) {
    double limit = s.load().sloTpotMs;
    double sigma = gapSigma(s);
    if (Double.isNaN(limit) || !(sigma > 0) || !s.row().percentiles(Column.TPOT).isEmpty()) {
      return free;
    }
    double z = limit - s.row().tpotMs();
    // Gaps of a request that know nothing of each other average out; NaN of an unknown length is
    // a request of one gap.
    double gaps = s.load().output > 1 ? s.load().output - 1 : 1;
    double tight = Share.normal(z / (sigma / Math.sqrt(gaps)));
    double loose = Share.normal(z / (sigma * Math.sqrt(BETWEEN)));
    return new Share(Math.min(tight, loose), Math.max(tight, loose));
  }

  /** Spread of the gaps if they are normal with mean TPOT and the table's ITL P99. */
  private static double gapSigma(Subject s) {
    return (s.row().get(Column.ITL + "_p99") - s.row().tpotMs()) / Share.Z99;
  }

  /** What would have to be true for the table to be. */
  private static String needed(Subject s, Share table, Share ttft, Map<String, Double> numbers) {
    double tpot = s.row().tpotMs();
    double limit = s.load().sloTpotMs;
    double sigma = gapSigma(s);
    boolean tooMany = tpot > limit;
    double share = tooMany ? table.low() : Math.min(1, table.high() + 1 - ttft.low());
    double need = (limit - tpot) / Share.quantile(share);
    double between = need * need / (sigma * sigma);
    numbers.put("needed_tpot_sigma_ms", need);
    numbers.put("gap_sigma_ms", sigma);
    numbers.put("needed_variance_between_requests", between);
    String spread =
        text(
            "TPOT would have to differ between requests by %.3g ms (one sigma), %.0f %% of the"
                + " variance of all gaps",
            need, 100 * between);
    if (tooMany) {
      return text(
              "too many are good for a mean TPOT of %.4g ms above the limit of %.4g ms: ",
              tpot, limit)
          + spread;
    }
    double bad = 1 - share;
    double stall = (s.load().output - 1) * (limit - tpot) / 1e3;
    numbers.put("needed_stall_s", stall);
    return text(
            "too few are good: %.1f %% of requests would have to miss %.4g ms of TPOT, ",
            100 * bad, limit)
        + spread
        + (stall > 0
            ? text(", or to stall for %.1f s each, where ITL P99 does not see it", stall)
            : "");
  }
}
