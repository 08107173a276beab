package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.Printable;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import io.musabench.results.tpot.StepModel;
import io.musabench.results.tpot.StepTime;
import io.musabench.results.tpot.kernels.LaunchCosts;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
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
  private final List<Row> rows = new ArrayList<>();
  private final int hostBoundUntil;
  private final int breakEvenBatch;
  private final int most;

  /**
   * One batch.
   *
   * @param batch requests that decode
   * @param eager the step launched kernel by kernel
   * @param graph the step replayed
   */
  public record Row(int batch, StepTime eager, StepTime graph) {
    /** How many times as long the eager step takes. */
    public double gain() {
      return eager.seconds() / graph.seconds();
    }

    /** By how much the graph's step is shorter, in seconds; below 0 where it is longer. */
    double saved() {
      return eager.seconds() - graph.seconds();
    }

    /** Launch cost a kernel up to which the eager step is no slower, in seconds. */
    public double breakEvenLaunch() {
      return (graph.seconds() - graph.gapSeconds()) / eager.kernels();
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
    this.hostBoundUntil = last(b -> step(eager.model(), b).hostBound());
    this.breakEvenBatch = last(b -> row(b).gain() > 1 + WORTH) + 1;
  }

  private Row row(int batch) {
    return new Row(batch, step(eager.model(), batch), step(graph.model(), batch));
  }

  private StepTime step(StepModel model, int batch) {
    return model.decode(batch, context);
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

  /** Largest batch whose eager step is host-bound; 0 if none is. */
  public int hostBoundUntil() {
    return hostBoundUntil;
  }

  /** Smallest batch at which a graph saves less than 1 %; above {@link #most} if none does. */
  public int breakEvenBatch() {
    return breakEvenBatch;
  }

  /** Largest batch that was looked at: what the KV cache holds. */
  public int most() {
    return most;
  }

  private String hostBound() {
    if (hostBoundUntil == 0) {
      return "no eager decode step is host-bound"
          + (eager.model().engine().launch() == null
              ? ": the launch cost is not known and counts as nothing (give --launch-us)"
              : "");
    }
    return hostBoundUntil >= most
        ? "eager decode steps are host-bound at every batch up to " + most
        : "eager decode steps are host-bound up to a batch of "
            + hostBoundUntil
            + ", and not from "
            + (hostBoundUntil + 1)
            + " on";
  }

  private String breakEven() {
    return breakEvenBatch > most
        ? "a graph saves more than 1 % at every batch up to " + most
        : "a graph saves less than 1 % from a batch of " + breakEvenBatch + " on";
  }

  /** Time to set up the graph of a step, in seconds; NaN if it is not known. */
  private double setUp(Row r) {
    LaunchCosts launch = graph.model().engine().launch();
    return !Double.isNaN(captureSeconds)
        ? captureSeconds
        : launch == null ? Double.NaN : launch.setUpPerNodeSeconds() * r.graph().kernels();
  }

  /** Replays until setting up the graph has paid; NaN if it never does, or that is not known. */
  private double replays(Row r) {
    return r.saved() > 0 ? Math.ceil(setUp(r) / r.saved()) : Double.NaN;
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
    TextTable table =
        new TextTable(
            ">batch",
            ">kernels",
            ">kernel sum",
            ">launching",
            ">eager",
            ">graph",
            ">gain",
            ">saved",
            ">break-even launch",
            ">break-even replays",
            "bound, eager");
    for (Row r : rows) {
      table.row(
          Integer.toString(r.batch()),
          Integer.toString(r.eager().kernels()),
          PredictionReport.time(r.eager().kernelSeconds()),
          PredictionReport.time(r.eager().hostSeconds()),
          PredictionReport.time(r.eager().seconds()),
          PredictionReport.time(r.graph().seconds()),
          Units.number(r.gain()) + "x",
          PredictionReport.time(r.saved()),
          PredictionReport.time(r.breakEvenLaunch()),
          Units.number(replays(r)),
          r.eager().bound().text());
    }
    out.append(table);
    out.append("  ").append(hostBound()).append('\n');
    out.append("  ").append(breakEven()).append('\n');
    out.append(
        "  break-even launch: launch cost a kernel up to which eager is no slower; replays:");
    out.append(" until setting up has paid\n");
    out.append("  ").append(setUp()).append('\n');
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
    root.put("host_bound_until_batch", hostBoundUntil);
    root.put("host_bound", hostBound());
    if (hostBoundUntil >= most) {
      root.putNull("device_bound_from_batch");
    } else {
      root.put("device_bound_from_batch", hostBoundUntil + 1);
    }
    if (breakEvenBatch > most) {
      root.putNull("break_even_batch");
    } else {
      root.put("break_even_batch", breakEvenBatch);
    }
    root.put("break_even", breakEven());
    root.put("largest_batch", most);
    root.put("set_up_from", setUpFrom());
    ArrayNode array = root.putArray("rows");
    for (Row r : rows) {
      ObjectNode node = array.addObject();
      node.put("batch", r.batch());
      node.put("kernels", r.eager().kernels());
      JsonText.number(node, "kernels_ms", 1e3 * r.eager().kernelSeconds());
      JsonText.number(node, "launch_ms", 1e3 * r.eager().hostSeconds());
      JsonText.number(node, "eager_ms", 1e3 * r.eager().seconds());
      JsonText.number(node, "graph_ms", 1e3 * r.graph().seconds());
      JsonText.number(node, "gain", r.gain());
      JsonText.number(node, "saved_ms", 1e3 * r.saved());
      node.put("host_bound_eager", r.eager().hostBound());
      node.put("provenance", r.eager().provenance().worse(r.graph().provenance()).text());
      JsonText.number(node, "break_even_launch_us", 1e6 * r.breakEvenLaunch());
      JsonText.number(node, "set_up_ms", 1e3 * setUp(r));
      JsonText.number(node, "break_even_replays", replays(r));
    }
    JsonText.texts(root, "assumptions", assumptions());
    return root;
  }
}
