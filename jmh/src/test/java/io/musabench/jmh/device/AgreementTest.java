package io.musabench.jmh.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class AgreementTest {
  private static Agreement compare(double[] expected, float... actual) {
    return Agreement.compare("x", expected, actual);
  }

  @Test
  void shouldReportTheWorstErrorAsPartOfWhatIsAllowed() {
    Agreement agreement = compare(new double[] {1, -1}, 1.0125f, -1f);
    assertThat(agreement.values()).isEqualTo(2);
    assertThat(agreement.worst()).isBetween(0.49, 0.51);
  }

  @Test
  void shouldNotLetSmallValuesHideBehindAnAbsoluteTolerance() {
    // Averages over thousands of keys are this small; a fixed 1.5e-2 would take zeros for right.
    assertThatThrownBy(() -> compare(new double[] {0.01, -0.01}, 0f, 0f))
        .isInstanceOf(WrongResultException.class);
  }

  @Test
  void shouldRefuseWhatIsNotANumber() {
    assertThatThrownBy(() -> compare(new double[] {1}, Float.NaN))
        .isInstanceOf(WrongResultException.class);
  }

  @Test
  void shouldTakeEqualInfinitiesForEqual() {
    assertThat(compare(new double[] {Double.NEGATIVE_INFINITY}, Float.NEGATIVE_INFINITY).worst())
        .isZero();
    assertThatThrownBy(() -> compare(new double[] {Double.NEGATIVE_INFINITY}, -1e30f))
        .isInstanceOf(WrongResultException.class);
  }

  @Test
  void shouldChooseTheEndsAndDifferentRows() {
    assertThat(Rows.some(1000, 4)).hasSize(4).contains(0, 999).doesNotHaveDuplicates();
    assertThat(Rows.some(3, 4)).containsExactly(0, 1, 2);
    assertThat(Rows.some(4, 4)).containsExactly(0, 1, 2, 3);
    assertThat(Rows.some(0, 4)).isEmpty();
  }
}
