package io.musabench.results.calibration;

import io.musabench.results.compare.Verdict;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * One setting of the simulation.
 *
 * @param noise the noise
 * @param forks forks a side
 * @param change true change of the candidate, as a fraction; 0.03 is 3 % slower
 * @param seed seed of the draws; the same seed gives the same verdicts
 */
public record Scenario(Noise noise, int forks, double change, long seed) {

  /**
   * How often a rule gave which verdict.
   *
   * @param trials number of draws
   * @param counts draws by verdict; a verdict never given is absent
   */
  public record Outcome(int trials, Map<Verdict, Integer> counts) {
    /** Share of one verdict. */
    public double share(Verdict verdict) {
      return (double) counts.getOrDefault(verdict, 0) / trials;
    }

    /** Draws that were called slower or faster. */
    public int changed() {
      return counts.getOrDefault(Verdict.SLOWER, 0) + counts.getOrDefault(Verdict.FASTER, 0);
    }
  }

  /**
   * Lets rules judge the same draws. {@link Rule#AB} sees forks that alternate, {@link
   * Rule#AB_IN_TURNS} forks that take turns, the others runs that follow each other; without drift
   * and gusts there is no difference.
   */
  public Map<Rule, Outcome> run(int trials, Rule... rules) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Rule, Map<Verdict, Integer>> counts = new EnumMap<>(Rule.class);
    for (int trial = 0; trial < trials; trial++) {
      SplittableRandom draw = random.split();
      double[][] base = noise.run(draw, forks, 0);
      double[][] candidate = noise.run(draw, forks, change);
      double[][][] pairs = noise.pairs(draw, forks, change);
      double[][][] turns = noise.turns(draw, forks, change);
      for (Rule rule : rules) {
        Verdict verdict =
            switch (rule) {
              case AB -> rule.verdict(pairs[0], pairs[1]);
              case AB_IN_TURNS -> rule.verdict(turns[0], turns[1]);
              default -> rule.verdict(base, candidate);
            };
        counts
            .computeIfAbsent(rule, r -> new EnumMap<>(Verdict.class))
            .merge(verdict, 1, Integer::sum);
      }
    }
    Map<Rule, Outcome> outcomes = new EnumMap<>(Rule.class);
    counts.forEach((rule, byVerdict) -> outcomes.put(rule, new Outcome(trials, byVerdict)));
    return outcomes;
  }
}
