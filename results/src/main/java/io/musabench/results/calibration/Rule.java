package io.musabench.results.calibration;

import io.musabench.results.compare.ForkMedian;
import io.musabench.results.compare.Judge;
import io.musabench.results.compare.LogRatio;
import io.musabench.results.compare.Pairs;
import io.musabench.results.compare.Tolerance;
import io.musabench.results.compare.Verdict;
import io.musabench.results.stats.Stats;
import java.util.Arrays;
import java.util.List;
import org.apache.commons.statistics.descriptive.StandardDeviation;
import org.apache.commons.statistics.distribution.TDistribution;
import org.apache.commons.statistics.inference.MannWhitneyUTest;

/** Ways to say whether a candidate is slower, ours and others'. */
public enum Rule {
  /** {@code musabench compare}. */
  COMPARE("compare") {
    @Override
    Verdict verdict(double[][] base, double[][] candidate) {
      return judge(LogRatio.ofForks(medians(base), medians(candidate)));
    }
  },
  /** {@code musabench ab --turns=samples}: the forks of a pair run at once and measure in turns. */
  AB_IN_TURNS("ab in turns") {
    @Override
    Verdict verdict(double[][] base, double[][] candidate) {
      return judge(Pairs.of(ofTurns(base), ofTurns(candidate)).ratio());
    }
  },
  /** {@code musabench ab --turns=forks}: the forks of both sides are pairs. */
  AB("ab by forks") {
    @Override
    Verdict verdict(double[][] base, double[][] candidate) {
      return judge(Pairs.of(medians(base), medians(candidate)).ratio());
    }
  },
  /**
   * The robust rule of {@code nvbench_compare}: the intervals from the minimum to the upper
   * quartile are at least 0.5 % apart. It knows one process a side, so it gets the first fork; its
   * confirmation in cycles passes, as the clock of this model is steady.
   */
  NVBENCH("NVBench robust") {
    @Override
    Verdict verdict(double[][] base, double[][] candidate) {
      double gapSlower = Stats.quantile(candidate[0], 0) / Stats.quantile(base[0], 0.75) - 1;
      double gapFaster = Stats.quantile(base[0], 0) / Stats.quantile(candidate[0], 0.75) - 1;
      return changed(gapSlower >= NVBENCH_GAP || gapFaster >= NVBENCH_GAP, base, candidate);
    }
  },
  /**
   * The older rule of {@code nvbench_compare}: means differ by more than the smaller relative
   * standard deviation. One process a side as well.
   */
  NVBENCH_LEGACY("NVBench legacy") {
    @Override
    Verdict verdict(double[][] base, double[][] candidate) {
      double noise = Math.min(relativeDeviation(base[0]), relativeDeviation(candidate[0]));
      double change = Stats.mean(candidate[0]) / Stats.mean(base[0]) - 1;
      return changed(Math.abs(change) > noise, base, candidate);
    }
  },
  /** Mann and Whitney's test over the samples of all forks, at 5 %: benchstat's test. */
  POOLED_MANN_WHITNEY("pooled Mann-Whitney") {
    @Override
    Verdict verdict(double[][] base, double[][] candidate) {
      double p = MannWhitneyUTest.withDefaults().test(pool(base), pool(candidate)).getPValue();
      return changed(p < MANN_WHITNEY_ALPHA, base, candidate);
    }
  },
  /** JMH's error bars, the 99.9 % intervals of the means over all iterations, do not overlap. */
  JMH_ERROR_BARS("JMH error bars") {
    @Override
    Verdict verdict(double[][] base, double[][] candidate) {
      double[] a = pool(base);
      double[] b = pool(candidate);
      double distance = Math.abs(Stats.mean(a) - Stats.mean(b));
      return changed(distance > errorBar(a) + errorBar(b), base, candidate);
    }
  };

  private static final double NVBENCH_GAP = 0.005;
  private static final double MANN_WHITNEY_ALPHA = 0.05;
  private static final double JMH_LEVEL = 0.999;
  private static final Tolerance TOLERANCE = Tolerance.of(Tolerance.LEAST, Double.NaN, 0);

  private final String title;

  Rule(String title) {
    this.title = title;
  }

  /** Name in tables. */
  public String title() {
    return title;
  }

  /**
   * SLOWER, FASTER, or something else.
   *
   * @param base samples of the base's forks
   * @param candidate samples of the candidate's forks, as many
   */
  abstract Verdict verdict(double[][] base, double[][] candidate);

  private static Verdict judge(LogRatio ratio) {
    return new Judge().judge(ratio, TOLERANCE).verdict();
  }

  private static List<ForkMedian> medians(double[][] forks) {
    return Arrays.stream(forks).map(ForkMedian::of).toList();
  }

  private static List<ForkMedian> ofTurns(double[][] forks) {
    return Arrays.stream(forks).map(f -> ForkMedian.of(f, Noise.turns(f.length))).toList();
  }

  private static double[] pool(double[][] forks) {
    return Arrays.stream(forks).flatMapToDouble(Arrays::stream).toArray();
  }

  private static double relativeDeviation(double[] sample) {
    return StandardDeviation.of(sample).getAsDouble() / Stats.mean(sample);
  }

  private static double errorBar(double[] sample) {
    double t =
        TDistribution.of(sample.length - 1.0).inverseSurvivalProbability((1 - JMH_LEVEL) / 2);
    return t * StandardDeviation.of(sample).getAsDouble() / Math.sqrt(sample.length);
  }

  private static Verdict changed(boolean changed, double[][] base, double[][] candidate) {
    if (!changed) {
      return Verdict.UNDECIDED;
    }
    return Stats.mean(pool(candidate)) > Stats.mean(pool(base)) ? Verdict.SLOWER : Verdict.FASTER;
  }
}
