package io.musabench.results.compare;

import io.musabench.results.stats.Stats;
import java.util.List;
import org.apache.commons.statistics.distribution.TDistribution;

/**
 * Where the forks of one side lie: the mean of their log medians, and how sure that is.
 *
 * <p>The variance is that of a hierarchical bootstrap, which draws forks with replacement and in
 * each drawn fork its samples. For a mean over forks that variance has a closed form, {@code (s² +
 * v) / n} with {@code s²} the variance between the forks' log medians and {@code v} the mean of the
 * variances of their medians under resampling, so nothing is drawn: no seed, no error of the
 * simulation, and ten thousand cases take a second. (The measured median stands for the mean of the
 * resampled ones, which hardly differs.) A plain bootstrap has {@code s²} with {@code n} in the
 * denominator, which is a quarter too small for four forks; here it is {@code n - 1}.
 *
 * @param log mean of the forks' log medians
 * @param variance variance of {@code log}
 * @param forks number of forks, at least 1
 */
record Centre(double log, double variance, int forks) {

  static Centre of(List<ForkMedian> forks) {
    double[] logs = forks.stream().mapToDouble(ForkMedian::log).toArray();
    double within = forks.stream().mapToDouble(ForkMedian::variance).average().orElse(0);
    return new Centre(Stats.mean(logs), (Stats.variance(logs) + within) / logs.length, logs.length);
  }

  /** Half the width of the interval of the given level, as a fraction of the centre. */
  double halfWidth(double level) {
    if (forks < 2) {
      return Double.NaN;
    }
    double t = TDistribution.of(forks - 1).inverseSurvivalProbability((1 - level) / 2);
    return Math.expm1(t * Math.sqrt(variance));
  }
}
