package io.musabench.results.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.Environment.Clocks;
import io.musabench.results.run.Environment.DeviceInfo;
import io.musabench.results.run.RunData;
import io.musabench.results.run.Status;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CardsReportTest {
  private static final Instant START = Instant.parse("2026-01-02T03:04:05Z");

  /** A card with one case a time, in microseconds; its samples lie within a fraction of it. */
  private static RunData card(int number, double spread, double... times) {
    Environment environment =
        Environment.collect("musa", START, Path.of("/"))
            .withDevice(new DeviceInfo("MTT S5000", "MUSA", number, 56, 80L << 30, "5.1", "5.1"))
            .withVersions(Map.of("gpu_uuid", "uuid-" + number))
            .withClocksAtEnd(
                new Clocks(
                    null, 1450.0, null, 312.0, 61.0, 1500.0, null, null, 2L, List.of(), "libmtml"));
    List<CaseResult> cases = new ArrayList<>();
    for (int i = 0; i < times.length; i++) {
      CaseResult.Builder c = CaseResult.of("group.Case" + i, Map.of());
      cases.add(
          Double.isNaN(times[i])
              ? c.notOk(Status.FAILED, "it hung").build()
              : c.deviceTimesUs(
                      new double[] {
                        times[i] * (1 - spread), times[i], times[i], times[i] * (1 + spread)
                      })
                  .build());
    }
    return new RunData("run-" + number, environment, cases);
  }

  private static List<Integer> odd(List<RunData> cards) {
    return new CardsReport(cards).odd().stream().map(CardsReport.Odd::number).toList();
  }

  @Test
  void namesTheCardThatIsSlowerThanTheRest() {
    List<RunData> cards =
        List.of(
            card(0, 0.001, 100, 50),
            card(1, 0.001, 101, 50.2),
            card(2, 0.001, 120, 50.1),
            card(3, 0.001, 99.5, 49.9));
    assertThat(odd(cards)).containsExactly(2);
    assertThat(new CardsReport(cards).text())
        .contains("card 2 +19.4 %")
        .contains("card 2 differs from the rest in 1 of 2 cases: slower by 19.4 % (median)")
        .contains("1450 MHz", "1500 MHz", "61 C", "312 W", "uuid-3", "run-0");
  }

  @Test
  void namesAFastCardToo() {
    List<RunData> cards = List.of(card(0, 0, 100), card(1, 0, 100), card(5, 0, 90));
    assertThat(odd(cards)).containsExactly(5);
    assertThat(new CardsReport(cards).text())
        .contains("card 5 differs from the rest", "faster by 10.0 %");
  }

  @Test
  void callsNothingDifferentThatIsWithinThreePercentOrTheNoise() {
    assertThat(odd(List.of(card(0, 0, 100), card(1, 0, 102.9), card(2, 0, 100)))).isEmpty();
    List<RunData> noisy = List.of(card(0, 0.3, 100), card(1, 0.3, 115), card(2, 0.3, 100));
    assertThat(odd(noisy)).isEmpty();
    assertThat(new CardsReport(noisy).text()).contains("no card differs");
  }

  @Test
  void oneNoisyCardDoesNotHideThatItIsSlow() {
    List<RunData> cards = List.of(card(0, 0, 100), card(1, 0.5, 130), card(2, 0, 100));
    assertThat(odd(cards)).containsExactly(1);
  }

  @Test
  void blamesNeitherOfTwo() {
    List<RunData> cards = List.of(card(0, 0, 100), card(1, 0, 120));
    assertThat(odd(cards)).isEmpty();
    assertThat(new CardsReport(cards).text())
        .contains("20.0 %", "nobody can tell which one is odd");
  }

  @Test
  void aCaseThatFailedOnACardIsADashAndLeavesTooFewToJudge() {
    List<RunData> cards =
        List.of(card(0, 0, 100, 10), card(1, 0, Double.NaN, 10), card(2, 0, 130, 10));
    assertThat(odd(cards)).isEmpty();
    assertThat(new CardsReport(cards).text()).contains("30.0 %");
  }

  @Test
  void runsOfOneNameAndDifferentNumbersAreCards() {
    assertThat(CardsReport.areCards(List.of(card(0, 0, 1), card(3, 0, 1)))).isTrue();
    assertThat(CardsReport.areCards(List.of(card(0, 0, 1)))).isFalse();
    assertThat(CardsReport.areCards(List.of(card(1, 0, 1), card(1, 0, 1)))).isFalse();
    RunData one = card(0, 0, 1);
    DeviceInfo other = new DeviceInfo("MTT S4000", "MUSA", 1, 48, 48L << 30, "5.1", "5.1");
    assertThat(
            CardsReport.areCards(
                List.of(one, new RunData("b", one.environment().withDevice(other), one.cases()))))
        .isFalse();
  }
}
