package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.jmh.cli.ForkRunner.End;
import io.musabench.jmh.cli.ForkRunner.Outcome;
import io.musabench.jmh.cli.SideBySide.Ended;
import io.musabench.jmh.cli.SideBySide.Fork;
import io.musabench.jmh.device.Turns;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which forks are run again, and when; with functions in place of forks. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class SideBySideTest {
  // Long enough for a thread to begin something, were it to.
  private static final int SILENCE_MILLIS = 200;

  private static final Outcome MEASURED = new Outcome(End.MEASURED, null, "");
  private static final Outcome NO_MEMORY = new Outcome(End.FAILED, null, "no memory", true);
  private static final Outcome TIMED_OUT = new Outcome(End.TIMED_OUT, null, "stopped");

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicInteger alone = new AtomicInteger(); // how many run by themselves now
  private final AtomicInteger mostAlone = new AtomicInteger();
  private final AtomicInteger runs = new AtomicInteger();

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void linger() {
    try {
      Thread.sleep(SILENCE_MILLIS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private Outcome byItself() {
    mostAlone.accumulateAndGet(alone.incrementAndGet(), Math::max);
    linger();
    alone.decrementAndGet();
    runs.incrementAndGet();
    return MEASURED;
  }

  private List<Ended> run(List<Fork> forks, boolean stopped) {
    try (TurnKeeper keeper = TurnKeeper.ofMany(forks.size(), nanos::get)) {
      return SideBySide.run(keeper, forks, () -> stopped);
    }
  }

  @Test
  void shouldRunWhatFoundNoMemoryByItselfWhenTheOthersHaveEnded() {
    CountDownLatch failed = new CountDownLatch(2);
    AtomicInteger besideTheOther = new AtomicInteger();
    Fork hungry =
        arguments -> {
          if (arguments.isEmpty()) {
            return byItself();
          }
          failed.countDown();
          return NO_MEMORY;
        };
    Fork other =
        arguments -> {
          assertThat(arguments).hasSize(1);
          await(failed);
          linger();
          besideTheOther.set(runs.get() + alone.get());
          return MEASURED;
        };
    assertThat(run(List.of(hungry, other, hungry), false))
        .containsExactly(
            new Ended(MEASURED, "no memory"),
            new Ended(MEASURED, ""),
            new Ended(MEASURED, "no memory"));
    assertThat(besideTheOther).hasValue(0);
    assertThat(runs).hasValue(2);
    assertThat(mostAlone).hasValue(1);
  }

  @Test
  void shouldRunTheVictimsOfOneThatHangsOneAfterTheOther() {
    CountDownLatch asked = new CountDownLatch(2);
    AtomicInteger hangs = new AtomicInteger();
    Fork hanging =
        arguments -> {
          hangs.incrementAndGet();
          await(asked);
          nanos.addAndGet(1);
          return TIMED_OUT;
        };
    Fork victim = arguments -> arguments.isEmpty() ? byItself() : waiting(arguments.get(0), asked);
    assertThat(run(List.of(victim, hanging, victim), false))
        .extracting(Ended::outcome)
        .containsExactly(MEASURED, TIMED_OUT, MEASURED);
    assertThat(hangs).hasValue(1);
    assertThat(mostAlone).hasValue(1);
  }

  /** Asks for a turn, waits for it, and is killed. */
  private static Outcome waiting(String argument, CountDownLatch asked) {
    int port = Integer.parseInt(argument.substring(("-D" + Turns.PORT + "=").length()));
    try (Socket runner = new Socket(InetAddress.getLoopbackAddress(), port)) {
      runner.getOutputStream().write(1);
      asked.countDown();
      assertThat(runner.getInputStream().read()).isEqualTo(1); // When the one that hung is gone.
      return TIMED_OUT;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void shouldStartNothingWhenTheProcessIsEnding() {
    Fork hungry = arguments -> arguments.isEmpty() ? byItself() : NO_MEMORY;
    assertThat(run(List.of(hungry, hungry), true))
        .extracting(Ended::outcome)
        .containsOnly(NO_MEMORY);
    assertThat(runs).hasValue(0);
  }

  @Test
  void shouldNotRunAgainWhatFailedForAnotherReason() {
    Outcome wrong = new Outcome(End.FAILED, null, "wrong result");
    Outcome crash = new Outcome(End.CRASHED, null, "exit code 134");
    assertThat(run(List.of(none -> wrong, none -> crash), false))
        .containsExactly(new Ended(wrong, ""), new Ended(crash, ""));
  }
}
