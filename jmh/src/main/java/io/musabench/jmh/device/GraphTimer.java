package io.musabench.jmh.device;

import io.musabench.bindings.ffi.CallList;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Program;
import io.musabench.bindings.runtime.Event;
import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.GraphExec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Times a step launched kernel by kernel against the same step as a graph, and the graph with
 * inputs that are other ones every time.
 *
 * <p>The ways take turns in one process, each on an idle device with cold caches, so that what
 * drifts is in the difference of none. The result of every single run is checked.
 */
public final class GraphTimer implements AutoCloseable {
  // The first capture of a process may set things up; their median is not moved by it.
  private static final int SET_UPS = 5;

  private static final int LEAST_ROUNDS = 3;
  private static final int MOST_ROUNDS = 50;
  private static final double SHARE_OF_SESSION = 0.5;

  // What is shorter is run once before anything is kept, as its code may not be warm.
  private static final double LONG_NANOS = 100e6;

  /** A step that can be run with several inputs. */
  public interface Subject {
    /** Its kernels in order. */
    List<PreparedCall> calls();

    /** What changes between two runs. */
    StepInputs inputs();

    /** Inputs by number; 0 are those that the step has outside of this class. */
    List<BatchState> states();

    /** Overwrites the results. */
    void poison();

    /**
     * Checks the results of a run with the inputs of a number.
     *
     * @throws WrongResultException when they are others
     */
    void verify(int state);
  }

  private final DeviceContext context;
  private final Subject step;
  private final List<Runnable> closes = new ArrayList<>();
  private final Map<String, List<Double>> setUps = new TreeMap<>();
  private final Program eviction;
  private final Way eager;
  private final Way graph;
  private final Way updated;
  private final Way padded;
  private final int paddedRequests;
  private double roundNanos;
  private int next;

  /**
   * Captures the graphs.
   *
   * @param step the step; with at least two states
   * @param padded the same requests in a step for more of them, with one state; null for none
   * @param paddedRequests requests that it has room for; 0 for none
   * @param nanos about how long the step takes
   */
  public GraphTimer(
      DeviceContext context, Subject step, Subject padded, int paddedRequests, double nanos) {
    this.context = context;
    this.step = step;
    this.paddedRequests = paddedRequests;
    Program.Builder evict = Program.builder(context.target().ffi());
    context.eviction().addTo(evict);
    eviction = evict.build();
    GraphExec exec = null;
    for (int i = 0; i < SET_UPS; i++) {
      exec = capture(step);
    }
    Launch replay = Launch.of(exec, context.stream());
    StepInputs inputs = step.inputs();
    this.eager = new Way(step, Launch.of(new CallList(step.calls())), step.calls().size(), 0);
    this.graph = new Way(step, replay, 1, 0);
    this.updated = new Way(step, together(inputs.copies(), replay), 1, inputs.copyCount());
    this.padded =
        padded == null ? null : new Way(padded, Launch.of(capture(padded), context.stream()), 1, 0);
    if (padded != null) {
      padded.inputs().set(padded.states().get(0));
    }
    roundNanos = (padded == null ? 3 : 4) * nanos;
    if (nanos < LONG_NANOS) {
      long begin = System.nanoTime();
      round();
      roundNanos = System.nanoTime() - begin;
    }
  }

  private static Launch together(Launch first, Launch second) {
    return program -> {
      first.addTo(program);
      second.addTo(program);
    };
  }

  private GraphExec capture(Subject subject) {
    CallList list = new CallList(subject.calls());
    long begin = System.nanoTime();
    try (Graph captured = context.target().runtime().capture(context.stream(), list::launch)) {
      long middle = System.nanoTime();
      GraphExec exec = captured.instantiate();
      closes.add(exec::close);
      long end = System.nanoTime();
      exec.upload(context.stream());
      context.synchronize();
      long uploaded = System.nanoTime();
      if (subject == step) {
        put(setUps, Measured.GRAPH_CAPTURE, middle - begin);
        put(setUps, Measured.GRAPH_INSTANTIATE, end - middle);
        put(setUps, Measured.GRAPH_UPLOAD, uploaded - end);
      }
      return exec;
    }
  }

  private static void put(Map<String, List<Double>> metrics, String name, double value) {
    metrics.computeIfAbsent(name, n -> new ArrayList<>()).add(value);
  }

  /** One session: as many rounds as it has time for. */
  public List<Metric> run(SessionLimits limits) {
    Map<String, List<Double>> values = new TreeMap<>();
    int rounds = rounds(limits);
    for (int i = 0; i < rounds; i++) {
      round()
          .forEach(
              (name, list) -> values.computeIfAbsent(name, n -> new ArrayList<>()).addAll(list));
    }
    List<Metric> metrics = new ArrayList<>();
    values.forEach((name, list) -> metrics.add(metric(name, list)));
    setUps.forEach((name, list) -> metrics.add(metric(name, list)));
    if (padded != null) {
      metrics.add(new Metric(Measured.PADDED_REQUESTS, "requests", new double[] {paddedRequests}));
    }
    return metrics;
  }

  private static Metric metric(String name, List<Double> values) {
    return new Metric(name, "ns/op", values.stream().mapToDouble(v -> v).toArray());
  }

  private int rounds(SessionLimits limits) {
    double wanted = SHARE_OF_SESSION * limits.seconds() * 1e9 / roundNanos;
    double affordable = SHARE_OF_SESSION * limits.ceiling() * 1e9 / roundNanos;
    double least = Math.min(LEAST_ROUNDS, Math.max(1, affordable));
    return (int) Math.min(MOST_ROUNDS, Math.max(wanted, least));
  }

  /** Every way once; one value a metric. */
  private Map<String, List<Double>> round() {
    Map<String, List<Double>> values = new TreeMap<>();
    Taken taken = eager.run(0);
    put(values, Measured.EAGER_SPAN, taken.span);
    put(values, Measured.EAGER_SUBMIT, taken.submit);
    put(values, Measured.EAGER_DEVICE, taken.device);
    taken = graph.run(0);
    put(values, Measured.HOST_TIME, taken.span);
    put(values, Measured.HOST_SUBMIT, taken.submit);
    put(values, Measured.GRAPH_DEVICE, taken.device);
    next = next % (step.states().size() - 1) + 1;
    taken = updated.run(next);
    put(values, Measured.UPDATED_SPAN, taken.span);
    put(values, Measured.UPDATED_SUBMIT, taken.submit);
    put(values, Measured.UPDATED_DEVICE, taken.device);
    put(values, Measured.UPDATE, taken.update);
    step.inputs().set(step.states().get(0));
    if (padded != null) {
      taken = padded.run(0);
      put(values, Measured.PADDED_SPAN, taken.span);
      put(values, Measured.PADDED_SUBMIT, taken.submit);
      put(values, Measured.PADDED_DEVICE, taken.device);
    }
    return values;
  }

  /** Nanoseconds of one run: device time, and of the host to the end, to queue, and to update. */
  private record Taken(double device, double span, double submit, double update) {}

  /** One way to run a step. */
  private final class Way {
    private final Subject subject;
    private final Program program; // an event, copies, launches, an event, a wait
    private final int copies;
    private final int launches;
    private final Event start = context.target().runtime().createEvent();
    private final Event stop = context.target().runtime().createEvent();

    private Way(Subject subject, Launch launch, int launches, int copies) {
      this.subject = subject;
      this.copies = copies;
      this.launches = launches;
      Program.Builder builder = Program.builder(context.target().ffi());
      builder.record(start, context.stream());
      launch.addTo(builder);
      builder.record(stop, context.stream());
      program = builder.synchronize(context.stream()).build();
      closes.add(start::close);
      closes.add(stop::close);
    }

    /**
     * Runs it once and checks it.
     *
     * @param state what is written and copied first, where the way copies; else what is there
     */
    private Taken run(int state) {
      subject.poison();
      eviction.run();
      context.synchronize();
      long begin = System.nanoTime();
      if (copies > 0) {
        subject.inputs().stage(subject.states().get(state));
      }
      double staged = System.nanoTime() - begin;
      double span = staged + program.runTimed();
      double update = staged + host(1, copies);
      double submit = update + host(1 + copies, launches);
      subject.verify(state);
      return new Taken(stop.millisecondsSince(start) * 1e6, span, submit, update);
    }

    private double host(int first, int count) {
      double nanos = 0;
      for (int i = first; i < first + count; i++) {
        nanos += program.hostNanoseconds(i);
      }
      return nanos;
    }
  }

  @Override
  public void close() {
    closes.forEach(Runnable::run);
  }
}
