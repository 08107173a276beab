package io.musabench.results.tpot.answers;

import io.musabench.results.audit.AuditOptions;
import io.musabench.results.audit.EndToEndRow;
import io.musabench.results.audit.EndToEndTable;
import io.musabench.results.audit.Load;
import io.musabench.results.model.Layout;
import io.musabench.results.model.ModelConfig;
import io.musabench.results.tpot.Mode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What an end-to-end table alone says of the parameters that nobody measured: the launch cost a
 * kernel, the time for which a prefill holds up decoding, the requests really in flight. Each comes
 * out as the interval of all values that explain the table, and the experiments that could be done
 * next are compared by how much of the intervals each would leave.
 *
 * <p>The equations, all from the model of this package's parent: {@code TPOT = T / (1 - X P)};
 * eager {@code T = n t + (1 - a) D} with {@code n} kernels, launch cost {@code t}, device time
 * {@code D} of which the share {@code a} hides behind launching ({@code a} = 1 is host-bound, 0 is
 * no overlap at all); graph {@code T = D}; {@code N = X (TTFT + (output - 1) TPOT)}.
 *
 * @param services one a model, layout and prompt length
 * @param assumptions what was taken for granted
 */
public record Identification(List<Service> services, List<String> assumptions) {
  /** Copies the lists. */
  public Identification {
    services = List.copyOf(services);
    assumptions = List.copyOf(assumptions);
  }

  /**
   * An interval; NaN where the table sets no limit.
   *
   * @param low lower end
   * @param high upper end
   */
  public record Range(double low, double high) {
    static final Range UNKNOWN = new Range(Double.NaN, Double.NaN);

    /** Width; NaN if an end is not known. */
    public double width() {
      return high - low;
    }
  }

  /**
   * How a row was run, as its label or its column {@code mode} tells.
   *
   * @param mode null if nothing tells
   * @param prefixCache whether a prefix cache was on
   * @param split whether prefill and decode ran on separate devices
   */
  public record Features(Mode mode, boolean prefixCache, boolean split) {}

  /**
   * One row with what follows from it.
   *
   * @param row the row
   * @param features how it was run
   * @param requestsPerS its rate, or what its concurrency implies
   * @param concurrency requests in flight by Little's law
   * @param concurrencyRange the same with the table's tolerance
   * @param decodeBatch requests that decode at once
   * @param context mean tokens that each of them has behind it
   */
  public record Point(
      EndToEndRow row,
      Features features,
      double requestsPerS,
      double concurrency,
      Range concurrencyRange,
      double decodeBatch,
      double context) {
    double tpotS() {
      return row.tpotMs() / 1e3;
    }
  }

  /**
   * One way to read the launch cost out of the table.
   *
   * @param name what it supposes
   * @param launchUs launch cost a kernel, over the range of kernel counts
   */
  public record Hypothesis(String name, Range launchUs) {}

  /**
   * Rows of one model, layout and prompt length.
   *
   * @param name what tells it apart
   * @param points its rows
   * @param kernels kernels of a decode step
   * @param launchUs launch cost a kernel in microseconds
   * @param launchUsWithTolerance the same if the table may be off by its tolerance
   * @param hypotheses how the ends come about
   * @param prefillMs time for which one request's prefill holds up decoding
   * @param interference share {@code X P} of the time that this takes, in the busiest row of those
   *     that prefill and decode on one device
   * @param convoyMs estimate of the same time from TTFT, if requests come in convoys
   * @param concurrency requests in flight, over all rows
   * @param experiments what could be done next, the best first; empty if nothing is left to narrow
   * @param remarks why something is not known
   */
  public record Service(
      String name,
      List<Point> points,
      Range kernels,
      Range launchUs,
      Range launchUsWithTolerance,
      List<Hypothesis> hypotheses,
      Range prefillMs,
      Range interference,
      Range convoyMs,
      Range concurrency,
      List<Experiments.Outcome> experiments,
      List<String> remarks) {}

  private static final Pattern SPLIT =
      Pattern.compile("p/d|\\bpd\\b|disagg|prefill.{0,3}decode|\\bsplit\\b");

  /**
   * Reads the parameters out of a table.
   *
   * @param kernels kernels of a decode step, or null to derive them from the model
   * @throws IllegalArgumentException if a row has no TPOT, or an option names what does not exist
   */
  public static Identification of(EndToEndTable table, AuditOptions options, Range kernels) {
    Set<String> assumed = new LinkedHashSet<>();
    Map<String, List<Point>> groups = new LinkedHashMap<>();
    Map<String, Load> loads = new LinkedHashMap<>();
    Features before = new Features(null, false, false);
    for (EndToEndRow row : table.rows()) {
      if (Double.isNaN(row.tpotMs())) {
        throw new IllegalArgumentException(
            table.name() + ", row " + row.number() + " (" + row.label() + ") has no TPOT");
      }
      Load load = new Load(row, table, options);
      // Limits, device and precision do not enter here.
      load.assumed().stream().filter(a -> a.matches("(model|tp|isl|osl) .*")).forEach(assumed::add);
      before = features(row, before);
      String name = name(load);
      loads.putIfAbsent(name, load);
      groups
          .computeIfAbsent(name, key -> new ArrayList<>())
          .add(point(row, before, load, options.tolerance()));
    }
    List<Service> services = new ArrayList<>();
    groups.forEach(
        (name, points) ->
            services.add(
                new Solver(name, points, loads.get(name), kernels, options.tolerance()).solve()));
    List<String> assumptions = new ArrayList<>();
    if (!assumed.isEmpty()) {
      assumptions.add("neither in the table nor given: " + String.join(", ", assumed));
    }
    assumptions.add(
        "rows of one prompt length prefill equally long where they agree about the prefix cache");
    return new Identification(services, assumptions);
  }

  private static String name(Load load) {
    String model = load.layout() == null ? load.model() : load.layout().toString();
    String input = Double.isNaN(load.inputTokens()) ? "" : ", input " + (long) load.inputTokens();
    return (model == null ? "unknown model" : model) + input;
  }

  /** A label that begins with a plus adds to the row before. */
  private static Features features(EndToEndRow row, Features before) {
    String label = row.label().toLowerCase(Locale.ROOT);
    boolean adds = label.startsWith("+");
    String word = row.mode().toLowerCase(Locale.ROOT);
    Mode mode = adds ? before.mode() : null;
    if (word.equals("eager") || label.contains("eager")) {
      mode = Mode.EAGER;
    }
    if (word.equals("graph") || label.contains("graph")) {
      mode = Mode.GRAPH;
    }
    boolean split = SPLIT.matcher(label).find() || word.startsWith("disagg");
    return new Features(
        mode,
        label.contains("prefix") || adds && before.prefixCache(),
        split || adds && before.split());
  }

  private static Point point(EndToEndRow row, Features features, Load load, double tolerance) {
    double seconds = (row.ttftMs() + (load.outputTokens() - 1) * row.tpotMs()) / 1e3;
    double stated = row.requestsPerS();
    double rate = Double.isNaN(stated) ? load.concurrency() / seconds : stated;
    double inFlight = rate * seconds;
    // A rate made from the concurrency says nothing new about it.
    double off = Double.isNaN(stated) ? 0 : tolerance;
    return new Point(
        row,
        features,
        rate,
        inFlight,
        new Range(inFlight * (1 - off) * (1 - off), inFlight * (1 + off) * (1 + off)),
        rate * (load.outputTokens() - 1) * row.tpotMs() / 1e3,
        load.inputTokens() + load.outputTokens() / 2);
  }

  /**
   * Kernels that a server launches for one decode step, as vLLM runs a decoder without fusing more
   * than norm and residual, gate and up, q, k and v: a layer has 10 (norm, qkv, rope, cache write,
   * attention, output, norm, gate and up, activation, down), 2 more where queries and keys are
   * normalised and 2 more for the all-reduces of several ranks; up to 2 more for attention in two
   * passes and the preparation of it; 12 around the layers.
   */
  static Range kernels(Layout layout) {
    ModelConfig model = layout.model();
    int layer = 10 + (model.qkNorm() ? 2 : 0) + (layout.tp() > 1 ? 2 : 0);
    return new Range(model.layers() * layer + 12, model.layers() * (layer + 2) + 12);
  }

  /** The arithmetic for one service. */
  private static final class Solver {
    private final String name;
    private final List<Point> points;
    private final Load load;
    private final double tolerance;
    private final Range kernels;
    private final List<String> remarks = new ArrayList<>();

    Solver(String name, List<Point> points, Load load, Range kernels, double tolerance) {
      this.name = name;
      this.points = points;
      this.load = load;
      this.tolerance = tolerance;
      if (kernels != null) {
        this.kernels = kernels;
      } else if (load.layout() != null) {
        this.kernels = kernels(load.layout());
      } else {
        this.kernels = Range.UNKNOWN;
        remarks.add("the launch cost a kernel needs their number: " + load.noLayout());
      }
    }

    Service solve() {
      double prefill = longestPrefill();
      Point graph = first(Mode.GRAPH);
      Point eager = eagerBeside(graph);
      Range launch = Range.UNKNOWN;
      Range tolerant = Range.UNKNOWN;
      List<Hypothesis> hypotheses = new ArrayList<>();
      if (eager == null) {
        remarks.add(
            "launch cost: no row is said to be eager (by its label or a column mode), and a graph"
                + " hides what launching costs");
      } else {
        hypotheses = hypotheses(eager, graph, prefill, 0);
        launch = hull(hypotheses);
        tolerant = hull(hypotheses(eager, graph, prefill, tolerance));
        if (graph == null) {
          remarks.add(
              "launch cost: no graph row beside the eager one, so nothing bounds the device time");
        }
      }
      if (Double.isNaN(prefill)) {
        remarks.add("interference: the rate of requests is not known");
      }
      double busiest =
          points.stream()
              .filter(p -> !p.features().split())
              .mapToDouble(Point::requestsPerS)
              .max()
              .orElse(Double.NaN);
      if (graph != null && !graph.features().split()) {
        busiest = graph.requestsPerS();
      }
      Range prefillMs = new Range(Double.isNaN(prefill) ? prefill : 0, prefill * 1e3);
      Range interference = new Range(prefillMs.low(), prefill * busiest);
      Range concurrency =
          new Range(
              points.stream().mapToDouble(p -> p.concurrencyRange().low()).min().orElseThrow(),
              points.stream().mapToDouble(p -> p.concurrencyRange().high()).max().orElseThrow());
      Experiments experiments =
          new Experiments(eager, graph, kernels, prefill, points.get(0).concurrencyRange());
      return new Service(
          name,
          points,
          kernels,
          launch,
          tolerant,
          hypotheses,
          prefillMs,
          interference,
          convoy(),
          concurrency,
          experiments.outcomes(),
          List.copyOf(remarks));
    }

    private Point first(Mode mode) {
      return points.stream()
          .filter(p -> p.features().mode() == mode && !p.features().split())
          .findFirst()
          .orElse(null);
    }

    /** The eager row that differs from the graph row in the graph alone, else any eager row. */
    private Point eagerBeside(Point graph) {
      Point any = null;
      for (Point p : points) {
        if (p.features().mode() == Mode.EAGER && !p.features().split()) {
          any = p;
          if (graph != null && p.features().prefixCache() == graph.features().prefixCache()) {
            return p;
          }
        }
      }
      return any;
    }

    /**
     * The longest prefill that the rows allow, in seconds. A step never gets faster by more
     * requests in it, by the same kernels launched one by one, or by prefills beside it.
     */
    private double longestPrefill() {
      double longest = Double.NaN;
      for (Point p : points) {
        if (p.features().split() || Double.isNaN(p.requestsPerS())) {
          continue;
        }
        // It holds up less than all of the time, and the median request waits for its own.
        longest = least(longest, 1 / p.requestsPerS());
        if (p.row().ttftMs() > 0) {
          longest = least(longest, p.row().ttftMs() / 1e3);
        }
        for (Point q : points) {
          longest = least(longest, bound(p, q));
        }
      }
      return longest;
    }

    private static double least(double a, double b) {
      return Double.isNaN(a) ? b : Double.isNaN(b) ? a : Math.min(a, b);
    }

    /**
     * The longest prefill with which the step of {@code p} is at least as long as that of {@code
     * q}.
     */
    private static double bound(Point p, Point q) {
      boolean graphOverEager =
          p.features().mode() == Mode.GRAPH && q.features().mode() == Mode.EAGER;
      if (q == p || graphOverEager || !(p.tpotS() > q.tpotS())) {
        return Double.NaN;
      }
      if (q.features().split()) {
        // Separate devices hold up nothing: the rest of the gain is the kernels' own.
        boolean alike = p.features().mode() == q.features().mode();
        return alike ? (1 - q.tpotS() / p.tpotS()) / p.requestsPerS() : Double.NaN;
      }
      boolean alike =
          p.features().mode() == q.features().mode()
              && p.features().prefixCache() == q.features().prefixCache();
      boolean larger = p.decodeBatch() >= q.decodeBatch() && p.context() >= q.context();
      if (!alike || !larger) {
        return Double.NaN;
      }
      double slope = p.requestsPerS() * p.tpotS() - q.requestsPerS() * q.tpotS();
      return slope > 0 ? (p.tpotS() - q.tpotS()) / slope : Double.NaN;
    }

    /** TTFT of the median request in a convoy of all in flight is (N + 1) / 2 prefills. */
    private Range convoy() {
      double low = Double.NaN;
      double high = Double.NaN;
      Point graph = first(Mode.GRAPH);
      for (Point p : points) {
        boolean counts =
            !p.features().split()
                && (graph == null || p.features().prefixCache() == graph.features().prefixCache());
        double estimate = 2 * p.row().ttftMs() / (p.concurrency() + 1);
        if (counts && !Double.isNaN(estimate)) {
          low = Double.isNaN(low) ? estimate : Math.min(low, estimate);
          high = Double.isNaN(high) ? estimate : Math.max(high, estimate);
        }
      }
      return new Range(low, high);
    }

    private List<Hypothesis> hypotheses(Point eager, Point graph, double longest, double off) {
      List<Hypothesis> found = new ArrayList<>();
      if (Double.isNaN(kernels.low())) {
        return found;
      }
      double up = eager.tpotS() * (1 + off);
      double down = eager.tpotS() * (1 - off);
      found.add(
          new Hypothesis(
              "host-bound, no prefill in the way",
              new Range(us(down / kernels.high()), us(up / kernels.low()))));
      double prefill = Double.isNaN(longest) ? 0 : longest;
      double held = 1 - Math.min(1, prefill * eager.requestsPerS());
      // One eager row alone allows prefills that take all the time, which says nothing of the host.
      if (prefill > 0 && (graph != null || held > 1e-9)) {
        found.add(
            new Hypothesis(
                "host-bound, prefills in the way as long as the table allows",
                new Range(us(down * held / kernels.high()), us(up * held / kernels.low()))));
      }
      if (graph == null) {
        found.add(new Hypothesis("all of it device time", new Range(0, 0)));
        return found;
      }
      double free = 1 - Math.min(1, prefill * graph.requestsPerS());
      double graphUp = graph.tpotS() * (1 + off);
      double graphDown = graph.tpotS() * (1 - off);
      found.add(
          new Hypothesis(
              "no overlap of host and device, no prefill in the way",
              additive(down - graphUp, up - graphDown)));
      if (prefill > 0) {
        found.add(
            new Hypothesis(
                "no overlap, prefills in the way as long as the table allows",
                additive(down * held - graphUp * free, up * held - graphDown * free)));
      }
      return found;
    }

    private Range additive(double low, double high) {
      return new Range(
          us(Math.max(0, low) / kernels.high()), us(Math.max(0, high) / kernels.low()));
    }

    private static double us(double seconds) {
      return seconds * 1e6;
    }

    private static Range hull(List<Hypothesis> all) {
      return all.isEmpty()
          ? Range.UNKNOWN
          : new Range(
              all.stream().mapToDouble(h -> h.launchUs().low()).min().orElseThrow(),
              all.stream().mapToDouble(h -> h.launchUs().high()).max().orElseThrow());
    }
  }
}
