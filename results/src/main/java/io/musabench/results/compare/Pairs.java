package io.musabench.results.compare;

import io.musabench.results.stats.Stats;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Forks of two settings that were measured in alternation, A B B A and so on, so that fork i of one
 * was measured next to fork i of the other. What drifts slowly is the same for both of a pair, and
 * as the order turns over from pair to pair, what drifts within a pair cancels between pairs.
 *
 * <p>Where the forks of a pair ran side by side in short turns, each turn is held against the one
 * next to it, and the pair's ratio is the median of theirs: then what comes and goes within a
 * second, such as another virtual machine's use of the memory, cancels too.
 *
 * @param logRatios log ratio of each pair, second setting over first
 */
public record Pairs(List<Double> logRatios) {
  /** Copies the list. */
  public Pairs {
    logRatios = List.copyOf(logRatios);
  }

  /**
   * Pairs forks by their number.
   *
   * @throws IllegalArgumentException if one side has more forks than the other
   */
  public static Pairs of(List<ForkMedian> first, List<ForkMedian> second) {
    if (first.size() != second.size()) {
      throw new IllegalArgumentException(
          "Forks come in pairs, not " + first.size() + " and " + second.size());
    }
    return new Pairs(
        IntStream.range(0, first.size())
            .mapToObj(i -> logRatio(first.get(i), second.get(i)))
            .toList());
  }

  private static double logRatio(ForkMedian first, ForkMedian second) {
    double[] ofTurns =
        first.turns().keySet().stream()
            .filter(second.turns()::containsKey)
            .mapToDouble(turn -> second.turns().get(turn) - first.turns().get(turn))
            .toArray();
    return ofTurns.length == 0 ? second.log() - first.log() : Stats.median(ofTurns);
  }

  /** Whether the first setting goes first in a pair: it does in every other one, A B B A. */
  public static boolean firstGoesFirst(int pair) {
    return pair % 2 == 0;
  }

  /** The estimate from the pairs, at least two. */
  public LogRatio ratio() {
    return LogRatio.ofPairs(logRatios.stream().mapToDouble(Double::doubleValue).toArray());
  }
}
