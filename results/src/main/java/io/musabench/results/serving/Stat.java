package io.musabench.results.serving;

import java.util.ArrayList;
import java.util.List;

/** Statistics of one metric, in milliseconds; {@code NaN} where unknown. */
public final class Stat {
  final Metric metric;
  final Formula formula;

  /** Whether they were computed from requests here, and not read from the tool's statistics. */
  boolean fromRequests;

  /** The tool's own word, where the file states the statistics. */
  String called;

  long count = -1;
  double mean = Double.NaN;
  double std = Double.NaN;
  double min = Double.NaN;
  double max = Double.NaN;
  double p50 = Double.NaN;
  double p90 = Double.NaN;
  double p95 = Double.NaN;
  double p99 = Double.NaN;

  /** 95 % confidence interval of P99; high is infinite where the sample gives no upper bound. */
  double p99Low = Double.NaN;

  double p99High = Double.NaN;

  /** P99 if every failed request counts as infinitely slow. */
  double p99WithFailures = Double.NaN;

  /** Relative error of the percentiles, 0 if they are exact. */
  double percentileError;

  private final List<Point> curve = new ArrayList<>();

  /** Why there is nothing, or what to know about it; null if nothing. */
  String note;

  Stat(Metric metric, Formula formula) {
    this.metric = metric;
    this.formula = formula;
  }

  /** The metric. */
  public Metric metric() {
    return metric;
  }

  /** The formula behind it. */
  public Formula formula() {
    return formula;
  }

  /** How many values, -1 if the file does not say. */
  public long count() {
    return count;
  }

  /** The mean. */
  public double mean() {
    return mean;
  }

  /** The smallest value. */
  public double min() {
    return min;
  }

  /** The largest value. */
  public double max() {
    return max;
  }

  /** The median. */
  public double p50() {
    return p50;
  }

  /** The 90th percentile. */
  public double p90() {
    return p90;
  }

  /** The 95th percentile. */
  public double p95() {
    return p95;
  }

  /** The 99th percentile. */
  public double p99() {
    return p99;
  }

  /** Whether there is no value at all. */
  public boolean missing() {
    return Double.isNaN(mean) && Double.isNaN(p50) && Double.isNaN(p99);
  }

  static Stat missing(Metric metric, Formula formula, String why) {
    Stat s = new Stat(metric, formula);
    s.note = why;
    return s;
  }

  static Stat of(Metric metric, Formula formula, Sample sample, Definitions d, long failures) {
    Stat s = new Stat(metric, formula);
    s.fromRequests = true;
    s.count = sample.count();
    if (sample.count() == 0) {
      s.note = "no request has a value";
      return s;
    }
    Compat compat = d.compat();
    s.mean = sample.mean();
    s.std = sample.std(compat == null ? 0 : compat.ddof());
    s.min = sample.min();
    s.max = sample.max();
    s.p50 = s.percentile(sample, d, 50);
    s.p90 = s.percentile(sample, d, 90);
    s.p95 = s.percentile(sample, d, 95);
    s.p99 = s.percentile(sample, d, 99);
    Intervals.Ranks ranks = Intervals.percentileRanks(sample.count(), 99);
    s.p99Low = ranks.low() >= 1 ? sample.ranked(ranks.low()) : Double.NaN;
    s.p99High =
        ranks.high() <= sample.count() ? sample.ranked(ranks.high()) : Double.POSITIVE_INFINITY;
    s.draw(sample);
    s.percentileError = sample.approximate() ? Sample.BUCKET_ERROR : 0;
    if (failures > 0) {
      double rank = 1 + (sample.count() + failures - 1) * 0.99;
      s.p99WithFailures =
          rank > sample.count() ? Double.POSITIVE_INFINITY : s.interpolated(sample, rank);
    }
    return s;
  }

  /**
   * A point of a distribution.
   *
   * @param share of the values up to this one, 0 to 1
   * @param milliseconds the value
   */
  public record Point(double share, double milliseconds) {}

  /** Values at so many ranks draw a curve that no screen tells from the whole. */
  private static final int CURVE_POINTS = 400;

  /** The distribution: of all values, or of the percentiles that the file states. */
  public List<Point> curve() {
    return List.copyOf(curve);
  }

  private void draw(Sample sample) {
    long n = sample.count();
    int points = (int) Math.min(CURVE_POINTS, n);
    for (int i = 1; i <= points; i++) {
      long rank = Math.max(1, Math.round((double) i * n / points));
      curve.add(new Point((double) rank / n, sample.ranked(rank)));
    }
  }

  private double interpolated(Sample sample, double rank) {
    long below = (long) Math.floor(rank);
    double low = sample.ranked(below);
    return rank == below ? low : low + (rank - below) * (sample.ranked(below + 1) - low);
  }

  private double percentile(Sample sample, Definitions d, double p) {
    double value = d.percentile().of(sample, p);
    return d.compat() == null ? value : d.compat().roundPercentile(metric, value);
  }

  /**
   * Drops the interval by order statistics: values of one answer resemble each other, and a value
   * that is counted once a token is not as many observations.
   */
  void notIndependent() {
    p99Low = Double.NaN;
    p99High = Double.NaN;
  }

  /** Statistics alone tell P99 with failures only where it is infinite. */
  void failuresAmong(long ok, long failures) {
    if (1 + (ok + failures - 1) * 0.99 > ok) {
      p99WithFailures = Double.POSITIVE_INFINITY;
    }
  }

  static Stat of(Reported r) {
    Stat s = new Stat(r.formula.metric(), r.formula);
    s.called = r.called;
    s.count = r.count;
    s.mean = r.mean;
    s.std = r.std;
    s.min = r.min;
    s.max = r.max;
    s.p50 = r.percentile(50);
    s.p90 = r.percentile(90);
    s.p95 = r.percentile(95);
    s.p99 = r.percentile(99);
    r.percentiles.forEach((p, ms) -> s.curve.add(new Point(p / 100, ms)));
    return s;
  }
}
