package io.musabench.jmh.cli;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Kills the forked JVM, with all it has started, when its time is over. Of forks that run side by
 * side all are killed when the time of one is over, and all are told so.
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

  private static final Set<ForkWatch> OPEN = new HashSet<>(); // guarded by itself

  private final ScheduledFuture<?> alarm;
  private volatile boolean expired;

  /** Starts the clock. */
  ForkWatch(Duration limit) {
    synchronized (OPEN) {
      OPEN.add(this);
    }
    alarm = TIMER.schedule(this::expire, limit.toMillis(), TimeUnit.MILLISECONDS);
  }

  // Never at the same time as close(): what is killed must not be the next case's fork. Nor twice,
  // for the same reason: the fork of this watch may be dead and that of another one new.
  private void expire() {
    synchronized (OPEN) {
      if (OPEN.contains(this) && !expired) {
        OPEN.forEach(watch -> watch.expired = true);
        killForks();
      }
    }
  }

  /** Whether the time ran out, this fork's or that of one beside it. */
  boolean expired() {
    return expired;
  }

  @Override
  public void close() {
    synchronized (OPEN) {
      OPEN.remove(this);
    }
    alarm.cancel(false);
  }

  /** Kills every process this JVM has started. The JVM starts none but JMH's forks. */
  static void killForks() {
    ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
  }
}
