package io.musabench.results.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.DoubleStream;

/** Collects the samples of one quantity of one case, fork by fork. */
final class Forks {
  private final Map<Integer, DoubleStream.Builder> samples = new TreeMap<>();
  private Map<Integer, DoubleStream.Builder> turns = Map.of();

  void add(int fork, double value) {
    samples.computeIfAbsent(fork, f -> DoubleStream.builder()).add(value);
  }

  /**
   * Says in which turns the samples were taken.
   *
   * @param turnOfSample as many values a fork, in the same order; where there are more or fewer,
   *     nothing is known of that fork's turns
   */
  void takenIn(Forks turnOfSample) {
    turns = turnOfSample.samples;
  }

  /** A fork that exists, whether or not a sample of it follows. */
  void open(int fork) {
    samples.computeIfAbsent(fork, f -> DoubleStream.builder());
  }

  boolean isEmpty() {
    return samples.isEmpty();
  }

  /**
   * The forks' medians.
   *
   * @param toUnit what a value is multiplied by
   * @param inverse whether the values are rates, whose reciprocals are meant
   * @param what what the values are, for the message: {@code time} or {@code clock}
   * @throws IllegalArgumentException with a line for the user if a fork has no samples, or one that
   *     is not a positive number
   */
  List<ForkMedian> medians(double toUnit, boolean inverse, String what) {
    List<ForkMedian> medians = new ArrayList<>();
    samples.forEach(
        (fork, builder) -> {
          double[] values = builder.build().toArray();
          if (values.length == 0) {
            throw new IllegalArgumentException("fork " + fork + " has no samples");
          }
          for (double value : values) {
            if (!(value > 0 && value < Double.POSITIVE_INFINITY)) {
              throw new IllegalArgumentException(
                  "fork " + fork + " has the value " + value + ", which is no " + what);
            }
          }
          double[] times = Arrays.stream(values).map(v -> toUnit * (inverse ? 1 / v : v)).toArray();
          double[] inTurn = turns.getOrDefault(fork, DoubleStream.builder()).build().toArray();
          medians.add(
              inTurn.length == times.length ? ForkMedian.of(times, inTurn) : ForkMedian.of(times));
        });
    return medians;
  }
}
