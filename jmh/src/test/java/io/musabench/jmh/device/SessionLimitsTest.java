package io.musabench.jmh.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SessionLimitsTest {
  private final SessionLimits limits = new SessionLimits(0.5, 5, 1000);

  @Test
  void shouldFillTheTime() {
    assertThat(limits.samples(1e6)).isEqualTo(500);
  }

  @Test
  void shouldTakeTheLeastNumberHoweverLongASampleIs() {
    assertThat(limits.samples(1e10)).isEqualTo(5);
  }

  @Test
  void shouldBoundTheNumberHoweverShortASampleIs() {
    assertThat(limits.samples(0)).isEqualTo(1000);
  }
}
