package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.Printable;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.TextTable;
import io.musabench.results.tpot.Estimate;
import io.musabench.results.tpot.Intervals;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.StepTime;
import io.musabench.results.tpot.kernels.LaunchCosts;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntPredicate;

/**
 * What a graph saves: the decode step eager and replayed, by batch, and where that ends. Eager
 * steps take the longer of launching and computing, so a graph pays until the device is the slower
 * one.
 */
public final class GraphGain {
  /** Raised when a field changes its meaning or goes away; new fields do not raise it. */
  public static final int SCHEMA_VERSION = 1;

  /** A graph that saves less than this pays for nothing. */
  static final double WORTH = 0.01;

  private static final int LARGEST_BATCH = 1 << 14;

  private final Setup eager;
  private final Setup graph;
  private final int context;
  private final double captureSeconds;
  private final Map<Integer, Row> known = new HashMap<>();
  private final List<Row> rows = new ArrayList<>();
  private final Batches hostBoundUntil;
  private final Batches breakEvenBatch;
  private final int most;

  /**
   * One batch. Both modes see the same errors of kernel times, so that what they share cancels.
   *
   * @param batch requests that decode
   * @param eager the step launched kernel by kernel
   * @param graph the step replayed
   * @param kernelSeconds sum of the kernels of the eager step
   * @param eagerSeconds the eager step
   * @param graphSeconds the replayed step
   * @param gain how many times as long the eager step takes
   * @param saved by how much the graph's step is shorter, in seconds; below 0 where it is longer
   * @param breakEvenLaunch launch cost a kernel up to which the eager step is no slower, in seconds
   * @param waiting by how much launching the eager step takes longer than the device, in seconds
   */
  public record Row(
      int batch,
      StepTime eager,
      StepTime graph,
      Estimate kernelSeconds,
      Estimate eagerSeconds,
      Estimate graphSeconds,
      Estimate gain,
      Estimate saved,
      Estimate breakEvenLaunch,
      Estimate waiting) {
    /** How the least certain part of it was got. */
    Provenance provenance() {
      return eager.provenance().worse(graph.provenance());
    }
  }

  /**
   * A batch at which something ends.
   *
   * @param value as predicted
   * @param low lower end of the interval: where it ends if kernel times are off to one side
   * @param high upper end, where it ends if they are off to the other
   * @param provenance how the least certain part was got of the steps around it
   */
  public record Batches(int value, int low, int high, Provenance provenance) {
    Batches plus(int more) {
      return new Batches(value + more, low + more, high + more, provenance);
    }
  }

  /**
   * Compares.
   *
   * @param eager the model with eager launches
   * @param graph the same with graphs
   * @param batches requests of the decode steps to show
   * @param context tokens behind each of them
   * @param captureSeconds time to set up one graph; NaN: as measured beside the kernel times, if it
   *     was
   */
  public GraphGain(
      Setup eager, Setup graph, List<Integer> batches, int context, double captureSeconds) {
    this.eager = eager;
    this.graph = graph;
    this.context = context;
    this.captureSeconds = captureSeconds;
    for (int batch : batches) {
      if (batch < 1) {
        throw new IllegalArgumentException("A batch has at least 1 request, not " + batch);
      }
      rows.add(row(batch));
    }
    long fits = graph.model().kvTokens() / Math.max(1, context);
    this.most = (int) Math.max(1, Math.min(LARGEST_BATCH, fits));
    this.hostBoundUntil = last(Row::waiting, 0);
    this.breakEvenBatch = last(Row::gain, 1 + WORTH).plus(1);
  }

  private Row row(int batch) {
    return known.computeIfAbsent(batch, this::computed);
  }

  private Row computed(int batch) {
    StepTime launched = eager.model().decode(batch, context);
    StepTime replayed = graph.model().decode(batch, context);
    Intervals intervals = Intervals.of(eager.model(), launched, replayed);
    Intervals.Numbers numbers =
        moved -> {
          StepTime e = moved.of(eager.model()).decode(batch, context);
          StepTime g = moved.of(graph.model()).decode(batch, context);
          return new double[] {
            e.kernelSeconds(),
            e.seconds(),
            g.seconds(),
            (g.seconds() - g.gapSeconds()) / e.kernels(),
            e.seconds() / g.seconds(),
            e.seconds() - g.seconds(),
            e.hostSeconds() - e.deviceSeconds()
          };
        };
    Provenance both = launched.provenance().worse(replayed.provenance());
    List<Estimate> found = new ArrayList<>(intervals.of(numbers, both));
    double[] roofs = intervals.atRoofs(numbers);
    for (int i = 0; i < TIMES; i++) {
      found.set(i, found.get(i).within(roofs[i], Double.POSITIVE_INFINITY));
    }
    return new Row(
        batch,
        launched,
        replayed,
        found.get(0),
        found.get(1).from(launched.provenance()),
        found.get(2).from(replayed.provenance()),
        found.get(4).within(0, Double.POSITIVE_INFINITY),
        found.get(5),
        found.get(3),
        found.get(6));
  }

  /** Of the numbers of a row, those that are least where kernels reach their roofs. */
  private static final int TIMES = 4;

  /**
   * Largest batch at which a number that falls with the batch is still above a limit, and the
   * largest at which the lower and the upper end of its interval are: where it may end as well.
   */
  private Batches last(Function<Row, Estimate> number, double limit) {
    int value = last(b -> number.apply(row(b)).value() > limit);
    int low = last(b -> number.apply(row(b)).low() > limit);
    int high = last(b -> number.apply(row(b)).high() > limit);
    Provenance around =
        row(Math.max(1, value)).provenance().worse(row(Math.min(value + 1, most)).provenance());
    return new Batches(value, Math.min(low, value), Math.max(high, value), around);
  }

  /**
   * Largest batch that still has a property which larger ones lose; 0 if not even the first has.
   */
  private int last(IntPredicate property) {
    if (!property.test(1)) {
      return 0;
    }
    int low = 1;
    int high = 2;
    while (high <= most && property.test(high)) {
      low = high;
      high *= 2;
    }
    high = Math.min(high, most + 1);
    while (high - low > 1) {
      int middle = (low + high) / 2;
      if (property.test(middle)) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The batches asked for. */
  public List<Row> rows() {
    return List.copyOf(rows);
  }

  /** Largest batch whose eager step is host-bound; 0 if none is, {@link #most} if all are. */
  public Batches hostBoundUntil() {
    return hostBoundUntil;
  }

  /** Smallest batch at which a graph saves less than 1 %; above {@link #most} if none does. */
  public Batches breakEvenBatch() {
    return breakEvenBatch;
  }

  /** Largest batch that was looked at: what the KV cache holds. */
  public int most() {
    return most;
  }

  private String hostBound() {
    Batches b = hostBoundUntil;
    if (b.value() == 0) {
      return "no eager decode step is host-bound"
          + (eager.model().engine().launch() == null
              ? ": the launch cost is not known and counts as nothing (give --launch-us)"
              : within(b, "none or up to a batch of " + batch(b.high())));
    }
    if (b.value() >= most) {
      return "eager decode steps are host-bound at every batch up to "
          + most
          + within(b, b.low() == 0 ? "perhaps none is" : "at least up to a batch of " + b.low());
    }
    return "eager decode steps are host-bound up to a batch of "
        + b.value()
        + ", and not from "
        + (b.value() + 1)
        + " on"
        + within(b, "the last is " + (b.low() == 0 ? "none" : b.low()) + " to " + batch(b.high()));
  }

  private String breakEven() {
    Batches b = breakEvenBatch;
    return b.value() > most
        ? "a graph saves more than 1 % at every batch up to "
            + most
            + within(b, b.low() == 1 ? "perhaps at none" : "at least before " + b.low())
        : "a graph saves less than 1 % from a batch of "
            + b.value()
            + " on"
            + within(b, "from " + b.low() + " to " + batch(b.high()));
  }

  private static String within(Batches b, String interval) {
    return b.low() == b.high() ? "; no error of a kernel time moves that" : "; 90 %: " + interval;
  }

  /** A batch, or that it lies beyond what was looked at. */
  private String batch(int batch) {
    return batch >= most ? "beyond " + most : Integer.toString(batch);
  }

  /** Time to set up the graph of a step, in seconds; NaN if it is not known. */
  private double setUp(Row r) {
    LaunchCosts launch = graph.model().engine().launch();
    return !Double.isNaN(captureSeconds)
        ? captureSeconds
        : launch == null ? Double.NaN : launch.setUpPerNodeSeconds() * r.graph().kernels();
  }

  /**
   * Replays until setting up the graph has paid; infinite where it never does, NaN if that is not
   * known.
   */
  private Estimate replays(Row r) {
    // It falls with what is saved, so that its interval follows from that.
    Estimate saved = r.saved();
    Provenance how = r.provenance();
    if (!Double.isNaN(captureSeconds)) {
      how = how.worse(Provenance.ASSUMED);
    }
    return new Estimate(
        replays(r, saved.value()), replays(r, saved.high()), replays(r, saved.low()), how);
  }

  private double replays(Row r, double saved) {
    double setUp = setUp(r);
    return Double.isNaN(setUp)
        ? Double.NaN
        : saved > 0 ? Math.ceil(setUp / saved) : Double.POSITIVE_INFINITY;
  }

  /** How the time to set up a graph was got; null if it is not known. */
  private String setUpFrom() {
    return !Double.isNaN(captureSeconds)
        ? "given"
        : Double.isNaN(setUp(rows.get(0))) ? null : "measured";
  }

  private String setUp() {
    Row first = rows.get(0);
    return setUpFrom() == null
        ? "setting up a graph: not in the kernel times; give --capture-ms"
        : "setting up a graph: "
            + PredictionReport.time(setUp(first))
            + (Double.isNaN(captureSeconds)
                ? " for " + first.graph().kernels() + " nodes, measured"
                : ", as given");
  }

  /** What either side had to assume, each once. */
  private Set<String> assumptions() {
    Set<String> all = new LinkedHashSet<>(eager.assumptionsAfter());
    all.addAll(graph.assumptionsAfter());
    return all;
  }

  /** For a terminal. */
  public String text() {
    StringBuilder out = new StringBuilder(PredictionReport.heading(graph));
    out.append("\nDecode step over ").append(context).append(" tokens each, predicted\n");
    TextTable steps =
        new TextTable(
            ">batch", ">kernels", ">kernel sum", ">launching", ">eager", ">graph", "bound, eager");
    TextTable gains =
        new TextTable(
            ">batch",
            ">gain",
            ">saved",
            ">break-even launch",
            ">break-even replays",
            "least certain part");
    for (Row r : rows) {
      steps.row(
          Integer.toString(r.batch()),
          Integer.toString(r.eager().kernels()),
          Estimates.time(r.kernelSeconds()),
          PredictionReport.time(r.eager().hostSeconds()),
          Estimates.time(r.eagerSeconds()),
          Estimates.time(r.graphSeconds()),
          r.eager().bound().text());
      gains.row(
          Integer.toString(r.batch()),
          Estimates.ratio(r.gain()),
          Estimates.time(r.saved()),
          Estimates.time(r.breakEvenLaunch()),
          Estimates.count(replays(r)),
          r.provenance().text());
    }
    out.append(steps).append('\n').append(gains);
    out.append("  ").append(hostBound()).append('\n');
    out.append("  ").append(breakEven()).append('\n');
    out.append(
        "  break-even launch: launch cost a kernel up to which eager is no slower; replays:");
    out.append(" until setting up has paid\n");
    out.append("  ").append(setUp()).append('\n');
    out.append("  ").append(Estimates.BRACKETS).append('\n');
    out.append("  gain, saved: the same errors in both modes; ");
    out.append(Estimates.FIXED_MEANS).append('\n');
    assumptions().forEach(a -> out.append("  assumed: ").append(Printable.line(a)).append('\n'));
    return out.toString();
  }

  /** As JSON. */
  public String json() {
    return JsonText.print(tree());
  }

  /** The same as a tree. */
  public ObjectNode tree() {
    ObjectNode root = JsonText.root(SCHEMA_VERSION);
    PredictionReport.head(root, graph);
    root.put("context", context);
    // Of the eager side, where the cost of launching counts.
    JsonText.number(
        root,
        "launch_us",
        eager.model().engine().launch() == null
            ? Double.NaN
            : 1e6 * eager.model().engine().launch().perKernelSeconds());
    root.put("interval", Estimates.COVERED);
    batches(root, "host_bound_until_batch", hostBoundUntil, Integer.MAX_VALUE);
    root.put("host_bound", hostBound());
    batches(root, "device_bound_from_batch", hostBoundUntil.plus(1), most);
    batches(root, "break_even_batch", breakEvenBatch, most);
    root.put("break_even", breakEven());
    root.put("largest_batch", most);
    root.put("set_up_from", setUpFrom());
    ArrayNode array = root.putArray("rows");
    for (Row r : rows) {
      ObjectNode node = array.addObject();
      node.put("batch", r.batch());
      node.put("kernels", r.eager().kernels());
      Estimates.json(node, "kernels", "_ms", 1e3, r.kernelSeconds());
      JsonText.number(node, "launch_ms", 1e3 * r.eager().hostSeconds());
      Estimates.json(node, "eager", "_ms", 1e3, r.eagerSeconds());
      Estimates.json(node, "graph", "_ms", 1e3, r.graphSeconds());
      Estimates.json(node, "gain", "", 1, r.gain());
      Estimates.json(node, "saved", "_ms", 1e3, r.saved());
      node.put("host_bound_eager", r.eager().hostBound());
      node.put("provenance", r.provenance().text());
      node.put("eager_provenance", r.eager().provenance().text());
      node.put("graph_provenance", r.graph().provenance().text());
      Estimates.json(node, "break_even_launch", "_us", 1e6, r.breakEvenLaunch());
      JsonText.number(node, "set_up_ms", 1e3 * setUp(r));
      Estimates.json(node, "break_even_replays", "", 1, replays(r));
    }
    JsonText.texts(root, "assumptions", assumptions());
    return root;
  }

  /** The batch and its interval; null where it is none of those that were looked at. */
  private static void batches(ObjectNode node, String name, Batches b, int most) {
    batch(node, name, b.value(), most);
    batch(node, name + "_low", b.low(), most);
    batch(node, name + "_high", b.high(), most);
    node.put(name + "_provenance", b.provenance().text());
  }

  private static void batch(ObjectNode node, String name, int batch, int most) {
    node.put(name, batch > most ? null : Integer.valueOf(batch));
  }
}
