package io.musabench.jmh.cli;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Kills the forked JVM, with all it has started, when its time is over.
 *
 * <p>From outside, because a kernel that hangs blocks the fork's thread in native code, where
 * neither an interrupt nor JMH's own time limit reaches it.
 */
final class ForkWatch implements AutoCloseable {
  private static final ScheduledExecutorService TIMER =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "musabench fork watch");
            thread.setDaemon(true);
            return thread;
          });

  private final ScheduledFuture<?> alarm;
  private volatile boolean expired;
  private boolean closed;

  /** Starts the clock. */
  ForkWatch(Duration limit) {
    alarm = TIMER.schedule(this::expire, limit.toMillis(), TimeUnit.MILLISECONDS);
  }

  // Never at the same time as close(): what is killed must not be the next case's fork.
  private synchronized void expire() {
    if (!closed) {
      expired = true;
      killForks();
    }
  }

  /** Whether the time ran out. */
  boolean expired() {
    return expired;
  }

  @Override
  public synchronized void close() {
    closed = true;
    alarm.cancel(false);
  }

  /** Kills every process this JVM has started. The JVM starts none but JMH's forks. */
  static void killForks() {
    ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
  }
}
