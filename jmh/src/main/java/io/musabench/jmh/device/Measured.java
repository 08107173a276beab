package io.musabench.jmh.device;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What one sampling session found.
 *
 * @param kernel name of the export of the one kernel measured; empty for anything else
 * @param shape the kernel's shape, else empty
 * @param kernels kernel calls in one operation; 0 where that means nothing
 * @param clock whose time {@code nanos} is
 * @param nanos time of one operation, one value a sample, in nanoseconds
 * @param launches operations between the two events of a sample
 * @param flops floating point operations of one operation; 0 when it does none worth a rate
 * @param bytes bytes one operation has to move; 0 when it moves none worth a rate
 * @param seed seed of the inputs
 * @param metrics further quantities
 * @param parts the kernels of a step one by one; empty for anything else
 * @param notes lines the reader must know, for example that layers share weights
 * @param facts how the samples came about
 */
public record Measured(
    String kernel,
    String shape,
    int kernels,
    Clock clock,
    double[] nanos,
    int launches,
    long flops,
    long bytes,
    long seed,
    ArrayList<Metric> metrics,
    ArrayList<StepPart> parts,
    ArrayList<String> notes,
    SessionFacts facts)
    implements Serializable {

  /** Who took the time. */
  public enum Clock {
    /** Events on the stream. */
    DEVICE,
    /** The host, because the operation does nothing on the device. */
    HOST
  }

  /** Metric: host time from the first call to the end of the work, {@code ns/op}. */
  public static final String HOST_TIME = "host.time";

  /** Metric: host time until the calls have returned, the work still running, {@code ns/op}. */
  public static final String HOST_SUBMIT = "host.submit";

  /** Metric: device time of a step as a graph, beside the eager one, {@code ns/op}. */
  public static final String GRAPH_DEVICE = "graph.device";

  /** Metric: host time to capture a step's graph, {@code ns/op}. */
  public static final String GRAPH_CAPTURE = "graph.capture";

  /** Metric: host time to make it executable, {@code ns/op}. */
  public static final String GRAPH_INSTANTIATE = "graph.instantiate";

  /** Metric: host time to bring it to the device ahead of its first launch, {@code ns/op}. */
  public static final String GRAPH_UPLOAD = "graph.upload";

  /** Metric: {@link #HOST_TIME} of the same step launched kernel by kernel. */
  public static final String EAGER_SPAN = "eager.span";

  /** Metric: {@link #HOST_SUBMIT} of the same step launched kernel by kernel. */
  public static final String EAGER_SUBMIT = "eager.submit";

  /** Metric: device time of the same step launched kernel by kernel, {@code ns/op}. */
  public static final String EAGER_DEVICE = "eager.device";

  /** Metric: {@link #HOST_TIME} of a graph whose inputs are written and copied first. */
  public static final String UPDATED_SPAN = "updated.span";

  /** Metric: {@link #HOST_SUBMIT} of it. */
  public static final String UPDATED_SUBMIT = "updated.submit";

  /** Metric: device time of it, the copies included, {@code ns/op}. */
  public static final String UPDATED_DEVICE = "updated.device";

  /** Metric: host time to write the inputs and to queue their copies, {@code ns/op}. */
  public static final String UPDATE = "updated.update";

  /** Metric: requests that the padded graph was captured for. */
  public static final String PADDED_REQUESTS = "padded.requests";

  /** Metric: {@link #HOST_TIME} of the same requests in a graph for more of them. */
  public static final String PADDED_SPAN = "padded.span";

  /** Metric: {@link #HOST_SUBMIT} of it. */
  public static final String PADDED_SUBMIT = "padded.submit";

  /** Metric: device time of it, {@code ns/op}. */
  public static final String PADDED_DEVICE = "padded.device";

  /** Metric: host time of the very first run, with everything it sets up, {@code ns/op}. */
  public static final String FIRST_RUN = "host.first";

  /** Metric: power of the device while samples were taken, {@code W}. */
  public static final String DEVICE_POWER = "device.power";

  /** Metric: temperature of the device while samples were taken, {@code C}. */
  public static final String DEVICE_TEMPERATURE = "device.temperature";

  /** Copies the lists. */
  public Measured(
      String kernel,
      String shape,
      int kernels,
      Clock clock,
      double[] nanos,
      int launches,
      long flops,
      long bytes,
      long seed,
      List<Metric> metrics,
      List<StepPart> parts,
      List<String> notes,
      SessionFacts facts) {
    this(
        kernel,
        shape,
        kernels,
        clock,
        nanos,
        launches,
        flops,
        bytes,
        seed,
        new ArrayList<>(metrics),
        new ArrayList<>(parts),
        new ArrayList<>(notes),
        facts);
  }

  /** The same with every time of the operation longer by a fraction. */
  Measured slower(double fraction) {
    double[] longer = Arrays.stream(nanos).map(n -> n * (1 + fraction)).toArray();
    return new Measured(
        kernel, shape, kernels, clock, longer, launches, flops, bytes, seed, metrics, parts, notes,
        facts);
  }
}
