package io.musabench.jmh.device;

import io.musabench.bindings.ffi.CallList;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Program;
import io.musabench.bindings.runtime.Event;
import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.GraphExec;
import io.musabench.results.stopping.StoppingRule;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * Times a step launched kernel by kernel against the same step as a graph, and the graph with
 * inputs that are other ones every time.
 *
 * <p>The ways take turns in one process, each on an idle device with cold caches, so that what
 * drifts is in the difference of none. The result of every single run is checked. Rounds go on
 * until the criterion is met for the span of every way, and those of a throttled clock are dropped.
 *
 * <p>Making a graph takes its turn too, once a round: with cold caches, as where a server captures
 * a size. The criterion does not ask about it: 1 % of it is nothing that anyone decides by.
 */
public final class GraphTimer implements AutoCloseable {
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
  private final Program eviction;
  private final Way eager;
  private final Way graph;
  private final Way updated;
  private final Way padded;
  private final int paddedRequests;
  private double roundNanos;
  private List<String> names = List.of(); // what a round measures
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
    Launch replay = replay(step);
    StepInputs inputs = step.inputs();
    this.eager = new Way(step, Launch.of(new CallList(step.calls())), step.calls().size(), 0);
    this.graph = new Way(step, replay, 1, 0);
    this.updated = new Way(step, together(inputs.copies(), replay), 1, inputs.copyCount());
    this.padded = padded == null ? null : new Way(padded, replay(padded), 1, 0);
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

  private Launch replay(Subject subject) {
    GraphExec exec = setUp(subject).exec;
    closes.add(exec::close);
    return Launch.of(exec, context.stream());
  }

  /** A graph, and the nanoseconds that each part of making it took. */
  private record SetUp(GraphExec exec, double capture, double instantiate, double upload) {}

  private SetUp setUp(Subject subject) {
    CallList list = new CallList(subject.calls());
    long begin = System.nanoTime();
    try (Graph captured = context.target().runtime().capture(context.stream(), list::launch)) {
      long middle = System.nanoTime();
      GraphExec exec = captured.instantiate();
      long end = System.nanoTime();
      exec.upload(context.stream());
      context.synchronize();
      long uploaded = System.nanoTime();
      return new SetUp(exec, middle - begin, end - middle, uploaded - end);
    }
  }

  /** One session. */
  public Sampled run(SessionLimits limits) {
    List<StoppingRule> rules = Stream.generate(limits::rule).limit(padded == null ? 3 : 4).toList();
    SampleLoop.Taken rounds =
        new SampleLoop(context, this::rounds, limits.most()).run(rules, roundNanos, 0);
    List<Metric> metrics = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      double[] values = new double[rounds.nanos().length / names.size()];
      for (int round = 0; round < values.length; round++) {
        values[round] = rounds.nanos()[round * names.size() + i];
      }
      metrics.add(new Metric(names.get(i), "ns/op", values));
    }
    if (padded != null) {
      metrics.add(new Metric(Measured.PADDED_REQUESTS, "requests", new double[] {paddedRequests}));
    }
    return new Sampled(metrics, rounds.facts().of("eager against graph"));
  }

  /**
   * What a session found.
   *
   * @param metrics of all ways and of making the graph, one value a round
   */
  public record Sampled(List<Metric> metrics, SessionFacts facts) {}

  private void evict() {
    eviction.run();
    context.synchronize();
  }

  /** So many rounds, each with the values of {@link #names}. */
  private double[] rounds(int count) {
    DoubleStream.Builder all = DoubleStream.builder();
    for (int i = 0; i < count; i++) {
      Map<String, Double> round = round();
      names = List.copyOf(round.keySet());
      round.values().forEach(all::add);
    }
    return all.build().toArray();
  }

  /** Every way once. The spans come first: they are what decides about the end of a session. */
  private Map<String, Double> round() {
    Taken byKernel = eager.run(0);
    Taken byGraph = graph.run(0);
    next = next % (step.states().size() - 1) + 1;
    Taken byUpdated = updated.run(next);
    step.inputs().set(step.states().get(0));
    Taken byPadded = padded == null ? null : padded.run(0);
    evict();
    SetUp made = setUp(step);
    made.exec.close();
    Map<String, Double> values = new LinkedHashMap<>();
    values.put(Measured.EAGER_SPAN, byKernel.span);
    values.put(Measured.HOST_TIME, byGraph.span);
    values.put(Measured.UPDATED_SPAN, byUpdated.span);
    if (byPadded != null) {
      values.put(Measured.PADDED_SPAN, byPadded.span);
      values.put(Measured.PADDED_SUBMIT, byPadded.submit);
      values.put(Measured.PADDED_DEVICE, byPadded.device);
    }
    values.put(Measured.EAGER_SUBMIT, byKernel.submit);
    values.put(Measured.EAGER_DEVICE, byKernel.device);
    values.put(Measured.HOST_SUBMIT, byGraph.submit);
    values.put(Measured.GRAPH_DEVICE, byGraph.device);
    values.put(Measured.UPDATED_SUBMIT, byUpdated.submit);
    values.put(Measured.UPDATED_DEVICE, byUpdated.device);
    values.put(Measured.UPDATE, byUpdated.update);
    values.put(Measured.GRAPH_CAPTURE, made.capture);
    values.put(Measured.GRAPH_INSTANTIATE, made.instantiate);
    values.put(Measured.GRAPH_UPLOAD, made.upload);
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
      evict();
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
