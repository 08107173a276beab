package io.musabench.jmh.device;

import io.musabench.results.stopping.StoppingRule;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * Takes samples batch by batch until the session's rule has enough.
 *
 * <p>A batch is queued as a whole; between batches the host looks at what it got, so nothing is
 * read or decided while spans are timed.
 */
final class SampleLoop {
  private final DeviceContext context;
  private final Session session;
  private final int capacity;
  private final int spans;

  /**
   * @param session its samples, ended one by one
   * @param capacity how many samples it has
   * @param spans spans of a sample, the first of them the one that the rule looks at
   */
  SampleLoop(DeviceContext context, Session session, int capacity, int spans) {
    this.context = context;
    this.session = session;
    this.capacity = capacity;
    this.spans = spans;
  }

  /**
   * What was taken.
   *
   * @param nanos length of every accepted span, sample by sample
   */
  record Taken(double[] nanos, List<Metric> metrics, SessionFacts facts) {}

  /**
   * One session.
   *
   * @param sampleNanos how long a sample takes, with what goes before its spans
   */
  Taken run(StoppingRule rule, double sampleNanos) {
    List<double[]> accepted = new ArrayList<>();
    List<String> notes = new ArrayList<>(context.holdNote());
    double sampleSeconds = Math.max(sampleNanos, 1) / 1e9;
    do {
      int batch = rule.next(sampleSeconds, capacity);
      long begin = System.nanoTime();
      double[] nanos = session.run(batch);
      double seconds = (System.nanoTime() - begin) / 1e9;
      if (session.holdExpired()) {
        nanos = new double[0]; // Some of them hold the limit's wait, or their launches' latency.
      }
      sampleSeconds = Math.max(sampleSeconds, seconds / batch); // The plan is optimistic.
      accepted.add(nanos);
      rule.add(primary(nanos), seconds);
    } while (!rule.done());
    double[] all = accepted.stream().flatMapToDouble(DoubleStream::of).toArray();
    return new Taken(
        all, List.of(), new SessionFacts(rule.unmet(), 0, List.of(), context.holdNote()));
  }

  private double[] primary(double[] nanos) {
    return IntStream.range(0, nanos.length / spans).mapToDouble(i -> nanos[i * spans]).toArray();
  }
}
