package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ForkWatchTest {
  private static Process fork() throws IOException {
    return new ProcessBuilder("sleep", "60").start();
  }

  @Test
  void shouldTellAllThatWereKilledTogether() throws Exception {
    Process fork = fork();
    try (ForkWatch patient = new ForkWatch(Duration.ofHours(1))) {
      assertThat(patient.expired()).isFalse();
      try (ForkWatch brief = new ForkWatch(Duration.ofMillis(50))) {
        assertThat(fork.waitFor(50, TimeUnit.SECONDS)).isTrue();
        assertThat(brief.expired()).isTrue();
        assertThat(patient.expired()).isTrue();
      }
    } finally {
      fork.destroyForcibly();
    }
  }

  @Test
  void shouldNotKillAForkThatWasStartedAfterwards() throws Exception {
    Process first = fork();
    Process second = null;
    try (ForkWatch partner = new ForkWatch(Duration.ofMillis(400));
        ForkWatch brief = new ForkWatch(Duration.ofMillis(50))) {
      assertThat(first.waitFor(50, TimeUnit.SECONDS)).isTrue();
      assertThat(brief.expired()).isTrue();
      second = fork();
      // The partner's fork is dead too, though nobody has closed its watch yet.
      assertThat(second.waitFor(800, TimeUnit.MILLISECONDS)).isFalse();
      assertThat(partner.expired()).isTrue();
    } finally {
      first.destroyForcibly();
      if (second != null) {
        second.destroyForcibly();
      }
    }
  }
}
