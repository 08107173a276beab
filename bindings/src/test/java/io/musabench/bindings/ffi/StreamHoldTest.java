package io.musabench.bindings.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget;
import io.musabench.bindings.load.LoadedLibrary;
import io.musabench.bindings.runtime.Event;
import io.musabench.bindings.runtime.Stream;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What holding a stream must do on any runtime. */
class StreamHoldTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final long PAUSE_NANOS = 30_000_000;
  private static final int TRIES = 50;

  private static Ffi ffi;

  @BeforeAll
  static void load() {
    Target target = TestTarget.open();
    ffi = target.ffi();
  }

  private static StreamHold hold(Stream stream, Duration limit) {
    return StreamHold.of(ffi, stream, limit).orElseThrow();
  }

  /** Time between two events with a pause of the host between queueing the one and the other. */
  private static double span(Stream stream, StreamHold hold) {
    try (Event start = ffi.runtime().createEvent();
        Event stop = ffi.runtime().createEvent()) {
      Program.Builder program = Program.builder(ffi);
      if (hold != null) {
        program.hold(hold, stream);
      }
      program.record(start, stream).spin(PAUSE_NANOS).record(stop, stream);
      if (hold != null) {
        program.release(hold);
      }
      program.build().run();
      stream.synchronize();
      return 1e6 * stop.millisecondsSince(start);
    }
  }

  /**
   * Whether something is so in one of many tries: on a busy machine the stream's thread may lose
   * its CPU, before a span or in the middle of it.
   */
  private static boolean once(BooleanSupplier check) {
    for (int i = 0; i < TRIES; i++) {
      if (check.getAsBoolean()) {
        return true;
      }
    }
    return false;
  }

  @Test
  void shouldKeepTheHostsPaceOutOfASpan() {
    try (Stream stream = ffi.runtime().createStream();
        StreamHold hold = hold(stream, LONG)) {
      assertThat(once(() -> span(stream, null) > 0.5 * PAUSE_NANOS)).isTrue();
      assertThat(
              once(
                  () -> {
                    hold.arm();
                    return span(stream, hold) < 0.5 * PAUSE_NANOS && hold.waited() == 1;
                  }))
          .isTrue();
      assertThat(hold.expired()).isZero();
    }
  }

  @Test
  void shouldSayThatTheLibraryIsOlderThanTheProgram() {
    LoadedLibrary without = ffi.runtime().library();
    assertThatThrownBy(() -> without.require("mb_hold_wait"))
        .isInstanceOf(UnsatisfiedLinkError.class)
        .hasMessageContainingAll(without.path().toString(), "mb_hold_wait", "build it anew");
  }

  @Test
  void shouldFreeTheStreamWhenNobodyReleasesIt() {
    try (Stream stream = ffi.runtime().createStream();
        StreamHold hold = hold(stream, Duration.ofMillis(200))) {
      long begin = System.nanoTime();
      Program program =
          Program.builder(ffi).hold(hold, stream).hold(hold, stream).hold(hold, stream).build();
      program.run();
      stream.synchronize();
      assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(200_000_000L);
      assertThat(hold.expired()).isEqualTo(1);
      hold.arm();
      assertThat(hold.expired()).isZero();
      assertThat(
              once(
                  () -> {
                    hold.arm();
                    return span(stream, hold) < 0.5 * PAUSE_NANOS;
                  }))
          .isTrue();
    }
  }

  @Test
  void shouldLetAStreamGoThatAProgramLeftHeld() {
    try (Stream stream = ffi.runtime().createStream()) {
      StreamHold hold = hold(stream, LONG);
      Program program = Program.builder(ffi).hold(hold, stream).release(hold).build();
      program.run(1); // As one that breaks off before the release.
      assertThat(stream.isIdle()).isFalse();
      hold.open();
      stream.synchronize();
      program.run(1);
      hold.close(); // Waits for the stream, which looks at its memory.
      assertThat(stream.isIdle()).isTrue();
    }
  }
}
