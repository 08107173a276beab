package io.musabench.results.calibration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.calibration.Scenario.Outcome;
import io.musabench.results.compare.Verdict;
import java.util.Map;
import org.apache.commons.statistics.distribution.BetaDistribution;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The promised error rates, by simulation. Seeds are fixed, so a run is repeatable; numbers of
 * draws are such that an observed rate within a bound proves the true one is, at 99 %.
 */
class CalibrationTest {
  private static final long SEED = 20261129;
  private static final double CONFIDENCE = 0.99;

  /** Clopper and Pearson's upper bound on a rate that showed {@code hits} times. */
  private static double upperBound(int hits, int trials) {
    return hits == trials
        ? 1
        : BetaDistribution.of(hits + 1, trials - hits).inverseCumulativeProbability(CONFIDENCE);
  }

  private static double lowerBound(int hits, int trials) {
    return 1 - upperBound(trials - hits, trials);
  }

  private static Map<Rule, Outcome> run(
      double betweenPercent, double driftPercent, int forks, double changePercent, int trials) {
    Noise noise = new Noise(betweenPercent / 100, 0.005, driftPercent / 100, 0, 20);
    return new Scenario(noise, forks, changePercent / 100, SEED)
        .run(
            trials,
            Rule.COMPARE,
            Rule.AB,
            Rule.AB_IN_TURNS,
            Rule.NVBENCH_LEGACY,
            Rule.JMH_ERROR_BARS);
  }

  /** Something that comes and goes within a fork, ten times as large as the forks' own noise. */
  private static Map<Rule, Outcome> runInGusts(double changePercent, int trials) {
    return new Scenario(new Noise(0.005, 0.005, 0, 0.05, 20), 10, changePercent / 100, SEED)
        .run(trials, Rule.AB, Rule.AB_IN_TURNS);
  }

  @Test
  void noChangeIsCalledAChangeInAtMostOneOfAHundredDraws() {
    Map<Rule, Outcome> steady = run(0.5, 0, 10, 0, 1000);
    assertThat(upperBound(steady.get(Rule.COMPARE).changed(), 1000)).isLessThan(0.01);
    assertThat(upperBound(steady.get(Rule.AB).changed(), 1000)).isLessThan(0.01);
    assertThat(upperBound(steady.get(Rule.AB_IN_TURNS).changed(), 1000)).isLessThan(0.01);
    // The same draws, so that the model is known to be one in which rules can fail.
    assertThat(steady.get(Rule.NVBENCH_LEGACY).share(Verdict.SLOWER)).isGreaterThan(0.1);
    assertThat(steady.get(Rule.JMH_ERROR_BARS).share(Verdict.SLOWER)).isGreaterThan(0.03);
  }

  @Test
  void driftBetweenBlocksRaisesNoAlarmInPairs() {
    Map<Rule, Outcome> drifting = run(0.5, 1, 10, 0, 1000);
    assertThat(upperBound(drifting.get(Rule.AB).changed(), 1000)).isLessThan(0.01);
    assertThat(upperBound(drifting.get(Rule.AB_IN_TURNS).changed(), 1000)).isLessThan(0.01);
    // Runs that follow each other cannot tell drift from change; that is what ab is for.
    assertThat(drifting.get(Rule.COMPARE).changed()).isGreaterThan(100);
  }

  @Test
  void whatComesAndGoesWithinAForkCancelsInTurnsAlone() {
    Map<Rule, Outcome> same = runInGusts(0, 1000);
    assertThat(upperBound(same.get(Rule.AB_IN_TURNS).changed(), 1000)).isLessThan(0.01);
    assertThat(same.get(Rule.AB_IN_TURNS).share(Verdict.SAME)).isGreaterThan(0.7);
    assertThat(same.get(Rule.AB).share(Verdict.UNDECIDED)).isGreaterThan(0.9);
    Map<Rule, Outcome> slower = runInGusts(3, 400);
    assertThat(lowerBound(hits(slower, Rule.AB_IN_TURNS, 400), 400)).isGreaterThan(0.95);
    assertThat(slower.get(Rule.AB).share(Verdict.SLOWER)).isLessThan(0.5);
  }

  /** What a fork has for itself, such as where its memory lies, is in all of its turns. */
  @Test
  void theNoiseOfForksThemselvesDoesNotCancelInTurns() {
    Map<Rule, Outcome> noisy = run(2, 0, 10, 3, 400);
    assertThat(noisy.get(Rule.AB_IN_TURNS).share(Verdict.UNDECIDED)).isGreaterThan(0.5);
    assertThat(noisy.get(Rule.AB_IN_TURNS).share(Verdict.UNDECIDED))
        .isCloseTo(noisy.get(Rule.AB).share(Verdict.UNDECIDED), within(0.1));
  }

  @Test
  void threePerCentAreFoundByTenForks() {
    Map<Rule, Outcome> slower = run(0.5, 0, 10, 3, 400);
    assertThat(lowerBound(hits(slower, Rule.COMPARE, 400), 400)).isGreaterThan(0.95);
    assertThat(lowerBound(hits(slower, Rule.AB, 400), 400)).isGreaterThan(0.95);
    Map<Rule, Outcome> drifting = run(0.5, 1, 10, 3, 400);
    assertThat(lowerBound(hits(drifting, Rule.AB, 400), 400)).isGreaterThan(0.95);
  }

  private static int hits(Map<Rule, Outcome> outcomes, Rule rule, int trials) {
    return (int) Math.round(trials * outcomes.get(rule).share(Verdict.SLOWER));
  }

  @Test
  void noChangeIsShownToBeNoneByTenForks() {
    Map<Rule, Outcome> steady = run(0.5, 0, 10, 0, 400);
    assertThat(steady.get(Rule.COMPARE).share(Verdict.SAME)).isGreaterThan(0.9);
    assertThat(steady.get(Rule.AB).share(Verdict.SAME)).isGreaterThan(0.85);
  }

  @ParameterizedTest
  @CsvSource({"0.5, 4", "2, 4", "2, 5", "2, 10"})
  void noiseAndFewForksRaiseNoAlarms(double betweenPercent, int forks) {
    Map<Rule, Outcome> noisy = run(betweenPercent, 0, forks, 0, 4000);
    assertThat(upperBound(noisy.get(Rule.COMPARE).changed(), 4000)).isLessThan(0.01);
    assertThat(upperBound(noisy.get(Rule.AB).changed(), 4000)).isLessThan(0.01);
    assertThat(upperBound(noisy.get(Rule.AB_IN_TURNS).changed(), 4000)).isLessThan(0.01);
  }

  /** Noise so large that epsilon is nothing beside it: only Student's t holds the rate. */
  @ParameterizedTest
  @ValueSource(ints = {4, 10})
  void withoutTheHelpOfEpsilonTheRateIsStillOnePerCent(int forks) {
    Map<Rule, Outcome> wild = run(30, 0, forks, 0, 4000);
    assertThat(lowerBound(wild.get(Rule.COMPARE).changed(), 4000)).isLessThan(0.01);
    assertThat(lowerBound(wild.get(Rule.AB).changed(), 4000)).isLessThan(0.01);
    assertThat(lowerBound(wild.get(Rule.AB_IN_TURNS).changed(), 4000)).isLessThan(0.01);
  }
}
