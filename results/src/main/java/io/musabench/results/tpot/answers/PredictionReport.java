package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.Printable;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.ElementType;
import io.musabench.results.model.KernelCall.PagedAttention;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import io.musabench.results.tpot.ClosedLoop;
import io.musabench.results.tpot.Engine;
import io.musabench.results.tpot.Estimate;
import io.musabench.results.tpot.Intervals;
import io.musabench.results.tpot.Prediction;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.StepModel;
import io.musabench.results.tpot.StepTime;
import io.musabench.results.tpot.Term;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.kernels.DeviceRoofs;
import io.musabench.results.tpot.kernels.KernelTime;
import io.musabench.results.tpot.kernels.KernelTime.OtherTypes;
import io.musabench.results.tpot.kernels.LaunchCosts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Predictions of a service, and of single steps, as text and as JSON. */
public final class PredictionReport {
  /** Raised when a field changes its meaning or goes away; new fields do not raise it. */
  public static final int SCHEMA_VERSION = 1;

  /** Of more predictions than this, JSON leaves the operations out unless asked for them. */
  public static final int MANY = 16;

  /** Standard deviation of a time that an operation's calls have in common. */
  private static final String SIGMA =
      "  sigma: one standard deviation of the time of an operation, the same for all its calls;"
          + "\n  90 %: "
          + Estimates.COVERED
          + "\n";

  private final Setup setup;
  private final List<Prediction> predictions = new ArrayList<>();
  private final List<BatchSpec> batches;
  private final List<StepTime> steps = new ArrayList<>();

  /**
   * Predicts, with intervals.
   *
   * @param batches single steps to predict besides; may be empty
   * @throws IllegalArgumentException if a workload or batch does not fit the model or its memory
   */
  public PredictionReport(Setup setup, List<Workload> workloads, List<BatchSpec> batches) {
    this.setup = setup;
    this.batches = List.copyOf(batches);
    workloads.forEach(w -> predictions.add(ClosedLoop.predictWithInterval(setup.model(), w)));
    batches.forEach(b -> steps.add(setup.model().step(b)));
  }

  /** What was predicted, in the order of the workloads. */
  public List<Prediction> predictions() {
    return List.copyOf(predictions);
  }

  /** For a terminal. */
  public String text() {
    StringBuilder out = new StringBuilder(heading(setup));
    if (!predictions.isEmpty()) {
      Workload first = predictions.get(0).workload();
      out.append("\nPredicted, closed loop, ").append(first.inputTokens()).append(" tokens in, ");
      out.append(first.outputTokens()).append(" out; nothing here was measured but the kernels\n");
      out.append(overview());
      out.append("  90 %: interval, ").append(Estimates.COVERED).append(";\n");
      out.append("  TTFT from requests that come one by one to all at once, with its interval at");
      out.append(" both ends;\n  known: part of the decode step's time that was measured or lies");
      out.append(" between measured points;\n ");
      out.append(" from: how the least certain part of it was got\n");
      how(out, first);
      for (Prediction p : predictions) {
        if (!p.remark().isEmpty()) {
          out.append("  note: ").append(p.workload().concurrency()).append(" in flight: ");
          out.append(Printable.line(p.remark())).append('\n');
        }
      }
    }
    if (predictions.size() == 1) {
      Prediction p = predictions.get(0);
      step(out, "Decode step of " + decoding(p) + " requests", p.decodeStep());
      step(out, "Prefill step", p.prefillStep());
    } else if (!predictions.isEmpty()) {
      out.append("  the operations of a step are shown for a single --concurrency\n");
    }
    for (int i = 0; i < steps.size(); i++) {
      step(out, "Step " + batches.get(i), steps.get(i));
    }
    if (predictions.size() == 1 || !steps.isEmpty()) {
      out.append(SIGMA);
    }
    out.append(LookupReport.text(setup.model().times().source()));
    setup
        .assumptionsAfter()
        .forEach(a -> out.append("  assumed: ").append(Printable.line(a)).append('\n'));
    return out.toString();
  }

  /**
   * Requests that the decode step has. It is not all that run: with separate prefill others are
   * prefilled or on other decoders.
   */
  private static int decoding(Prediction p) {
    return p.decodeStep().terms().stream()
        .map(Term::call)
        .filter(PagedAttention.class::isInstance)
        .mapToInt(call -> ((PagedAttention) call).batch().size())
        .findFirst()
        .orElse(p.runningRequests());
  }

  /** What is special about how requests are served. */
  private void how(StringBuilder out, Workload w) {
    if (w.speculation() != null) {
      out.append("  speculation: ").append(Units.number(w.speculation().tokensPerStep()));
      out.append(" tokens a step; ").append(Units.percent(100 * w.speculation().itlAtomAtZero()));
      out.append(" of the gaps between tokens (ITL) are 0\n");
    }
    if (w.disaggregation() != null) {
      double sent = w.disaggregation().transferSeconds(setup.model().engine(), w.inputTokens());
      out.append("  separate prefill: sending the keys and values of a prompt takes ");
      out.append(time(sent)).append(", which is in TTFT\n");
    }
    if (w.prefixHitShare() > 0) {
      int cached = w.cachedTokens(setup.model().engine().pageSize());
      out.append("  prefix cache: ").append(cached).append(" of the ").append(w.inputTokens());
      out.append(" tokens of a prompt are in it\n");
    }
  }

  static String heading(Setup setup) {
    StepModel model = setup.model();
    Engine e = model.engine();
    return String.format(
        Locale.ROOT,
        "%s, %s, %s; kernel times: %s; roofs: %s%n",
        e.layout(),
        e.precision(),
        e.mode().name().toLowerCase(Locale.ROOT),
        Printable.line(model.times().source().name()),
        roofsFrom(model.times().source().roofs()));
  }

  private static String roofsFrom(DeviceRoofs roofs) {
    return roofs.provenance() == Provenance.ASSUMED ? "not known" : roofs.provenance().text();
  }

  private String overview() {
    TextTable table =
        new TextTable(
                ">in flight",
                ">TPOT",
                ">90 %",
                ">TTFT",
                ">req/s",
                ">90 %",
                ">tokens/s",
                ">prefill",
                "state",
                "bound",
                ">known",
                "from")
            .uncut();
    for (Prediction p : predictions) {
      Workload w = p.workload();
      table.row(
          Integer.toString(w.concurrency()),
          time(p.tpot().value()),
          range(p.tpot()),
          ttft(p),
          Units.number(p.requestsPerSecond()),
          Units.number(p.throughput().low()) + " - " + Units.number(p.throughput().high()),
          Units.number(p.outputTokensPerSecond()),
          Units.percent(100 * p.prefillShare().low()).replace(" %", "")
              + " - "
              + Units.percent(100 * p.prefillShare().high()),
          p.state().name().toLowerCase(Locale.ROOT),
          p.bound().text(),
          Units.percent(100 * p.decodeStep().known()),
          p.provenance().text());
    }
    return table.toString();
  }

  /** From requests that come one by one to all at once, with the errors at both ends. */
  static String ttft(Prediction p) {
    return time(p.ttftStaggered().low()) + " - " + time(p.ttftBurst().high());
  }

  /** The interval of a time. */
  static String range(Estimate e) {
    return time(e.low()) + " - " + time(e.high());
  }

  static String time(double seconds) {
    return Units.time(1e6 * seconds);
  }

  private void step(StringBuilder out, String title, StepTime step) {
    Intervals.Step intervals = Intervals.step(setup.model(), step);
    out.append('\n').append(title).append(": ").append(time(step.seconds()));
    out.append(" (90 %: ").append(range(intervals.seconds()));
    out.append("; kernels ").append(time(step.kernelSeconds()));
    out.append(", host ").append(time(step.hostSeconds()));
    out.append(", gap ").append(time(step.gapSeconds()));
    out.append(step.hostBound() ? "; the host binds)\n" : ")\n");
    TextTable table =
        new TextTable(
                "operation",
                "shape",
                ">calls",
                ">each",
                ">sigma",
                ">all",
                ">share",
                ">of roof",
                "bound",
                "from")
            .uncut();
    for (Term t : step.terms()) {
      table.row(
          t.role(),
          t.call().shape(),
          Integer.toString(t.count()),
          time(t.time().seconds()),
          t.time().seconds() == 0 ? "" : Units.percent(100 * t.time().relativeError()),
          time(t.seconds()),
          Units.percent(100 * step.share(t)),
          t.time().seconds() == 0 ? "" : Units.percent(100 * roof(t) / t.time().seconds()),
          t.bound().text(),
          from(t.time()));
    }
    out.append(table);
  }

  private static String from(KernelTime time) {
    if (time.seconds() == 0) {
      // Contained in another operation.
      return time.from();
    }
    OtherTypes other = time.otherTypes();
    return time.provenance().text() + (other == null ? "" : " from " + other.measured());
  }

  /** Least time of one call that the roofs allow; NaN if they are not known. */
  private double roof(Term t) {
    if (setup.model().times().source().roofs().provenance() == Provenance.ASSUMED) {
      // The best rate among these very kernels is no roof that they could be compared with.
      return Double.NaN;
    }
    return setup.model().roof(t);
  }

  /** As JSON, with the operations of every prediction unless there are {@link #MANY}. */
  public String json() {
    return json(false);
  }

  /**
   * As JSON.
   *
   * @param decomposition with the operations of every prediction, however many
   */
  public String json(boolean decomposition) {
    return JsonText.print(tree(decomposition));
  }

  /** The same as a tree. */
  public ObjectNode tree(boolean decomposition) {
    boolean operations = decomposition || predictions.size() <= MANY;
    ObjectNode root = JsonText.root(SCHEMA_VERSION);
    head(root, setup);
    if (predictions.size() == 1) {
      Prediction p = predictions.get(0);
      estimate(root.putObject("tpot"), p.tpot());
      ttft(root.putObject("ttft"), p);
      throughput(root, p);
    }
    if (!predictions.isEmpty()) {
      ArrayNode all = root.putArray("predictions");
      predictions.forEach(p -> prediction(all.addObject(), p, operations));
      root.put("decomposition_left_out", !operations);
    }
    if (!steps.isEmpty()) {
      ArrayNode single = root.putArray("steps");
      for (int i = 0; i < steps.size(); i++) {
        ObjectNode node = single.addObject();
        node.put("batch", batches.get(i).toString());
        step(node, steps.get(i), true);
      }
    }
    LookupReport.json(root, setup.model().times().source());
    JsonText.texts(root, "assumptions", setup.assumptionsAfter());
    return root;
  }

  /** What every answer that rests on kernel times says of them and of the engine. */
  static void head(ObjectNode root, Setup setup) {
    StepModel model = setup.model();
    Engine e = model.engine();
    root.put("model", e.layout().model().name());
    root.put("tp", e.layout().tp());
    root.put("precision", e.precision().toString());
    root.put("mode", e.mode().name().toLowerCase(Locale.ROOT));
    ObjectNode kernels = root.putObject("kernels");
    kernels.put("name", model.times().source().name());
    DeviceRoofs roofs = model.times().source().roofs();
    ObjectNode r = kernels.putObject("roofs");
    JsonText.number(r, "read_gb_per_s", roofs.readGbPerS());
    ObjectNode flops = r.putObject("tflop_per_s");
    for (ElementType type : ElementType.values()) {
      if (roofs.tflopPerS().containsKey(type)) {
        JsonText.number(flops, type.text(), roofs.tflopPerS(type));
      }
    }
    JsonText.number(r, "link_gb_per_s", roofs.linkGbPerS());
    JsonText.number(r, "memory_bytes", roofs.memoryBytes());
    r.put("provenance", roofs.provenance().text());
    ObjectNode engine = root.putObject("engine");
    LaunchCosts launch = e.launch();
    JsonText.number(
        engine, "launch_us", launch == null ? Double.NaN : 1e6 * launch.perKernelSeconds());
    JsonText.number(engine, "node_us", launch == null ? Double.NaN : 1e6 * launch.perNodeSeconds());
    JsonText.number(
        engine, "replay_us", launch == null ? Double.NaN : 1e6 * launch.replaySeconds());
    engine.put("launch_provenance", launch == null ? null : launch.provenance().text());
    JsonText.number(engine, "gap_ms", 1e3 * e.gapSeconds());
    JsonText.number(engine, "per_request_us", 1e6 * e.perRequestSeconds());
    engine.put("launches_per_layer", e.launchesPerLayer() == 0 ? null : e.launchesPerLayer());
    engine.put("token_budget", e.tokenBudget());
    engine.put("max_running", e.maxRunning());
    if (model.kvTokens() == Long.MAX_VALUE) {
      engine.putNull("kv_tokens");
    } else {
      engine.put("kv_tokens", model.kvTokens());
    }
  }

  private void prediction(ObjectNode node, Prediction p, boolean operations) {
    Workload w = p.workload();
    double tokens = w.speculation() == null ? 1 : w.speculation().tokensPerStep();
    node.put("concurrency", w.concurrency());
    node.put("input_tokens", w.inputTokens());
    node.put("output_tokens", w.outputTokens());
    JsonText.number(node, "prefix_hit_share", w.prefixHitShare());
    estimate(node.putObject("tpot"), p.tpot());
    ttft(node.putObject("ttft"), p);
    throughput(node, p);
    node.put("state", p.state().name().toLowerCase(Locale.ROOT));
    node.put("bound", p.bound().text());
    node.put("remark", p.remark());
    node.put("running_requests", p.runningRequests());
    node.put("waiting_requests", p.waitingRequests());
    Estimates.json(node, "prefill_share", "", 1, p.prefillShare());
    JsonText.number(node, "itl_atom_at_zero", p.itlAtomAtZero());
    JsonText.number(
        node,
        "kv_transfer_ms",
        w.disaggregation() == null
            ? 0
            : 1e3 * w.disaggregation().transferSeconds(setup.model().engine(), w.inputTokens()));
    node.put("provenance", p.provenance().text());
    JsonText.number(node, "tpot_floor_ms", 1e3 * floor(p.decodeStep()) / tokens);
    step(node.putObject("decode_step"), p.decodeStep(), operations);
    step(node.putObject("prefill_step"), p.prefillStep(), operations);
    if (operations) {
      node.set("decomposition", node.get("decode_step").get("decomposition").deepCopy());
    }
  }

  /** What the roofs allow for all operations of the step together. */
  private double floor(StepTime step) {
    return step.terms().stream().mapToDouble(t -> t.count() * roof(t)).sum();
  }

  private static void estimate(ObjectNode node, Estimate e) {
    JsonText.number(node, "value_ms", 1e3 * e.value());
    JsonText.number(node, "low_ms", 1e3 * e.low());
    JsonText.number(node, "high_ms", 1e3 * e.high());
    node.put("interval", Estimates.COVERED);
    node.put("provenance", e.provenance().text());
  }

  private static void throughput(ObjectNode node, Prediction p) {
    Estimates.json(node, "requests_per_s", "", 1, p.throughput());
    Estimates.json(node, "output_tokens_per_s", "", 1, p.outputThroughput());
  }

  private static void ttft(ObjectNode node, Prediction p) {
    JsonText.number(node, "staggered_ms", 1e3 * p.ttftStaggered().value());
    JsonText.number(node, "burst_ms", 1e3 * p.ttftBurst().value());
    JsonText.number(node, "low_ms", 1e3 * p.ttftStaggered().low());
    JsonText.number(node, "high_ms", 1e3 * p.ttftBurst().high());
    node.put("provenance", p.ttftStaggered().provenance().text());
  }

  private void step(ObjectNode node, StepTime step, boolean operations) {
    Intervals.Step intervals = Intervals.step(setup.model(), step);
    JsonText.number(node, "ms", 1e3 * step.seconds());
    JsonText.number(node, "low_ms", 1e3 * intervals.seconds().low());
    JsonText.number(node, "high_ms", 1e3 * intervals.seconds().high());
    Estimates.json(node, "kernels", "_ms", 1e3, intervals.kernelSeconds());
    JsonText.number(node, "device_ms", 1e3 * step.deviceSeconds());
    JsonText.number(node, "host_ms", 1e3 * step.hostSeconds());
    JsonText.number(node, "gap_ms", 1e3 * step.gapSeconds());
    JsonText.number(node, "roofline_ms", 1e3 * floor(step));
    node.put("kernels", step.kernels());
    node.put("host_bound", step.hostBound());
    node.put("bound", step.bound().text());
    node.put("provenance", step.provenance().text());
    ObjectNode shares = node.putObject("provenance_shares");
    for (Provenance p : Provenance.values()) {
      JsonText.number(shares, p.text().replace(' ', '_'), step.share(p));
    }
    if (!operations) {
      return;
    }
    ArrayNode terms = node.putArray("decomposition");
    for (Term t : step.terms()) {
      ObjectNode term = terms.addObject();
      term.put("role", t.role());
      term.put("kernel", t.call().kernel());
      term.put("shape", t.call().shape());
      term.put("count", t.count());
      term.put("flops", setup.model().work(t).flops());
      term.put("bytes", setup.model().work(t).bytes());
      JsonText.number(term, "us", 1e6 * t.time().seconds());
      JsonText.number(term, "total_us", 1e6 * t.seconds());
      JsonText.number(term, "share", step.share(t));
      JsonText.number(term, "roof_us", 1e6 * roof(t));
      term.put("bound", t.bound().text());
      JsonText.number(term, "relative_error", t.time().relativeError());
      term.put("provenance", t.time().provenance().text());
      term.put("from", t.time().from());
    }
  }
}
