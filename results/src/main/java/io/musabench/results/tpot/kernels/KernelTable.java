package io.musabench.results.tpot.kernels;

import io.musabench.results.tpot.kernels.TimeCurve.Blend;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Measured times of one kernel in one precision over four numbers: a site {@code (a, b)} (the
 * matrix of a product, the heads of attention, the width of a row), a batch {@code y} and a size
 * {@code x} (rows, context, tokens, bytes). What the kernel does not have is 1.
 *
 * <p>A look-up takes an exact point; else it is linear in each number between neighbours. Time, not
 * utilisation, is what is blended: both regimes of a kernel, its constant floor and its roof, are
 * linear in each of these numbers by themselves (a product's bytes and FLOPs are linear in m, n and
 * k; attention's in batch, heads and context), so a straight line meets them exactly, and only the
 * bend between them errs. Where sites are neighbours in both directions the two lines are averaged.
 *
 * <p>Outside, and for sites that nothing brackets, the utilisation of the nearest is held and the
 * roof applied again, never below the shortest time that was measured.
 */
final class KernelTable {
  /**
   * Least time that a point can take by the device's roofs, or, of kernels without one, anything in
   * proportion to it that is less than any time.
   */
  interface Roof {
    double at(double a, double b, double y, double x);
  }

  /** More neighbours than this no longer say much about a site that nothing brackets. */
  private static final int MOST_NEIGHBOURS = 4;

  private final Blend blend;
  private final Roof roof;
  private final double[] as;
  private final double[] bs;

  /** By index in {@link #as} and {@link #bs}; null where nothing was measured. */
  private final Site[][] grid;

  private final List<Site> sites = new ArrayList<>();
  private final double floor;

  /** Sorted by batch; batch i has curve i. */
  private static final class Site {
    final double a;
    final double b;
    final double[] ys;
    final TimeCurve[] curves;

    Site(double a, double b, NavigableMap<Double, TimeCurve> batches) {
      this.a = a;
      this.b = b;
      this.ys = batches.keySet().stream().mapToDouble(y -> y).toArray();
      this.curves = batches.values().toArray(TimeCurve[]::new);
    }
  }

  /** Collects points; one given several times counts as its median. */
  static final class Builder {
    private final Map<List<Double>, NavigableMap<Double, NavigableMap<Double, List<Double>>>>
        points =
            new TreeMap<>(
                Comparator.comparing((List<Double> s) -> s.get(0)).thenComparing(s -> s.get(1)));

    void add(double a, double b, double y, double x, double seconds) {
      points
          .computeIfAbsent(List.of(a, b), s -> new TreeMap<>())
          .computeIfAbsent(y, s -> new TreeMap<>())
          .computeIfAbsent(x, s -> new ArrayList<>(1))
          .add(seconds);
    }

    /** Of every point that was measured more than once: (longest - shortest) / median. */
    List<Double> repeats() {
      List<Double> found = new ArrayList<>();
      points
          .values()
          .forEach(
              ys ->
                  ys.values()
                      .forEach(
                          xs ->
                              xs.values()
                                  .forEach(
                                      times -> {
                                        if (times.size() > 1) {
                                          double low =
                                              times.stream()
                                                  .mapToDouble(t -> t)
                                                  .min()
                                                  .orElseThrow();
                                          double high =
                                              times.stream()
                                                  .mapToDouble(t -> t)
                                                  .max()
                                                  .orElseThrow();
                                          found.add((high - low) / median(times));
                                        }
                                      })));
      return found;
    }

    /** The most that a point does in a second, by what {@code work} says it does. */
    double best(Roof work) {
      double[] most = {0};
      points.forEach(
          (site, ys) ->
              ys.forEach(
                  (y, xs) ->
                      xs.forEach(
                          (x, times) ->
                              most[0] =
                                  Math.max(
                                      most[0],
                                      work.at(site.get(0), site.get(1), y, x) / median(times)))));
      return most[0];
    }

    KernelTable build(Blend blend, Roof roof) {
      return new KernelTable(this, blend, roof, false);
    }

    /** Of a kernel whose size is rows that can be computed in parts. */
    KernelTable buildOfRows(Blend blend, Roof roof) {
      return new KernelTable(this, blend, roof, true);
    }
  }

  private KernelTable(Builder builder, Blend blend, Roof roof, boolean rows) {
    this.blend = blend;
    this.roof = roof;
    as = axis(builder, 0);
    bs = axis(builder, 1);
    grid = new Site[as.length][bs.length];
    double shortest = Double.POSITIVE_INFINITY;
    for (var entry : builder.points.entrySet()) {
      double a = entry.getKey().get(0);
      double b = entry.getKey().get(1);
      NavigableMap<Double, TimeCurve> batches = new TreeMap<>();
      for (var batch : entry.getValue().entrySet()) {
        double[] x = batch.getValue().keySet().stream().mapToDouble(v -> v).toArray();
        double[] t = batch.getValue().values().stream().mapToDouble(KernelTable::median).toArray();
        batches.put(
            batch.getKey(),
            rows
                ? TimeCurve.ofRows(x, t, v -> roof.at(a, b, batch.getKey(), v))
                : new TimeCurve(x, t));
        shortest = Math.min(shortest, Arrays.stream(t).min().orElseThrow());
      }
      Site site = new Site(a, b, batches);
      sites.add(site);
      grid[Arrays.binarySearch(as, a)][Arrays.binarySearch(bs, b)] = site;
    }
    floor = shortest;
  }

  private static double[] axis(Builder builder, int i) {
    return builder.points.keySet().stream()
        .mapToDouble(s -> s.get(i))
        .distinct()
        .sorted()
        .toArray();
  }

  private static double median(List<Double> times) {
    double[] sorted = times.stream().mapToDouble(t -> t).sorted().toArray();
    int n = sorted.length;
    return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  }

  /** The most that a point does in a second, by what {@code work} says it does. */
  double best(Roof work) {
    double most = 0;
    for (Site site : sites) {
      for (int k = 0; k < site.ys.length; k++) {
        for (int i = 0; i < site.curves[k].size(); i++) {
          double done = work.at(site.a, site.b, site.ys[k], site.curves[k].x(i));
          most = Math.max(most, done / site.curves[k].seconds(i));
        }
      }
    }
    return most;
  }

  /** Whether a look-up can leave the points along this axis. */
  boolean varies(Axis axis) {
    return switch (axis) {
      case SIZE ->
          sites.stream().anyMatch(s -> Arrays.stream(s.curves).anyMatch(c -> c.size() > 1));
      case BATCH -> sites.stream().anyMatch(s -> s.ys.length > 1);
      case SITE -> sites.size() > 1;
      case BEYOND -> true;
    };
  }

  /** The time at a point. */
  Found at(double a, double b, double y, double x) {
    return at(a, b, y, x, null);
  }

  /** Roof of a point, to carry its utilisation elsewhere. */
  double roof(double a, double b, double y, double x) {
    return roof.at(a, b, y, x);
  }

  private Found at(double a, double b, double y, double x, Site skip) {
    Found found = onGrid(a, b, y, x, skip);
    if (found != null) {
      return found;
    }
    double nearA = clamp(a, as);
    double nearB = clamp(b, bs);
    if (nearA != a || nearB != b) {
      Found edge = onGrid(nearA, nearB, y, x, skip);
      if (edge != null) {
        double ratio = roof.at(a, b, y, x) / roof.at(nearA, nearB, y, x);
        return held(edge, ratio);
      }
    }
    return scattered(a, b, y, x, skip);
  }

  /** The time of a point whose roof is {@code ratio} times as long, its utilisation held. */
  double held(double seconds, double ratio) {
    return TimeCurve.hold(seconds, ratio, floor).seconds();
  }

  private static double clamp(double v, double[] axis) {
    return Math.max(axis[0], Math.min(axis[axis.length - 1], v));
  }

  private Found held(Found from, double ratio) {
    Found found = TimeCurve.hold(from.seconds(), ratio, floor);
    return new Found(found.seconds(), found.axes() | from.axes());
  }

  /** Exact, or bracketed by sites; null if neither. */
  private Found onGrid(double a, double b, double y, double x, Site skip) {
    int i = Arrays.binarySearch(as, a);
    int j = Arrays.binarySearch(bs, b);
    if (i >= 0 && j >= 0 && grid[i][j] != null && grid[i][j] != skip) {
      return at(grid[i][j], y, x);
    }
    Found alongA = j < 0 ? null : alongA(a, i, j, y, x, skip);
    Found alongB = i < 0 ? null : alongB(b, i, j, y, x, skip);
    if (alongA != null && alongB != null) {
      return alongA.blend(alongB, 0.5, Axis.SITE);
    }
    if (alongA != null || alongB != null) {
      return alongA != null ? alongA : alongB;
    }
    return i < 0 && j < 0 ? inCell(a, b, -i - 2, -j - 2, y, x) : null;
  }

  private Found alongA(double a, int i, int j, double y, double x, Site skip) {
    Site below = null;
    for (int k = (i >= 0 ? i : -i - 1) - 1; k >= 0 && below == null; k--) {
      below = grid[k][j] == skip ? null : grid[k][j];
    }
    Site above = null;
    for (int k = i >= 0 ? i + 1 : -i - 1; k < as.length && above == null; k++) {
      above = grid[k][j] == skip ? null : grid[k][j];
    }
    return below == null || above == null
        ? null
        : at(below, y, x).blend(at(above, y, x), (a - below.a) / (above.a - below.a), Axis.SITE);
  }

  private Found alongB(double b, int i, int j, double y, double x, Site skip) {
    Site below = null;
    for (int k = (j >= 0 ? j : -j - 1) - 1; k >= 0 && below == null; k--) {
      below = grid[i][k] == skip ? null : grid[i][k];
    }
    Site above = null;
    for (int k = j >= 0 ? j + 1 : -j - 1; k < bs.length && above == null; k++) {
      above = grid[i][k] == skip ? null : grid[i][k];
    }
    return below == null || above == null
        ? null
        : at(below, y, x).blend(at(above, y, x), (b - below.b) / (above.b - below.b), Axis.SITE);
  }

  /** Bilinear in the cell whose lower corner is {@code (i, j)}; null outside of all cells. */
  private Found inCell(double a, double b, int i, int j, double y, double x) {
    if (i < 0 || j < 0 || i + 1 >= as.length || j + 1 >= bs.length) {
      return null;
    }
    Found[][] corners = new Found[2][2];
    int missing = 0;
    for (int p = 0; p < 2; p++) {
      for (int q = 0; q < 2; q++) {
        Site site = grid[i + p][j + q];
        corners[p][q] = site == null ? null : at(site, y, x);
        missing += site == null ? 1 : 0;
      }
    }
    if (missing > 1) {
      return null;
    }
    for (int p = 0; p < 2; p++) {
      for (int q = 0; q < 2; q++) {
        if (corners[p][q] == null) {
          // A product of a function of a and one of b has this corner; so has a constant.
          Found opposite = corners[1 - p][1 - q];
          corners[p][q] =
              corners[1 - p][q]
                  .times(corners[p][1 - q].seconds() / opposite.seconds())
                  .with(Axis.BEYOND);
        }
      }
    }
    double wa = (a - as[i]) / (as[i + 1] - as[i]);
    double wb = (b - bs[j]) / (bs[j + 1] - bs[j]);
    return corners[0][0]
        .blend(corners[1][0], wa, Axis.SITE)
        .blend(corners[0][1].blend(corners[1][1], wa, Axis.SITE), wb, Axis.SITE);
  }

  /**
   * Utilisation of the nearest sites, weighted by the inverse square of their distance in octaves.
   */
  private Found scattered(double a, double b, double y, double x, Site skip) {
    Site[] nearest =
        sites.stream()
            .filter(s -> s != skip)
            .sorted(Comparator.comparingDouble(s -> distance(s, a, b)))
            .limit(MOST_NEIGHBOURS)
            .toArray(Site[]::new);
    if (nearest.length == 0) {
      return null;
    }
    double weights = 0;
    double utilisation = 0;
    int axes = Axis.BEYOND.bit();
    for (Site s : nearest) {
      Found found = at(s, y, x);
      // Sites at distance 0 are exact and never come here.
      double weight = 1 / distance(s, a, b);
      weights += weight;
      utilisation += weight * roof.at(s.a, s.b, y, x) / found.seconds();
      axes |= found.axes();
    }
    double seconds = roof.at(a, b, y, x) * weights / utilisation;
    return new Found(Math.max(seconds, floor), axes);
  }

  private static double distance(Site s, double a, double b) {
    double da = Math.log(a / s.a);
    double db = Math.log(b / s.b);
    return da * da + db * db;
  }

  private Found at(Site site, double y, double x) {
    int k = Arrays.binarySearch(site.ys, y);
    if (k >= 0) {
      return onCurve(site, k, x);
    }
    int above = -k - 1;
    return betweenBatches(site, above - 1, above, y, x);
  }

  private Found betweenBatches(Site site, int below, int above, double y, double x) {
    if (below >= 0 && above < site.ys.length) {
      double weight = (y - site.ys[below]) / (site.ys[above] - site.ys[below]);
      return onCurve(site, below, x).blend(onCurve(site, above, x), weight, Axis.BATCH);
    }
    int edge = below >= 0 ? below : above;
    double ratio = roof.at(site.a, site.b, y, x) / roof.at(site.a, site.b, site.ys[edge], x);
    return held(onCurve(site, edge, x), ratio);
  }

  private Found onCurve(Site site, int k, double x) {
    return site.curves[k].at(x, blend, v -> roof.at(site.a, site.b, site.ys[k], v), floor);
  }

  /** How many points there are. */
  int size() {
    return sites.stream().flatMap(s -> Arrays.stream(s.curves)).mapToInt(TimeCurve::size).sum();
  }

  /** How many points count with another time than was measured. */
  int replaced() {
    return sites.stream().flatMap(s -> Arrays.stream(s.curves)).mapToInt(TimeCurve::replaced).sum();
  }

  /** Of the points that are faster than the roof allows, the time over the roof; sorted. */
  double[] belowRoof() {
    List<Double> found = new ArrayList<>();
    for (Site site : sites) {
      for (int k = 0; k < site.ys.length; k++) {
        for (int i = 0; i < site.curves[k].size(); i++) {
          double least = roof.at(site.a, site.b, site.ys[k], site.curves[k].x(i));
          if (site.curves[k].seconds(i) < least) {
            found.add(site.curves[k].seconds(i) / least);
          }
        }
      }
    }
    return found.stream().mapToDouble(r -> r).sorted().toArray();
  }

  /** Receives one leave-one-out comparison. */
  interface Left {
    void out(Axis axis, double measured, double lookedUp);
  }

  /**
   * Leaves each point out in each way in which a look-up can miss it: its size from its curve, its
   * batch (with all sizes) from its site, its site (with all batches) from the table, and, for the
   * largest size of a curve and the largest batch of a site, beyond the rest.
   */
  void leaveOneOut(Left left) {
    for (Site site : sites) {
      for (int k = 0; k < site.ys.length; k++) {
        TimeCurve curve = site.curves[k];
        double y = site.ys[k];
        for (int i = 0; i < curve.size(); i++) {
          double x = curve.x(i);
          double measured = curve.measured(i);
          if (i > 0) {
            Found found = curve.without(i, blend, v -> roof.at(site.a, site.b, y, v), floor);
            left.out(found.has(Axis.BEYOND) ? Axis.BEYOND : Axis.SIZE, measured, found.seconds());
          }
          if (k > 0) {
            Found found = betweenBatches(site, k - 1, k + 1, y, x);
            boolean inside =
                site.curves[k - 1].covers(x)
                    && (k + 1 == site.ys.length || site.curves[k + 1].covers(x));
            if (inside) {
              left.out(
                  found.has(Axis.BEYOND) ? Axis.BEYOND : Axis.BATCH, measured, found.seconds());
            }
          }
          Found found = onGrid(site.a, site.b, y, x, site);
          if (found != null && !found.has(Axis.BEYOND)) {
            left.out(Axis.SITE, measured, found.seconds());
          }
        }
      }
    }
  }
}
