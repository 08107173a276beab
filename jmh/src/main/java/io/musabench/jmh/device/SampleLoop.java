package io.musabench.jmh.device;

import io.musabench.results.run.Sample;
import io.musabench.results.stopping.StoppingRule;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * Takes samples batch by batch until the session's rule has enough.
 *
 * <p>A batch is queued as a whole; between batches the host looks at what it got, so nothing is
 * read or decided while spans are timed. A batch that was taken under a throttled clock is dropped
 * and its samples are counted; the device then gets a pause to recover.
 */
final class SampleLoop {
  // Nothing cools down in less; NVBench, too, starts with so much and lets it grow.
  private static final double FIRST_PAUSE_SECONDS = 0.05;
  private static final double LONGEST_PAUSE_SECONDS = 0.5;
  private static final double PAUSE_GROWTH = 2.5;

  // Batches of a throttled device should not be long: all of a batch is dropped.
  private static final double WATCHED_BATCH_SECONDS = 0.1;

  private final IntFunction<double[]> source;
  private final DeviceWatch watch;
  private final DeviceContext context;
  private final Turns turns = Turns.get();
  private final int capacity;
  private final LongSupplier now; // in nanoseconds

  /**
   * @param source takes so many samples; all have the same number of spans, and it returns their
   *     lengths in nanoseconds, sample by sample
   * @param capacity how many samples it can take at a time
   */
  SampleLoop(DeviceContext context, IntFunction<double[]> source, int capacity) {
    this(context, source, capacity, System::nanoTime);
  }

  /** The same by another clock. */
  SampleLoop(DeviceContext context, IntFunction<double[]> source, int capacity, LongSupplier now) {
    this.now = now;
    this.context = context;
    this.watch = context.watch();
    this.source = source;
    this.capacity = capacity;
  }

  /**
   * What was taken.
   *
   * @param nanos length of every accepted span, sample by sample
   * @param batch samples of the largest batch: so many of the session's samples were run at all
   * @param metrics clock, power and temperature, one value an accepted batch, where they are known
   */
  record Taken(double[] nanos, int batch, List<Metric> metrics, SessionFacts facts) {}

  /** Values that are known of some batches only. */
  private static final class Series {
    private final DoubleStream.Builder values = DoubleStream.builder();
    private boolean any;

    void add(OptionalDouble value) {
      value.ifPresent(values);
      any |= value.isPresent();
    }

    void to(List<Metric> metrics, String name, String unit) {
      if (any) {
        metrics.add(new Metric(name, unit, values.build().toArray()));
      }
    }
  }

  /**
   * One session.
   *
   * @param rule looks at the first span of each sample
   * @param sampleNanos how long a sample takes, with what goes before its spans
   * @param batchNanos how long what goes before the first sample of a batch takes
   * @throws ThrottledException if not one sample could be accepted
   */
  Taken run(StoppingRule rule, double sampleNanos, double batchNanos) {
    return run(List.of(rule), sampleNanos, batchNanos);
  }

  /**
   * The same until several rules have enough.
   *
   * @param rules the first looks at the first span of each sample, the second at the second
   */
  Taken run(List<StoppingRule> rules, double sampleNanos, double batchNanos) {
    List<double[]> accepted = new ArrayList<>();
    DoubleStream.Builder turnOfSample = DoubleStream.builder();
    Series clock = new Series();
    Series power = new Series();
    Series temperature = new Series();
    Set<String> reasons = new LinkedHashSet<>();
    int throttled = 0;
    int largest = 0;
    double pause = FIRST_PAUSE_SECONDS;
    DeviceWatch.Reading reading;
    double sampleSeconds = Math.max(sampleNanos, 1) / 1e9;
    double beforeSeconds = batchNanos / 1e9;
    do {
      int turn = turns.next();
      int batch = next(rules, sampleSeconds, beforeSeconds);
      long begin = now.getAsLong();
      watch.begin();
      double[] nanos;
      try {
        nanos = source.apply(batch);
      } finally {
        reading = watch.end();
      }
      double seconds = Math.max(now.getAsLong() - begin, 1) / 1e9;
      // Not less than half: what goes before was measured once, and may have been slow then.
      sampleSeconds = Math.max(seconds - beforeSeconds, seconds / 2) / batch;
      largest = Math.max(largest, batch);
      reasons.addAll(reading.reasons());
      if (reading.throttled()) {
        nanos = new double[0];
        throttled += batch;
        sleep(pause);
        seconds += pause;
        pause = Math.min(LONGEST_PAUSE_SECONDS, PAUSE_GROWTH * pause);
      } else {
        clock.add(reading.coreMhz());
        power.add(reading.powerWatts());
        temperature.add(reading.temperatureC());
        pause = FIRST_PAUSE_SECONDS;
      }
      accepted.add(nanos);
      int taken = nanos.length == 0 ? 0 : batch;
      DoubleStream.generate(() -> turn).limit(taken).forEach(turnOfSample);
      for (int span = 0; span < rules.size(); span++) {
        rules.get(span).add(every(nanos, span, nanos.length / batch), seconds);
      }
    } while (!rules.stream().allMatch(StoppingRule::done));
    // What follows, such as checks, takes another turn: the partner's turn is next to this one.
    turns.next();
    double[] all = accepted.stream().flatMapToDouble(DoubleStream::of).toArray();
    if (all.length == 0 && throttled > 0) {
      throw new ThrottledException(throttled, reading);
    }
    List<Metric> metrics = new ArrayList<>(turns.metrics(turnOfSample.build().toArray()));
    clock.to(metrics, Sample.DEVICE_CLOCK, "MHz");
    power.to(metrics, Measured.DEVICE_POWER, "W");
    temperature.to(metrics, Measured.DEVICE_TEMPERATURE, "C");
    return new Taken(
        all,
        largest,
        metrics,
        new SessionFacts(
            rules.stream()
                .map(StoppingRule::unmet)
                .filter(u -> !u.isEmpty())
                .findFirst()
                .orElse(""),
            throttled,
            List.copyOf(reasons),
            watch.otherProcesses(),
            context.holdNote()));
  }

  private int next(List<StoppingRule> rules, double sampleSeconds, double beforeSeconds) {
    double seconds = watch.mayDrop() ? WATCHED_BATCH_SECONDS : Double.POSITIVE_INFINITY;
    if (turns.shared()) {
      seconds = Math.min(seconds, Turns.SECONDS);
    }
    int most = (int) Math.max(1, Math.min(capacity, (seconds - beforeSeconds) / sampleSeconds));
    return rules.stream()
        .filter(rule -> !rule.done())
        .mapToInt(rule -> rule.next(sampleSeconds, most))
        .max()
        .orElse(1);
  }

  private static void sleep(double seconds) {
    try {
      Thread.sleep((long) (1000 * seconds));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static double[] every(double[] nanos, int first, int step) {
    return nanos.length == 0
        ? nanos
        : IntStream.iterate(first, i -> i < nanos.length, i -> i + step)
            .mapToDouble(i -> nanos[i])
            .toArray();
  }
}
