package io.musabench.results.tpot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.Scale;
import org.junit.jupiter.api.Test;

class HostTermsTest {
  /** A step of {@code kernels} seconds with {@code batch} requests that took {@code measured}. */
  private record Step(double kernels, int batch, double measured) {
    double error(HostTerms t) {
      return (kernels + t.gapSeconds() + batch * t.perRequestSeconds()) / measured - 1;
    }
  }

  /** Four groups of batches 1 to 64. */
  private static List<List<Step>> steps(double gap, double perRequest, double disturbance) {
    List<List<Step>> groups = new ArrayList<>();
    for (int g = 0; g < 4; g++) {
      List<Step> group = new ArrayList<>();
      for (int batch = 1; batch <= 64; batch *= 2) {
        double kernels = 0.01 * (1 + g) + 1e-4 * batch;
        double factor = batch == 8 && g == 2 ? 1 + disturbance : 1;
        group.add(new Step(kernels, batch, (kernels + gap + batch * perRequest) * factor));
      }
      groups.add(group);
    }
    return groups;
  }

  @Property(tries = 100)
  void whatWasPutInComesOut(
      @ForAll @Scale(7) @DoubleRange(min = 0, max = 0.003) double gap,
      @ForAll @Scale(7) @DoubleRange(min = 0, max = 0.0001) double perRequest) {
    HostTerms t = HostTerms.estimate(steps(gap, perRequest, 0), Step::error);
    assertThat(t.gapSeconds()).isCloseTo(gap, within(1e-8));
    assertThat(t.perRequestSeconds()).isCloseTo(perRequest, within(1e-9));
    assertThat(t.gapError()).isLessThan(1e-8);
    assertThat(t.perRequestError()).isLessThan(1e-9);
  }

  @Test
  void oneWrongRowDoesNotMatter() {
    HostTerms t = HostTerms.estimate(steps(0.001, 3e-5, 0.5), Step::error);
    assertThat(t.gapSeconds()).isCloseTo(0.001, within(1e-8));
    assertThat(t.perRequestSeconds()).isCloseTo(3e-5, within(1e-9));
  }

  @Test
  void termsAreNotNegative() {
    List<List<Step>> faster = steps(-0.001, -1e-5, 0);
    HostTerms t = HostTerms.estimate(faster, Step::error);
    assertThat(t.gapSeconds()).isZero();
    assertThat(t.perRequestSeconds()).isZero();
  }

  @Test
  void theStandardErrorSaysHowFarGroupsDisagree() {
    List<List<Step>> groups = new ArrayList<>(steps(0.001, 3e-5, 0).subList(0, 2));
    groups.addAll(steps(0.002, 3e-5, 0).subList(2, 4));
    HostTerms t = HostTerms.estimate(groups, Step::error);
    assertThat(t.gapSeconds()).isBetween(0.00099, 0.00201);
    assertThat(t.gapError()).isBetween(1e-4, 2e-3);
  }
}
