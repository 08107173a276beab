package io.musabench.jmh.device;

import io.musabench.bindings.collective.Communicators;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Ffi;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Program;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.runtime.DeviceRuntime;
import io.musabench.bindings.runtime.Event;
import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.GraphExec;
import io.musabench.bindings.runtime.Stream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Samples an all-reduce between devices of this process and checks it.
 *
 * <p>Each device has a stream with an event before and after; a sample is the longest of their
 * spans, because the sum is not there before the last device has it. The operands stay where the
 * last launch left them. Of the clocks, that of the current device is watched: a throttled one of
 * the others shows in the times alone.
 */
public final class CollectiveTimer implements AutoCloseable {
  private static final double SPAN_NANOS = 200e3;
  private static final int MOST_LAUNCHES = 50;
  private static final int HOST_SAMPLES = 50;
  private static final int SAMPLED_VALUES = 4096;

  private final DeviceContext context;
  private final DeviceRuntime runtime;
  private final int ranks;
  private final int home; // the device that is current outside of here
  private final List<Stream> streams = new ArrayList<>();
  private final List<Tensor> send = new ArrayList<>();
  private final List<Tensor> receive = new ArrayList<>();
  private final Communicators communicators;
  private final PreparedCall call;
  private final List<GraphExec> graphs = new ArrayList<>();
  private boolean repeatable;
  private long expected; // checksum of the results of all ranks

  /**
   * Connects the devices and makes the operands.
   *
   * @param elements of the tensor that each rank has
   * @param graph whether to replay one graph a rank
   * @throws UnavailableException if there are too few devices, or the library does not load
   */
  public CollectiveTimer(
      DeviceContext context, int ranks, int elements, DType dtype, long seed, boolean graph) {
    this.context = context;
    this.runtime = context.target().runtime();
    this.ranks = ranks;
    this.home = runtime.currentDeviceIndex();
    int devices = runtime.deviceCount();
    if (devices < ranks) {
      throw new UnavailableException(
          "an all-reduce of %d ranks needs %d devices, and the target %s has %d%s"
              .formatted(
                  ranks,
                  ranks,
                  context.target(),
                  devices,
                  context.target().kind().id().equals("host") ? " (MUSART_HOST_DEVICES)" : ""));
    }
    Ffi ffi = context.target().ffi();
    LibraryLoader loader = new LibraryLoader();
    communicators =
        Communicators.open(loader, ffi, context.target().kind().vendor(), ranks)
            .orElseThrow(
                () ->
                    UnavailableException.notLoaded(
                        "the collectives' library", Communicators.LIBRARY_PROPERTY, loader));
    for (int rank = 0; rank < ranks; rank++) {
      runtime.setDevice(rank);
      Stream stream = runtime.createStream();
      ffi.setStream(stream);
      streams.add(stream);
      send.add(ffi.allocate(dtype, elements));
      receive.add(ffi.allocate(dtype, elements));
      context.kernels().randomFill(send.get(rank), (int) seed + rank, 1).launch();
    }
    runtime.setDevice(home);
    ffi.setStream(context.stream());
    call = communicators.allReduce(send, receive, streams);
    call.launch(); // Connects the devices, which a capture must not.
    synchronize();
    if (graph) {
      capture(0);
    }
  }

  // All streams capture at once, and the call queues to each; the graphs are instantiated last.
  private void capture(int rank) {
    if (rank == ranks) {
      call.launch();
      return;
    }
    runtime.setDevice(rank);
    try (Graph captured = runtime.capture(streams.get(rank), () -> capture(rank + 1))) {
      runtime.setDevice(rank);
      graphs.add(0, captured.instantiate()); // The innermost comes first.
    }
    runtime.setDevice(home);
  }

  /** The vendor's name of the function, and where it is from. */
  public String note() {
    return "all-reduce by " + call.name() + " of " + communicators.library().path();
  }

  private void synchronize() {
    for (int rank = 0; rank < ranks; rank++) {
      runtime.setDevice(rank);
      streams.get(rank).synchronize();
    }
    runtime.setDevice(home);
  }

  private void launchOnce() {
    Program.Builder program = Program.builder(context.target().ffi());
    add(program);
    program.device(home).build().run();
  }

  private void add(Program.Builder program) {
    if (graphs.isEmpty()) {
      program.call(call);
      return;
    }
    for (int rank = 0; rank < ranks; rank++) {
      program.device(rank).graph(graphs.get(rank), streams.get(rank));
    }
  }

  /**
   * Runs it once over poisoned results and compares some of them, on every rank, with the sum of
   * what was sent.
   *
   * @throws WrongResultException when one is off
   */
  public Agreement verify() {
    Agreement agreement = verifyOnce();
    expected = checksum();
    verifyOnce();
    repeatable = checksum() == expected;
    return agreement;
  }

  /** Whether it gives the same bits every time. */
  public boolean repeatable() {
    return repeatable;
  }

  private long checksum() {
    long sum = 0;
    for (int rank = 0; rank < ranks; rank++) {
      runtime.setDevice(rank);
      sum = 31 * sum + receive.get(rank).checksum();
    }
    runtime.setDevice(home);
    return sum;
  }

  private Agreement verifyOnce() {
    for (int rank = 0; rank < ranks; rank++) {
      runtime.setDevice(rank);
      receive.get(rank).poison();
    }
    runtime.setDevice(home);
    launchOnce();
    synchronize();
    return inspect();
  }

  /**
   * Checks what the last launch left: bit for bit, where it gives the same bits every time, and
   * some values against the sum.
   */
  public Agreement inspect() {
    if (repeatable && checksum() != expected) {
      throw new WrongResultException(
          "all_reduce: a timed run left another sum than an untimed one");
    }
    float[][] sent = new float[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      runtime.setDevice(rank);
      sent[rank] = send.get(rank).toFloats();
    }
    Agreement all = Agreement.NONE;
    int[] places = Rows.some(sent[0].length, SAMPLED_VALUES);
    double[] expected = new double[places.length];
    for (int i = 0; i < places.length; i++) {
      for (float[] values : sent) {
        expected[i] += values[places[i]];
      }
    }
    for (int rank = 0; rank < ranks; rank++) {
      runtime.setDevice(rank);
      Agreement.requireWritten("all_reduce", receive.get(rank));
      float[] got = receive.get(rank).toFloats();
      float[] actual = new float[places.length];
      for (int i = 0; i < places.length; i++) {
        actual[i] = got[places[i]];
      }
      all = all.and(Agreement.compare("all_reduce on rank " + rank, expected, actual));
    }
    runtime.setDevice(home);
    return all;
  }

  /** One sampling session. */
  public Sampled run(SessionLimits limits) {
    double one = spans(1, 1)[0];
    int launches = (int) Math.max(1, Math.min(MOST_LAUNCHES, SPAN_NANOS / Math.max(1, one)));
    SampleLoop.Taken taken =
        new SampleLoop(context, batch -> times(batch, launches), limits.most())
            .run(limits.rule(), one * launches, one);
    Program.Builder builder = Program.builder(context.target().ffi());
    add(builder);
    Program single = builder.device(home).build();
    double[] submit = new double[HOST_SAMPLES];
    double[] complete = new double[HOST_SAMPLES];
    for (int i = 0; i < HOST_SAMPLES; i++) {
      long begin = System.nanoTime();
      submit[i] = single.run();
      synchronize();
      complete[i] = System.nanoTime() - begin;
    }
    List<Metric> metrics = new ArrayList<>(taken.metrics());
    metrics.add(new Metric(Measured.HOST_TIME, "ns/op", complete));
    metrics.add(new Metric(Measured.HOST_SUBMIT, "ns/op", submit));
    return new Sampled(taken.nanos(), launches, metrics, taken.facts());
  }

  private double[] times(int samples, int launches) {
    return Arrays.stream(spans(samples, launches)).map(span -> span / launches).toArray();
  }

  // The longest span of all ranks, of so many launches each.
  private double[] spans(int samples, int launches) {
    List<List<Event>> starts = new ArrayList<>();
    List<List<Event>> stops = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      runtime.setDevice(rank);
      starts.add(events(samples));
      stops.add(events(samples));
    }
    runtime.setDevice(home);
    Program.Builder program = Program.builder(context.target().ffi());
    add(program); // The first finds the devices idle.
    for (int sample = 0; sample < samples; sample++) {
      record(program, starts, sample);
      for (int i = 0; i < launches; i++) {
        add(program);
      }
      record(program, stops, sample);
    }
    program.device(home).build().run();
    synchronize();
    double[] nanos = new double[samples];
    for (int rank = 0; rank < ranks; rank++) {
      runtime.setDevice(rank);
      for (int sample = 0; sample < samples; sample++) {
        double ms = stops.get(rank).get(sample).millisecondsSince(starts.get(rank).get(sample));
        nanos[sample] = Math.max(nanos[sample], ms * 1e6);
      }
      starts.get(rank).forEach(Event::close);
      stops.get(rank).forEach(Event::close);
    }
    runtime.setDevice(home);
    return nanos;
  }

  private List<Event> events(int count) {
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      events.add(runtime.createEvent());
    }
    return events;
  }

  private void record(Program.Builder program, List<List<Event>> events, int sample) {
    for (int rank = 0; rank < ranks; rank++) {
      program.device(rank).record(events.get(rank).get(sample), streams.get(rank));
    }
  }

  @Override
  public void close() {
    synchronize();
    graphs.forEach(GraphExec::close);
    communicators.close();
    // Each on its own device: not every runtime frees the memory of another.
    for (int rank = ranks - 1; rank >= 0; rank--) {
      runtime.setDevice(rank);
      send.get(rank).close();
      receive.get(rank).close();
      streams.get(rank).close();
    }
    runtime.setDevice(home);
  }

  /**
   * What a session found.
   *
   * @param nanos device time of one all-reduce, one value a sample
   * @param launches all-reduces of a sample
   * @param metrics host times, and what was read of the current device
   * @param facts how the samples came about
   */
  public record Sampled(double[] nanos, int launches, List<Metric> metrics, SessionFacts facts) {}
}
