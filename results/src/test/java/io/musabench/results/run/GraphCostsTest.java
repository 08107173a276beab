package io.musabench.results.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.results.run.GraphCosts.BreakEven;
import io.musabench.results.run.GraphCosts.Outcome;
import io.musabench.results.run.GraphCosts.Spans;
import org.junit.jupiter.api.Test;

class GraphCostsTest {
  /** Capturing, instantiating and uploading take 1000 us together. */
  private static BreakEven breakEven(double median, double low, double high) {
    return new GraphCosts(
            Spans.UNKNOWN,
            Spans.UNKNOWN,
            new MedianInterval(median, low, high),
            700,
            250,
            50,
            Spans.UNKNOWN,
            Double.NaN,
            0,
            Spans.UNKNOWN)
        .breakEven();
  }

  @Test
  void aGraphThatSavesPaysAfterItsCostOverTheSaving() {
    assertThat(breakEven(300, 250, 400)).isEqualTo(new BreakEven(Outcome.PAYS, 4, 3, 4));
    assertThat(breakEven(2000, 2000, 2000)).isEqualTo(new BreakEven(Outcome.PAYS, 1, 1, 1));
  }

  @Test
  void aGraphThatIsNotFasterNeverPays() {
    assertThat(breakEven(-5, -9, 0).outcome()).isEqualTo(Outcome.NEVER);
    assertThat(breakEven(-5, -9, -1).replays()).isNaN();
  }

  @Test
  void whereTheIntervalHoldsZeroNothingIsDecided() {
    BreakEven even = breakEven(5, -1, 10);
    assertThat(even.outcome()).isEqualTo(Outcome.UNDECIDED);
    assertThat(even.least()).isEqualTo(100);
    assertThat(even.most()).isInfinite();
    assertThat(breakEven(5, 0, 10).outcome()).isEqualTo(Outcome.UNDECIDED);
  }

  @Test
  void whatWasNotMeasuredIsUnknown() {
    assertThat(GraphCosts.UNKNOWN.known()).isFalse();
    assertThat(GraphCosts.UNKNOWN.breakEven().outcome()).isEqualTo(Outcome.UNDECIDED);
  }

  @Test
  void fewRoundsDecideNothing() {
    MedianInterval two = MedianInterval.of(new double[] {300, 310});
    assertThat(two.median()).isEqualTo(305);
    BreakEven even = breakEven(two.median(), two.low(), two.high());
    assertThat(even.outcome()).isEqualTo(Outcome.UNDECIDED);
    assertThat(even.least()).isNaN();
    MedianInterval five = MedianInterval.of(new double[] {5, 1, 4, 2, 3});
    assertThat(five).isEqualTo(new MedianInterval(3, 1, 5));
  }
}
