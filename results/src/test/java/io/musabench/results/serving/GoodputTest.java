package io.musabench.results.serving;

import static io.musabench.results.serving.Fixtures.SLO;
import static io.musabench.results.serving.Fixtures.analyse;
import static io.musabench.results.serving.Fixtures.own;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class GoodputTest {
  private static final Slo TTFT = Slo.of(500, Double.NaN);

  /** A request that keeps {@link Fixtures#SLO}: TTFT 100 ms, TPOT 20 ms. */
  private static final String GOOD =
      own("\"output_tokens\":3,\"events\":[[100,1],[120,1],[140,1]]");

  private static final String ONE_TOKEN = own("\"output_tokens\":1,\"events\":[[100,1]]");

  /** TTFT 100 ms, and no end. */
  private static final String NO_END =
      "[{\"error_code\":null,\"ttft_s\":0.1,\"end_to_end_latency_s\":null,"
          + "\"number_output_tokens\":20}]";

  /** A run of which only statistics of the TTFT are known. */
  private static Run statistics(long ok, long errors, Object... statistics) {
    Run run = new Run("tool", "file");
    run.ok = ok;
    run.errors = errors;
    Reported ttft = new Reported(Formula.TTFT_FIRST_TOKEN, "ttft");
    for (int i = 0; i < statistics.length; i += 2) {
      ttft.set((String) statistics[i], ((Number) statistics[i + 1]).doubleValue());
    }
    run.add(ttft);
    return run;
  }

  private static Goodput bounds(Run run) {
    return Goodput.bounds(run, Definitions.COURSE, TTFT);
  }

  @Test
  void withoutLimitsThereIsNone() {
    Goodput ofRequests = analyse(GOOD, Definitions.COURSE, Slo.NONE).goodput();
    Goodput ofStatistics =
        Goodput.bounds(statistics(90, 10, "p50", 499), Definitions.COURSE, Slo.NONE);
    for (Goodput none : new Goodput[] {ofRequests, ofStatistics}) {
      assertThat(none.basis()).isEqualTo("none");
      assertThat(none.note()).startsWith("no SLO stated");
      assertThat(none.share()).isNaN();
    }
  }

  @Test
  void answersOfOneTokenAreCountedApart() {
    Goodput pass = analyse(GOOD + ONE_TOKEN + ONE_TOKEN).goodput();
    assertThat(pass.single()).isEqualTo(2);
    assertThat(pass.considered()).isEqualTo(3);
    assertThat(pass.share()).isEqualTo(1);
    Definitions fail = Definitions.COURSE.with(Definitions.SingleToken.FAIL);
    assertThat(analyse(GOOD + ONE_TOKEN + ONE_TOKEN, fail, SLO).goodput().share())
        .isCloseTo(1 / 3.0, within(1e-12));
  }

  @Test
  void aFormulaThatCountsTheFirstTokenJudgesAnswersOfOneTokenToo() {
    Definitions inclFirst = Definitions.COURSE.with(Formula.TPOT_INCL_FIRST);
    // 140 ms over 3 tokens keep 50 ms, 100 ms over one do not.
    Goodput goodput = analyse(GOOD + ONE_TOKEN, inclFirst, SLO).goodput();
    assertThat(goodput.good()).isEqualTo(1);
    assertThat(goodput.considered()).isEqualTo(2);
  }

  @Test
  void whatAMissingValueMeansIsUpToTheTool() {
    assertThat(analyse(NO_END).goodput().notEvaluable()).isEqualTo(1);
    Goodput aiperf = analyse(NO_END, Compat.AIPERF.definitions(), SLO).goodput();
    assertThat(aiperf.considered()).isEqualTo(1);
    assertThat(aiperf.good()).isZero();
    // A TTFT of 100 ms breaks this limit, whatever the TPOT.
    Slo broken = Slo.of(50, 50);
    assertThat(analyse(NO_END, Definitions.COURSE, broken).goodput().considered()).isEqualTo(1);
    Goodput guidellm = analyse(NO_END, Compat.GUIDELLM.definitions(), broken).goodput();
    assertThat(guidellm.considered()).isZero();
    assertThat(guidellm.notEvaluable()).isEqualTo(1);
  }

  @Test
  void percentilesBoundTheShareAndFailuresLowerIt() {
    // P50 inside proves ⌊89 · 0.5⌋ + 1 = 45 of 90, P99 outside leaves ⌈89 · 0.99⌉ = 89 of them.
    Object[] statistics = {"p50", 499, "p99", 600};
    Goodput alone = bounds(statistics(90, 0, statistics));
    assertThat(alone.low()).isEqualTo(0.5);
    assertThat(alone.high()).isCloseTo(89 / 90.0, within(1e-12));
    assertThat(alone.considered()).isEqualTo(90);
    assertThat(alone.note()).doesNotContain("many are assumed");
    Goodput failing = bounds(statistics(90, 10, statistics));
    assertThat(failing.low()).isCloseTo(0.45, within(1e-12));
    assertThat(failing.high()).isCloseTo(0.89, within(1e-12));
    assertThat(failing.considered()).isEqualTo(100);
    Definitions exclude = Definitions.COURSE.with(Definitions.Failed.EXCLUDE);
    Goodput excluded = Goodput.bounds(statistics(90, 10, statistics), exclude, TTFT);
    assertThat(excluded.low()).isEqualTo(0.5);
    assertThat(excluded.considered()).isEqualTo(90);
    Goodput unknown = bounds(statistics(-1, -1, statistics));
    assertThat(unknown.low()).isEqualTo(0.5);
    assertThat(unknown.high()).isEqualTo(0.99);
    assertThat(unknown.considered()).isEqualTo(-1);
    assertThat(unknown.note()).contains("many are assumed");
  }

  @Test
  void aRankThatIsWholeIsNotRoundedAway() {
    // In binary 100 · 0.57 is a little below 57, and 100 · 0.55 a little above 55.
    assertThat(bounds(statistics(101, 0, "p57", 499)).low()).isCloseTo(58 / 101.0, within(1e-12));
    assertThat(bounds(statistics(101, 0, "p55", 501)).high()).isCloseTo(55 / 101.0, within(1e-12));
  }

  @Test
  void theExtremesDecideWhereTheyCan() {
    Goodput all = bounds(statistics(90, 0, "p50", 300, "max", 499));
    assertThat(all.low()).isEqualTo(1);
    Goodput none = bounds(statistics(90, 0, "min", 500, "p50", 700));
    assertThat(none.high()).isZero();
    Goodput some = bounds(statistics(90, 0, "min", 400, "p50", 700));
    assertThat(some.high()).isEqualTo(0.5);
  }

  @Test
  void whereEveryRequestFailedNoneIsGood() {
    Goodput failed = bounds(statistics(0, 8));
    assertThat(failed.requestsPerS()).isZero();
    assertThat(failed.considered()).isEqualTo(8);
    assertThat(failed.high()).isCloseTo(0.3244, within(1e-4));
    assertThat(bounds(statistics(0, 0)).basis()).isEqualTo("none");
  }

  @Test
  void theToolsOwnCountIsTakenAtItsOwnLimits() {
    Run run = statistics(20, 0, "p50", 300);
    run.slo = TTFT;
    run.goodCount = 15;
    run.goodputPerS = 1.5;
    Goodput counted = bounds(run);
    assertThat(counted.basis()).isEqualTo("tool");
    assertThat(counted.share()).isEqualTo(0.75);
    assertThat(counted.requestsPerS()).isEqualTo(1.5);
    assertThat(counted.note()).isEqualTo("counted by the tool, which includes the limit");
    Definitions inclusive = Definitions.COURSE.withInclusive(true);
    assertThat(Goodput.bounds(run, inclusive, TTFT).note()).isEqualTo("counted by the tool");
    run.judgedCount = 30;
    assertThat(bounds(run).share()).isEqualTo(0.5);
    run.goodCount = 0;
    assertThat(bounds(run).share()).isZero();
    run.goodCount = Double.NaN;
    assertThat(bounds(run).basis()).isEqualTo("percentiles");
  }
}
