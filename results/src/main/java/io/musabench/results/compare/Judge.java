package io.musabench.results.compare;

import io.musabench.results.stats.Interval;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * Turns estimates into verdicts.
 *
 * <p>SLOWER and FASTER are alarms: the chance of any false one among all cases together is held
 * below {@code alpha} by Holm's correction, for a true ratio anywhere within the tolerance. SAME is
 * a finding as well: the 95 % interval must lie within the tolerance. Whatever is neither is
 * UNDECIDED.
 *
 * @param alpha chance of a false alarm, between 0 and 1
 */
public record Judge(double alpha) {
  /** One false alarm in a hundred comparisons of two whole runs. */
  public static final double ALPHA = 0.01;

  /** Level of the interval that is printed and that SAME must fit into the tolerance. */
  public static final double LEVEL = 0.95;

  /** With fewer forks the spread between them is a guess. */
  public static final int LEAST_FORKS = 4;

  /** Nobody waits for more forks than this. */
  private static final int MOST_FORKS = 1000;

  /** With the usual chance of a false alarm. */
  public Judge() {
    this(ALPHA);
  }

  /** Checks alpha. */
  public Judge {
    if (!(alpha > 0 && alpha < 1)) {
      throw new IllegalArgumentException("alpha must lie between 0 and 1, not " + alpha);
    }
  }

  /**
   * A case to judge.
   *
   * @param ratio the estimate
   * @param tolerance what does not count
   */
  public record Question(LogRatio ratio, Tolerance tolerance) {}

  /**
   * A judged case.
   *
   * @param verdict SLOWER, FASTER, SAME or UNDECIDED
   * @param p Holm's adjusted probability of such an estimate if nothing had changed
   * @param moreForks for UNDECIDED, about how many more forks a side would decide if the estimate
   *     stays as it is; empty if more than a thousand
   */
  public record Answer(Verdict verdict, double p, OptionalInt moreForks) {}

  /** Judges the cases of one comparison together; answers are in the order of the questions. */
  public List<Answer> judge(List<Question> questions) {
    double[] p = questions.stream().mapToDouble(q -> q.ratio.tail(q.tolerance.log())).toArray();
    double[] adjusted = holm(p);
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < adjusted.length; i++) {
      answers.add(answer(questions.get(i), adjusted[i], questions.size()));
    }
    return answers;
  }

  /** Judges a single case. */
  public Answer judge(LogRatio ratio, Tolerance tolerance) {
    return judge(List.of(new Question(ratio, tolerance))).get(0);
  }

  private Answer answer(Question question, double p, int cases) {
    LogRatio ratio = question.ratio;
    double bound = question.tolerance.log();
    if (p <= alpha) {
      Verdict verdict = ratio.value() > 0 ? Verdict.SLOWER : Verdict.FASTER;
      return new Answer(verdict, p, OptionalInt.empty());
    }
    if (same(ratio, bound)) {
      return new Answer(Verdict.SAME, p, OptionalInt.empty());
    }
    return new Answer(Verdict.UNDECIDED, p, moreForks(ratio, bound, cases));
  }

  /** Whether the whole interval lies within the tolerance. */
  static boolean same(LogRatio ratio, double bound) {
    Interval interval = ratio.ratio(LEVEL);
    return interval.low() > Math.exp(-bound) && interval.high() < Math.exp(bound);
  }

  /** Bonferroni's share of alpha, since it is not known where in Holm's order a case will stand. */
  private OptionalInt moreForks(LogRatio ratio, double bound, int cases) {
    int tooFew = ratio.forks();
    int enough = MOST_FORKS;
    if (tooFew >= enough || !decided(ratio.withForks(enough), bound, cases)) {
      return OptionalInt.empty();
    }
    while (enough - tooFew > 1) {
      int middle = (tooFew + enough) / 2;
      if (decided(ratio.withForks(middle), bound, cases)) {
        enough = middle;
      } else {
        tooFew = middle;
      }
    }
    return OptionalInt.of(enough - ratio.forks());
  }

  private boolean decided(LogRatio ratio, double bound, int cases) {
    return same(ratio, bound) || ratio.tail(bound) <= alpha / cases;
  }

  /**
   * Holm's step-down correction (Scandinavian Journal of Statistics 6, 1979): comparing the
   * adjusted probabilities with alpha keeps the chance of any false alarm below alpha, however the
   * cases depend on each other.
   */
  static double[] holm(double[] p) {
    List<Integer> order =
        IntStream.range(0, p.length).boxed().sorted(Comparator.comparingDouble(i -> p[i])).toList();
    double[] adjusted = new double[p.length];
    double least = 0;
    for (int rank = 0; rank < p.length; rank++) {
      int i = order.get(rank);
      least = Math.max(least, Math.min(1, (p.length - rank) * p[i]));
      adjusted[i] = least;
    }
    return adjusted;
  }
}
