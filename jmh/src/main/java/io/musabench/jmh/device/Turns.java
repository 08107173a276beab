package io.musabench.jmh.device;

import io.musabench.results.run.Sample;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.List;

/**
 * Lets this fork and its partner measure in turn, where they run side by side.
 *
 * <p>What disturbs a timing often lasts for seconds: another virtual machine that takes memory
 * bandwidth, a clock that falls. Forks one after the other see different parts of it; forks that
 * take turns of some tens of milliseconds see the same. From the first turn on a fork works only
 * while it has the turn, whatever it does: the other one sleeps.
 *
 * <p>A turn is asked for by a byte to the runner and given by a byte from it. It ends when the next
 * one is asked for, or with the process.
 */
public final class Turns {
  /** System property: port of the runner on this machine; forks without one measure alone. */
  public static final String PORT = "musabench.turns";

  /**
   * How long a turn should be, in seconds: short against what drifts, long against the millisecond
   * in which caches and cores become this process's again.
   */
  static final double SECONDS = 0.05;

  private static Turns ofThisProcess;

  private final Socket runner; // null where there is no partner
  private int count;

  private Turns(Socket runner) {
    this.runner = runner;
  }

  /** The turns of this process. */
  static synchronized Turns get() {
    if (ofThisProcess == null) {
      Integer port = Integer.getInteger(PORT);
      try {
        ofThisProcess =
            new Turns(port == null ? null : new Socket(InetAddress.getLoopbackAddress(), port));
      } catch (IOException e) {
        throw new UncheckedIOException("The runner that gives the turns cannot be reached", e);
      }
    }
    return ofThisProcess;
  }

  /** Whether there is a partner. */
  boolean shared() {
    return runner != null;
  }

  /**
   * Ends this turn, if it is one, and waits for the next.
   *
   * @return number of the turn, from 1: turn n of one fork is next to turn n of the other
   */
  int next() {
    count++;
    if (runner == null) {
      return count;
    }
    try {
      runner.getOutputStream().write(1);
      if (runner.getInputStream().read() < 0) {
        throw new IOException("it closed the connection");
      }
    } catch (IOException e) {
      throw new UncheckedIOException("The runner gives no more turns: " + e.getMessage(), e);
    }
    return count;
  }

  /**
   * What is recorded of the turns; nothing where there is no partner.
   *
   * @param ofSamples the turn of each sample
   */
  List<Metric> metrics(double[] ofSamples) {
    return shared() ? List.of(new Metric(Sample.TURN, "turn", ofSamples)) : List.of();
  }
}
