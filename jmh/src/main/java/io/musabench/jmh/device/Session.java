package io.musabench.jmh.device;

import io.musabench.bindings.ffi.Program;
import io.musabench.bindings.runtime.Event;
import java.util.ArrayList;
import java.util.List;

/**
 * Spans of device time, queued by one crossing into native code and read after one wait.
 *
 * <p>A span is an event, some launches and an event. What makes caches cold goes before the first
 * event, so it is never inside the span; while it runs the host queues the span, so that the device
 * finds the launches waiting.
 */
final class Session implements AutoCloseable {
  private final DeviceContext context;
  private final Program.Builder program;
  private final List<Event> starts = new ArrayList<>();
  private final List<Event> stops = new ArrayList<>();
  private Program built;

  Session(DeviceContext context) {
    this.context = context;
    this.program = Program.builder(context.target().ffi());
  }

  /** Adds work that no span includes. */
  Session untimed(Launch launch) {
    launch.addTo(program);
    return this;
  }

  /** Adds a span over the launches. */
  Session span(List<Launch> launches) {
    Event start = context.target().runtime().createEvent();
    Event stop = context.target().runtime().createEvent();
    starts.add(start);
    stops.add(stop);
    program.record(start, context.stream());
    launches.forEach(launch -> launch.addTo(program));
    program.record(stop, context.stream());
    return this;
  }

  /** Runs everything, waits, and returns the length of each span in nanoseconds. */
  double[] run() {
    if (built == null) {
      built = program.build();
    }
    built.run();
    context.synchronize();
    double[] nanos = new double[starts.size()];
    for (int i = 0; i < nanos.length; i++) {
      nanos[i] = stops.get(i).millisecondsSince(starts.get(i)) * 1e6;
    }
    return nanos;
  }

  @Override
  public void close() {
    starts.forEach(Event::close);
    stops.forEach(Event::close);
  }
}
