package io.musabench.jmh.device;

import io.musabench.bindings.ffi.Program;
import io.musabench.bindings.ffi.StreamHold;
import io.musabench.bindings.runtime.Event;
import java.util.ArrayList;
import java.util.List;

/**
 * Spans of device time, queued by one crossing into native code and read after one wait.
 *
 * <p>A span is an event, some launches and an event. What makes caches cold goes before the first
 * event, so it is never inside the span. Where the target can, the stream is held from before the
 * first event until the last is queued: then the device has finished what came before, and finds
 * all launches waiting. Elsewhere what makes caches cold keeps the device busy meanwhile.
 */
final class Session implements AutoCloseable {
  /**
   * Most launches that are queued while the stream is held. CUDA's queues are known to take about a
   * thousand; of MUSA's nothing is known, and a full one would last until the hold's limit.
   */
  static final int MOST_HELD = 128;

  private final DeviceContext context;
  private final Program.Builder program;
  private final List<Event> starts = new ArrayList<>();
  private final List<Event> stops = new ArrayList<>();
  private final List<Integer> itemsAtEnd = new ArrayList<>(); // of each sample
  private final List<Integer> spansAtEnd = new ArrayList<>();
  private Program built;
  private int samplesRun;

  Session(DeviceContext context) {
    this.context = context;
    this.program = Program.builder(context.target().ffi());
  }

  /** Adds work that no span includes. */
  Session untimed(Launch launch) {
    launch.addTo(program);
    return this;
  }

  /** Keeps the stream from going on until {@link #release}, where the target can do that. */
  Session hold() {
    context.hold().ifPresent(hold -> program.hold(hold, context.stream()));
    return this;
  }

  /** Ends {@link #hold}. */
  Session release() {
    context.hold().ifPresent(program::release);
    return this;
  }

  /** Adds a span over the launches. */
  Session span(List<Launch> launches) {
    begin();
    launches.forEach(launch -> launch.addTo(program));
    return end();
  }

  /** Adds a span over more launches than may be queued while the stream is held. */
  Session longSpan(Launch launch, int count) {
    hold();
    begin();
    for (int i = 0; i < count; i++) {
      if (i == MOST_HELD) {
        release();
      }
      launch.addTo(program);
    }
    end();
    return count > MOST_HELD ? this : release();
  }

  private void begin() {
    Event start = context.target().runtime().createEvent();
    starts.add(start);
    program.record(start, context.stream());
  }

  private Session end() {
    Event stop = context.target().runtime().createEvent();
    stops.add(stop);
    program.record(stop, context.stream());
    return this;
  }

  /** Ends a sample: {@link #run(int)} runs whole ones. */
  Session endSample() {
    itemsAtEnd.add(program.size());
    spansAtEnd.add(starts.size());
    return this;
  }

  /** Runs everything, waits, and returns the length of each span in nanoseconds. */
  double[] run() {
    return run(build().size(), starts.size());
  }

  /**
   * The same for the first samples.
   *
   * @param samples how many, of those that {@link #endSample} ended
   */
  double[] run(int samples) {
    samplesRun = samples;
    return run(itemsAtEnd.get(samples - 1), spansAtEnd.get(samples - 1));
  }

  /** How many samples the last {@link #run(int)} took. */
  int samplesRun() {
    return samplesRun;
  }

  /** Puts it together, which the first run would do otherwise: in the time of its caller's turn. */
  void prepare() {
    build();
  }

  private Program build() {
    if (built == null) {
      built = program.build();
    }
    return built;
  }

  private double[] run(int items, int spans) {
    launch(items);
    if (context.holdExpired()) {
      launch(items); // Some spans have the limit's wait in them. From now on nothing is held.
    }
    double[] nanos = new double[spans];
    for (int i = 0; i < nanos.length; i++) {
      nanos[i] = stops.get(i).millisecondsSince(starts.get(i)) * 1e6;
    }
    return nanos;
  }

  private void launch(int items) {
    Program queued = build();
    context.armHold();
    try {
      queued.run(items);
    } finally {
      // The first samples may end before a release, and a program that fails does.
      context.hold().ifPresent(StreamHold::open);
    }
    context.synchronize();
  }

  @Override
  public void close() {
    starts.forEach(Event::close);
    stops.forEach(Event::close);
  }
}
