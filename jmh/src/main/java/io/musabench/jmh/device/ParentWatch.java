package io.musabench.jmh.device;

import java.io.IOException;

/**
 * Ends this process when the one that started it is gone.
 *
 * <p>A runner that is killed outright can no longer kill its fork, and a fork whose kernel hangs
 * would keep the device for ever.
 */
final class ParentWatch {
  // One look reads a line of /proc: nothing to a timing, and soon enough for who starts anew.
  private static final long INTERVAL_MILLIS = 1000;

  private ParentWatch() {}

  /** Begins to watch, on a thread that keeps nothing alive. */
  static void start() {
    long parent = parent();
    Thread thread = new Thread(() -> watch(parent), "musabench parent watch");
    thread.setDaemon(true);
    thread.start();
  }

  // An orphan is given another parent; this holds too while the dead one is still a zombie.
  private static void watch(long parent) {
    try {
      while (parent() == parent) {
        Thread.sleep(INTERVAL_MILLIS);
      }
      // From outside: an orderly end would run the libraries' own, which may wait for the kernel.
      String kill = "kill -KILL " + ProcessHandle.current().pid();
      new ProcessBuilder("sh", "-c", kill).start().waitFor();
    } catch (IOException | InterruptedException e) {
      Runtime.getRuntime().halt(1);
    }
  }

  private static long parent() {
    return ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(0L);
  }
}
