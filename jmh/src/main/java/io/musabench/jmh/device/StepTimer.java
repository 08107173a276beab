package io.musabench.jmh.device;

import io.musabench.bindings.ffi.CallList;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.GraphExec;
import java.util.ArrayList;
import java.util.List;

/**
 * Samples a whole step and, in turn with it, each group of its kernels by itself.
 *
 * <p>A group is all calls of one kind over all layers, so its weights and caches are as cold as in
 * the step. Taking turns in one process keeps what drifts, such as a clock, out of the difference
 * between the step and the sum of its kernels.
 *
 * <p>The results of each timed step are copied aside before the groups overwrite them, so that
 * every one of them can be checked; where many large ones would not fit, those of the last rounds.
 */
public final class StepTimer implements AutoCloseable {
  private static final long MOST_RESULT_BYTES = 256L << 20;

  private final DeviceContext context;
  private final Launch step;
  private final List<Tensor> results;
  private final List<List<Tensor>> kept = new ArrayList<>();
  private final List<Launch> groups = new ArrayList<>();
  private final List<Integer> counts = new ArrayList<>();
  private final List<GraphExec> graphs = new ArrayList<>();
  private final boolean graph;
  private Session session;
  private int rounds;
  private double stepNanos;

  /**
   * @param graph whether to replay graphs; otherwise every kernel is launched by itself
   * @param calls the step
   * @param groups the same calls by kind
   * @param results what a step is for; contiguous
   */
  public StepTimer(
      DeviceContext context,
      boolean graph,
      List<PreparedCall> calls,
      List<List<PreparedCall>> groups,
      List<Tensor> results) {
    this.context = context;
    this.results = results;
    this.graph = graph;
    this.step = launch(calls);
    for (List<PreparedCall> group : groups) {
      this.groups.add(launch(group));
      counts.add(group.size());
    }
  }

  private Launch launch(List<PreparedCall> calls) {
    CallList list = new CallList(calls);
    if (!graph) {
      return Launch.of(list);
    }
    try (Graph captured = context.target().runtime().capture(context.stream(), list::launch)) {
      GraphExec exec = captured.instantiate();
      graphs.add(exec);
      exec.upload(context.stream());
      return Launch.of(exec, context.stream());
    }
  }

  /** Runs the step once and waits. */
  public void runOnce() {
    try (Session once = new Session(context)) {
      stepNanos = once.span(List.of(step)).run()[0];
    }
  }

  /** Runs the step and each group once and waits. */
  public void runRound() {
    try (Session once = new Session(context)) {
      once.span(List.of(step));
      groups.forEach(group -> once.span(List.of(group)));
      stepNanos = once.run()[0];
    }
  }

  /**
   * One sampling session.
   *
   * @param afterRounds called when the device time has been taken and nothing runs
   */
  public Sampled run(SessionLimits limits, Runnable afterRounds) {
    if (session == null) {
      build(limits);
      session.prepare();
    }
    kept.forEach(result -> result.forEach(Tensor::poison));
    SampleLoop loop = new SampleLoop(context, session::run, rounds);
    SampleLoop.Taken taken = loop.run(limits.rule(), roundNanos(), 0);
    afterRounds.run();
    double[] spans = taken.nanos();
    double[] whole = new double[spans.length / (1 + groups.size())];
    double[][] parts = new double[groups.size()][whole.length];
    int next = 0;
    for (int round = 0; round < whole.length; round++) {
      whole[round] = spans[next++];
      for (int group = 0; group < parts.length; group++) {
        parts[group][round] = spans[next++] / counts.get(group);
      }
    }
    List<List<Tensor>> written = kept.subList(0, Math.min(kept.size(), taken.batch()));
    return new Sampled(whole, parts, written, taken.metrics(), taken.facts());
  }

  /** Device time of the step when it was run last outside of a session, in nanoseconds. */
  public double stepNanos() {
    return stepNanos;
  }

  /** Host times of the step. */
  public List<Metric> hostTimes(SessionLimits limits) {
    HostTimer.Times host = new HostTimer(context).idle(context.eviction(), step, stepNanos, limits);
    return List.of(
        new Metric(Measured.HOST_TIME, "ns/op", host.complete()),
        new Metric(Measured.HOST_SUBMIT, "ns/op", host.submit()));
  }

  // A round is the step, the same work again group by group, and an eviction before each.
  private double roundNanos() {
    double again = groups.isEmpty() ? 0 : stepNanos;
    return stepNanos + again + (1 + groups.size()) * context.evictionNanos();
  }

  private void build(SessionLimits limits) {
    rounds = limits.samples(roundNanos());
    session = new Session(context);
    long bytes = results.stream().mapToLong(Tensor::bytes).sum();
    long places = Math.max(1, MOST_RESULT_BYTES / Math.max(1, bytes));
    for (int round = 0; round < rounds; round++) {
      // The device is idle when the step is launched, as it is in an engine that waits for the
      // tokens of the step before: launched behind other work, slow launches would not show.
      session
          .untimed(context.eviction())
          .untimed(program -> program.synchronize(context.stream()))
          .span(List.of(step));
      if (round < places) {
        kept.add(results.stream().map(this::like).toList());
      }
      keepResults(kept.get(round % kept.size()));
      for (int i = 0; i < groups.size(); i++) {
        session.untimed(context.eviction());
        // A graph is one launch; of single ones no more than the queue is sure to take.
        boolean held = graph || counts.get(i) <= Session.MOST_HELD;
        if (held) {
          session.hold().span(List.of(groups.get(i))).release();
        } else {
          session.span(List.of(groups.get(i)));
        }
      }
      session.endSample();
    }
  }

  private Tensor like(Tensor result) {
    return context.target().ffi().allocate(result.dtype(), result.shape());
  }

  private void keepResults(List<Tensor> copies) {
    for (int i = 0; i < copies.size(); i++) {
      Tensor result = results.get(i);
      Tensor copy = copies.get(i);
      session.untimed(program -> program.copy(result, copy, context.stream()));
    }
  }

  @Override
  public void close() {
    if (session != null) {
      session.close();
    }
    graphs.forEach(GraphExec::close);
  }

  /**
   * What a session found.
   *
   * @param whole device time of the step from the first launch to the last kernel's end, in
   *     nanoseconds, one value a round
   * @param parts the same for one call of each group
   * @param results the results of each step that were kept; the next session overwrites them
   * @param metrics what was read of the device meanwhile
   */
  public record Sampled(
      double[] whole,
      double[][] parts,
      List<List<Tensor>> results,
      List<Metric> metrics,
      SessionFacts facts) {}
}
