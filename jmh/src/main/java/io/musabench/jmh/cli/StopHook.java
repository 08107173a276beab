package io.musabench.jmh.cli;

/**
 * What is done when the process is told to stop, by Ctrl-C or a signal, while something is
 * measured.
 *
 * <p>The JVM then runs its hooks while all other threads go on; {@link #waitForTheEnd} keeps the
 * one that measures from going on with what the hook has ended.
 */
final class StopHook implements AutoCloseable {
  private final Thread thread;

  /**
   * @param stop must end soon
   */
  StopHook(Runnable stop) {
    thread = new Thread(stop, "musabench stop");
    try {
      Runtime.getRuntime().addShutdownHook(thread);
    } catch (IllegalStateException alreadyEnding) {
      waitForTheEnd();
    }
  }

  /** Never returns: the process is ending. What was printed now would be cut off anywhere. */
  void waitForTheEnd() {
    while (true) {
      try {
        Thread.currentThread().join(); // For itself, and so for ever.
      } catch (InterruptedException e) {
        continue; // Whoever interrupts can want no more than the end.
      }
    }
  }

  /** From now on nothing is done. Does not return if the process is ending. */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(thread);
    } catch (IllegalStateException alreadyEnding) {
      waitForTheEnd();
    }
  }
}
