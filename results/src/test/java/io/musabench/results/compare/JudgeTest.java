package io.musabench.results.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.compare.Judge.Answer;
import io.musabench.results.compare.Judge.Question;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class JudgeTest {
  private static final Tolerance ONE_PERCENT = Tolerance.of(0.01, Double.NaN, 0);
  private static final Judge JUDGE = new Judge();

  private static LogRatio ratio(double percent, double errorPercent) {
    return new LogRatio(Math.log1p(percent / 100), errorPercent / 100, 18, 10);
  }

  private static Answer judge(double percent, double errorPercent) {
    return JUDGE.judge(ratio(percent, errorPercent), ONE_PERCENT);
  }

  @Test
  void slowerAndFasterMustBeBeyondTheTolerance() {
    assertThat(judge(3, 0.3).verdict()).isEqualTo(Verdict.SLOWER);
    assertThat(judge(-3, 0.3).verdict()).isEqualTo(Verdict.FASTER);
    assertThat(judge(1.5, 0.01).verdict()).isEqualTo(Verdict.SLOWER);
    assertThat(judge(0.9, 0.01).verdict()).isEqualTo(Verdict.SAME);
  }

  @Test
  void sameIsEarnedNotTheDefault() {
    assertThat(judge(0, 0.2).verdict()).isEqualTo(Verdict.SAME);
    assertThat(judge(0, 1.0).verdict()).isEqualTo(Verdict.UNDECIDED);
    assertThat(judge(0.8, 0.2).verdict()).isEqualTo(Verdict.UNDECIDED);
  }

  @Test
  void undecidedSaysHowManyForksWouldDecide() {
    int more = judge(0, 0.6).moreForks().orElseThrow();
    LogRatio before = ratio(0, 0.6).withForks(10 + more - 1);
    LogRatio after = ratio(0, 0.6).withForks(10 + more);
    assertThat(JUDGE.judge(before, ONE_PERCENT).verdict()).isEqualTo(Verdict.UNDECIDED);
    assertThat(JUDGE.judge(after, ONE_PERCENT).verdict()).isEqualTo(Verdict.SAME);
    // A change of exactly the tolerance stays between the verdicts.
    assertThat(JUDGE.judge(ratio(1, 0.5), ONE_PERCENT).moreForks()).isEmpty();
    for (double value : new double[] {ONE_PERCENT.log(), -ONE_PERCENT.log()}) {
      LogRatio certain = new LogRatio(value, 0, 18, 10);
      assertThat(JUDGE.judge(certain, ONE_PERCENT).verdict()).isEqualTo(Verdict.UNDECIDED);
    }
  }

  @Test
  void holmAdjustsAsR() {
    // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
    assertThat(Judge.holm(new double[] {0.01, 0.04, 0.03, 0.005}))
        .containsExactly(new double[] {0.03, 0.06, 0.06, 0.02}, within(1e-12));
    assertThat(Judge.holm(new double[0])).isEmpty();
  }

  @Test
  void anAlarmAmongManyCasesNeedsMoreEvidence() {
    Question question = new Question(ratio(2, 0.3), ONE_PERCENT);
    assertThat(JUDGE.judge(question.ratio(), ONE_PERCENT).verdict()).isEqualTo(Verdict.SLOWER);
    List<Answer> many = JUDGE.judge(Collections.nCopies(100, question));
    assertThat(many).allMatch(a -> a.verdict() == Verdict.UNDECIDED && a.moreForks().isPresent());
  }

  @Test
  void toleranceIsTheLargestReason() {
    assertThat(Tolerance.of(0.01, Double.NaN, 0).reason()).isEqualTo("least");
    assertThat(Tolerance.of(0.01, 0.02, 0.03)).isEqualTo(new Tolerance(0.04, "noise"));
    assertThat(Tolerance.of(0.01, 0.001, 0.03)).isEqualTo(new Tolerance(0.03, "clock"));
  }

  @Test
  void alphaIsAProbability() {
    assertThatThrownBy(() -> new Judge(0)).hasMessageContaining("alpha");
    assertThatThrownBy(() -> new Judge(Double.NaN)).hasMessageContaining("alpha");
  }
}
