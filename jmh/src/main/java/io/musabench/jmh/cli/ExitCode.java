package io.musabench.jmh.cli;

/** Exit codes of the command line. Those above 2 follow sysexits.h where it has a word for it. */
final class ExitCode {
  /**
   * Everything that was asked for was done, apart from cases that were skipped because something
   * they need is not on the machine; those are listed with the reason.
   */
  static final int OK = 0;

  /** At least one case failed: wrong result, crash, error or time limit. The others are saved. */
  static final int CASE_FAILED = 1;

  /** The command line is wrong: unknown name, empty selection, bad value. */
  static final int USAGE = 64;

  /**
   * No usable device, or a library cannot be loaded; also when every case was skipped, so that a
   * script does not take it for a measurement.
   */
  static final int NO_TARGET = 69;

  /** An error inside musabench. */
  static final int SOFTWARE = 70;

  /** The run directory cannot be written. */
  static final int CANNOT_WRITE = 74;

  /** Stopped by SIGHUP, its terminal is gone; the finished cases are saved. */
  static final int HUNG_UP = 129;

  /**
   * Stopped by Ctrl-C; the finished cases are saved. Set by the JVM itself, as are those of SIGHUP
   * and SIGTERM.
   */
  static final int INTERRUPTED = 130;

  /** Stopped by SIGTERM; the finished cases are saved. */
  static final int TERMINATED = 143;

  private ExitCode() {}
}
