package io.musabench.results.tpot.answers;

import io.musabench.results.tpot.answers.Identification.Point;
import io.musabench.results.tpot.answers.Identification.Range;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Compares experiments by what each would leave of the intervals.
 *
 * <p>All combinations of the unknowns that explain the table form a grid. An experiment observes
 * some function of the unknowns with an accuracy; whichever combination is the true one, only those
 * remain whose observation agrees with its own. The width that a parameter keeps, averaged over the
 * combinations and divided by the width now, is what the experiment leaves of it. Nothing about the
 * ranking is decided beforehand.
 */
public final class Experiments {
  /**
   * What one experiment would do.
   *
   * @param name what to do
   * @param learns what it observes
   * @param launchLeft share of the launch cost's interval that it leaves, NaN if there is none
   * @param prefillLeft the same of the prefill's
   * @param concurrencyLeft the same of the concurrency's
   * @param narrowing mean share taken away, over the parameters that have an interval
   */
  public record Outcome(
      String name,
      String learns,
      double launchLeft,
      double prefillLeft,
      double concurrencyLeft,
      double narrowing) {}

  /**
   * One combination: kernels, hidden share, prefill, flights, share of bare launch, launch cost.
   */
  private record Truth(
      double kernels,
      double hidden,
      double prefillS,
      double inFlight,
      double bareShare,
      double stepS,
      double launchS) {}

  /** An observation: a function of the truth, and how far off it can be. */
  private record Look(ToDoubleFunction<Truth> value, double absolute, double relative) {
    boolean agrees(Truth a, Truth b) {
      double x = value.applyAsDouble(a);
      double y = value.applyAsDouble(b);
      return Math.abs(x - y) <= absolute + relative * Math.abs(x) + 1e-15;
    }
  }

  private record Experiment(String name, String learns, List<Look> looks) {}

  /** A repeated end-to-end measurement of TPOT is good to about this. */
  private static final double TPOT_ACCURACY = 0.02;

  /** How well the slope of eager TPOT over the batch tells the hidden share. */
  private static final double HIDDEN_ACCURACY = 0.15;

  private static final int STEPS = 7;

  /** Share of the bare launch in a framework's launch cost: from a twentieth up to all of it. */
  private static final double[] BARE_SHARES =
      IntStream.rangeClosed(0, 20).mapToDouble(i -> Math.pow(20, i / 20.0 - 1)).toArray();

  private final Point eager;
  private final Point graph;
  private final List<Truth> grid = new ArrayList<>();
  private final List<Truth> flights = new ArrayList<>();

  Experiments(Point eager, Point graph, Range kernels, double prefillS, Range inFlight) {
    this.eager = eager;
    this.graph = graph;
    boolean launches = eager != null && !Double.isNaN(kernels.low());
    Range counted = launches ? kernels : new Range(1, 1);
    double longest = Double.isNaN(prefillS) ? 0 : prefillS;
    double middle = (inFlight.low() + inFlight.high()) / 2;
    for (double n : spread(counted.low(), counted.high())) {
      for (double hidden : launches ? spread(0, 1) : new double[] {1}) {
        for (double p : spread(0, longest)) {
          for (double bare : launches ? BARE_SHARES : new double[] {1}) {
            add(n, hidden, p, middle, bare, launches);
          }
        }
      }
    }
    // The requests in flight hang together with nothing else here, so they need no grid of the
    // rest.
    for (double n : spread(inFlight.low(), inFlight.high())) {
      flights.add(new Truth(1, 1, 0, n, 1, 1, 1));
    }
  }

  private static double[] spread(double low, double high) {
    if (!(high > low)) {
      return new double[] {low};
    }
    double[] values = new double[STEPS];
    for (int i = 0; i < STEPS; i++) {
      values[i] = low + (high - low) * i / (STEPS - 1);
    }
    return values;
  }

  private void add(
      double n, double hidden, double prefill, double flights, double bare, boolean launches) {
    double step = Double.NaN;
    double launch = Double.NaN;
    if (launches) {
      step = eager.tpotS() * (1 - Math.min(1, prefill * eager.requestsPerS()));
      double device =
          graph == null ? step : graph.tpotS() * (1 - Math.min(1, prefill * graph.requestsPerS()));
      launch = (step - (1 - hidden) * device) / n;
      if (launch < 0) {
        return;
      }
    }
    grid.add(new Truth(n, hidden, prefill, flights, bare, step, launch));
  }

  /** All experiments, the one that narrows most first. */
  List<Outcome> outcomes() {
    List<Experiment> all = new ArrayList<>();
    Look kernels = new Look(Truth::kernels, 0, 0);
    Look hidden = new Look(Truth::hidden, HIDDEN_ACCURACY, 0);
    Look step = new Look(Truth::stepS, 0, TPOT_ACCURACY);
    if (width(grid, Truth::launchS) > 0) {
      all.add(
          new Experiment(
              "profile one decode step and count its kernels",
              "the number of kernels",
              List.of(kernels)));
      all.add(
          new Experiment(
              "sweep the concurrency in eager mode, from 1 upwards",
              "whether TPOT stays flat (host-bound) or follows the device, and the step without"
                  + " prefills beside it",
              List.of(hidden, step)));
      all.add(
          new Experiment(
              "one request at a time in eager mode",
              "the step without prefills beside it",
              List.of(step)));
      all.add(
          new Experiment(
              "time on the host how long queueing one eager step takes",
              "kernels times launch cost",
              List.of(new Look(t -> t.kernels() * t.launchS(), 0, TPOT_ACCURACY))));
      all.add(
          new Experiment(
              "musabench run EmptyLaunch",
              "the bare launch cost, of which the framework's is a multiple",
              List.of(new Look(t -> t.bareShare() * t.launchS(), 0, TPOT_ACCURACY))));
    }
    all.add(
        new Experiment(
            "the same prompts with one output token each, one at a time",
            "the prefill by itself",
            List.of(new Look(Truth::prefillS, 0, 0.05))));
    all.add(
        new Experiment(
            "log the server's number of running requests",
            "the requests in flight",
            List.of(new Look(Truth::inFlight, 0, 0.01))));
    return all.stream()
        .map(this::outcome)
        .filter(o -> !Double.isNaN(o.narrowing()))
        .sorted(Comparator.comparingDouble(Outcome::narrowing).reversed())
        .toList();
  }

  private Outcome outcome(Experiment e) {
    double launch = left(e, grid, Truth::launchS);
    double prefill = left(e, grid, Truth::prefillS);
    double inFlight = left(e, flights, Truth::inFlight);
    double sum = 0;
    int known = 0;
    for (double left : new double[] {launch, prefill, inFlight}) {
      if (!Double.isNaN(left)) {
        sum += 1 - left;
        known++;
      }
    }
    return new Outcome(e.name(), e.learns(), launch, prefill, inFlight, sum / known);
  }

  private static double width(List<Truth> grid, ToDoubleFunction<Truth> parameter) {
    double low = Double.POSITIVE_INFINITY;
    double high = Double.NEGATIVE_INFINITY;
    for (Truth t : grid) {
      low = Math.min(low, parameter.applyAsDouble(t));
      high = Math.max(high, parameter.applyAsDouble(t));
    }
    return high - low;
  }

  /** Mean width over the truths that the experiment may find, over the width now. */
  private static double left(Experiment e, List<Truth> grid, ToDoubleFunction<Truth> parameter) {
    double whole = width(grid, parameter);
    if (!(whole > 0)) {
      return Double.NaN;
    }
    // A few truths, spread over the grid, tell the mean; every one is held against the whole grid.
    int stride = Math.max(1, grid.size() / 60) | 1;
    double sum = 0;
    int count = 0;
    for (int i = 0; i < grid.size(); i += stride) {
      sum += width(agreeing(e, grid, grid.get(i)), parameter);
      count++;
    }
    return Math.min(1, sum / count / whole); // the last digits of a mean of equal widths
  }

  /** Those that the observation of {@code truth} does not tell from it. */
  private static List<Truth> agreeing(Experiment e, List<Truth> grid, Truth truth) {
    return grid.stream()
        .filter(t -> e.looks().stream().allMatch(look -> look.agrees(truth, t)))
        .toList();
  }
}
