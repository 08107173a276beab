package io.musabench.jmh.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.results.stopping.Stopping;
import org.junit.jupiter.api.Test;

class SessionLimitsTest {
  private final SessionLimits limits =
      new SessionLimits(0.5, 4, 5, 1000, new Stopping("stdrel:1%"));

  @Test
  void shouldFillTheTime() {
    assertThat(limits.samples(1e6)).isEqualTo(500);
  }

  @Test
  void shouldTakeTheLeastNumberBeyondTheTime() {
    assertThat(limits.samples(0.8e9)).isEqualTo(5);
  }

  @Test
  void shouldTakeFewerWhereTheLeastNumberWouldTakeTooLong() {
    assertThat(limits.samples(1.1e9)).isEqualTo(3);
    assertThat(limits.samples(1e11)).isEqualTo(2);
  }

  @Test
  void shouldBoundTheNumberHoweverShortASampleIs() {
    assertThat(limits.samples(0)).isEqualTo(1000);
  }
}
