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
  private final Map<Integer, DoubleStream.Builder> turns = new TreeMap<>();

  void add(int fork, double value) {
    samples.computeIfAbsent(fork, f -> DoubleStream.builder()).add(value);
  }

  /** The turn in which the next sample without one was taken; in the order of the samples. */
  void addTurn(int fork, double turn) {
    turns.computeIfAbsent(fork, f -> DoubleStream.builder()).add(turn);
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
