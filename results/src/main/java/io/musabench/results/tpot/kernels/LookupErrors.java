package io.musabench.results.tpot.kernels;

import io.musabench.results.stats.Stats;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Leave-one-out errors of one table, and what they say about a look-up in it. */
final class LookupErrors {
  /** Fewer comparisons than this say nothing. */
  private static final int LEAST = 5;

  /**
   * The median of the distance from 0 of a normal distribution is this many standard deviations.
   */
  static final double MEDIAN_TO_SIGMA = 0.6745;

  /** Assumed where there is nothing to leave out: a tenth between two points. */
  static final double UNKNOWN_INSIDE = 0.1;

  /**
   * Assumed where there is nothing to leave out, beyond the points: aiconfigurator's own study of
   * held utilisation at the frontier of its tables has nine in ten within 45 to 52 %, that is a
   * standard deviation of 30 %.
   */
  static final double UNKNOWN_BEYOND = 0.3;

  private final KernelTable table;
  private final Map<Axis, double[]> distances = new EnumMap<>(Axis.class);
  private final double[] sigmas = new double[Axis.values().length];

  LookupErrors(KernelTable table) {
    this.table = table;
    Map<Axis, List<Double>> lists = new EnumMap<>(Axis.class);
    table.leaveOneOut(
        (axis, measured, lookedUp) ->
            lists
                .computeIfAbsent(axis, a -> new ArrayList<>())
                .add(Math.abs(lookedUp / measured - 1)));
    lists.forEach(
        (axis, list) -> {
          double[] sorted = list.stream().mapToDouble(d -> d).sorted().toArray();
          distances.put(axis, sorted);
        });
    for (Axis axis : Axis.values()) {
      double unknown = axis == Axis.BEYOND ? UNKNOWN_BEYOND : UNKNOWN_INSIDE;
      sigmas[axis.ordinal()] =
          known(axis) ? Stats.quantile(distances.get(axis), 0.5) / MEDIAN_TO_SIGMA : unknown;
    }
  }

  private boolean known(Axis axis) {
    return distances.containsKey(axis) && distances.get(axis).length >= LEAST;
  }

  /** One standard deviation of a look-up that left the measured points along {@code axis}. */
  double sigma(Axis axis) {
    return sigmas[axis.ordinal()];
  }

  /**
   * {@link LookupError}s under the name of the operation and the axis, of every axis along which a
   * look-up can leave the points.
   */
  List<LookupError> list(String operation) {
    return Arrays.stream(Axis.values())
        .filter(table::varies)
        .map(
            axis -> {
              double[] found = distances.getOrDefault(axis, new double[0]);
              boolean none = found.length == 0;
              return new LookupError(
                  operation + ", " + axis.text(),
                  found.length,
                  none ? Double.NaN : Stats.quantile(found, 0.5),
                  none ? Double.NaN : Stats.quantile(found, 0.9),
                  sigma(axis),
                  known(axis) ? "" : "fewer than " + LEAST + " points can be left out");
            })
        .toList();
  }
}
