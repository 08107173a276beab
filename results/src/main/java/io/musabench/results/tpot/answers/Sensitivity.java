package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.Printable;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.ModelOperations;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import io.musabench.results.tpot.ClosedLoop;
import io.musabench.results.tpot.Engine;
import io.musabench.results.tpot.Prediction;
import io.musabench.results.tpot.StepModel;
import io.musabench.results.tpot.Term;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.kernels.LaunchCosts;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What a kernel that is slower by a given share does to TPOT and throughput: the loop is solved
 * again with that kernel's time changed. First at its decode shapes alone, prefills and steps with
 * chunks of prompts held fixed; then wherever it runs.
 */
public final class Sensitivity {
  /** Raised when a field changes its meaning or goes away; new fields do not raise it. */
  public static final int SCHEMA_VERSION = 1;

  /** Changes of TPOT below this, in seconds, are not worth their digits. */
  private static final double LEAST = 1e-6;

  private static final String LAUNCH = "launch (host)";

  private final Setup setup;
  private final double change;
  private final List<Load> loads = new ArrayList<>();

  /**
   * What a change of one operation does.
   *
   * @param role the operation, or the host's launching
   * @param share its part of the decode step
   * @param tpotS change of TPOT in seconds, prefills held fixed
   * @param throughput change of requests a second as a share, prefills held fixed
   * @param tpotWithPrefillS change of TPOT with the prefill's kernels changed too
   * @param throughputWithPrefill change of the throughput with them
   */
  public record Effect(
      String role,
      double share,
      double tpotS,
      double throughput,
      double tpotWithPrefillS,
      double throughputWithPrefill) {}

  /**
   * One load.
   *
   * @param base what is predicted without a change
   * @param effects one an operation, the largest first
   */
  public record Load(Prediction base, List<Effect> effects) {
    /** Whether the host binds, so that no kernel of the decode step matters. */
    public boolean hostBound() {
      return base.decodeStep().hostBound();
    }
  }

  /**
   * Computes all effects.
   *
   * @param change share by which a kernel gets slower, 0.1 for 10 %; below 0 it gets faster
   * @throws IllegalArgumentException if the change leaves no time, or a load does not fit
   */
  public Sensitivity(Setup setup, List<Workload> workloads, double change) {
    if (!(change > -1) || change == 0 || Double.isInfinite(change)) {
      throw new IllegalArgumentException(
          "A change of " + 100 * change + " % asks nothing; right forms are 10 or -10");
    }
    this.setup = setup;
    this.change = change;
    workloads.forEach(w -> loads.add(load(w)));
  }

  /** The loads, in the order asked for. */
  public List<Load> loads() {
    return List.copyOf(loads);
  }

  private Load load(Workload w) {
    StepModel model = setup.model();
    Prediction base = ClosedLoop.predict(model, w);
    Set<KernelCall> ofDecode = new HashSet<>();
    base.decodeStep().terms().forEach(t -> ofDecode.add(t.call()));
    Set<KernelCall> ofPrefill = new HashSet<>();
    base.prefillStep().terms().forEach(t -> ofPrefill.add(t.call()));
    ofPrefill.removeAll(ofDecode);
    // Steps that carry chunks of prompts have shapes of their own; only those of a pure decode step
    // are changed there. Without chunks the batch may differ from that of the step shown.
    boolean chunks = model.engine().tokenBudget() > 0 && w.disaggregation() == null;
    Set<String> roles = new LinkedHashSet<>();
    base.decodeStep().terms().forEach(t -> roles.add(t.role()));
    // What only steps with prompts do, and their attention in two parts.
    base.prefillStep().terms().forEach(t -> roles.add(ModelOperations.operation(t.role())));
    List<Effect> effects = new ArrayList<>();
    for (String role : roles) {
      double factor = 1 + change;
      Prediction everywhere =
          ClosedLoop.predict(
              model.scaled(
                  (r, call, time) -> ModelOperations.operation(r).equals(role) ? factor : 1),
              w);
      StepModel.Scale atDecodeShapes =
          (r, call, time) ->
              r.equals(role) && (chunks ? ofDecode.contains(call) : !ofPrefill.contains(call))
                  ? factor
                  : 1;
      Prediction decodeOnly = ClosedLoop.predict(model.scaled(atDecodeShapes), w);
      if (chunks && base.decodeStep().hostBound() && decodeOnly.decodeStep().hostBound()) {
        // Steps with chunks share the logits' shapes; the decode step itself waits as before.
        decodeOnly = base;
      }
      effects.add(effect(role, share(base, role), base, decodeOnly, everywhere));
    }
    effects.sort((a, b) -> Double.compare(Math.abs(b.tpotS()), Math.abs(a.tpotS())));
    LaunchCosts launch = model.engine().launch();
    if (launch != null) {
      LaunchCosts slower =
          new LaunchCosts(
              launch.perKernelSeconds() * (1 + change),
              launch.perNodeSeconds() * (1 + change),
              launch.replaySeconds() * (1 + change),
              launch.setUpPerNodeSeconds(),
              launch.provenance());
      Engine engine = model.engine().toBuilder().launch(slower).build();
      Prediction moved = ClosedLoop.predict(model.with(engine), w);
      effects.add(effect(LAUNCH, Double.NaN, base, moved, moved));
    }
    return new Load(base, effects);
  }

  private static double share(Prediction base, String role) {
    return base.decodeStep().terms().stream()
            .filter(t -> t.role().equals(role))
            .mapToDouble(Term::seconds)
            .sum()
        / base.decodeStep().kernelSeconds();
  }

  private static Effect effect(
      String role, double share, Prediction base, Prediction decodeOnly, Prediction everywhere) {
    return new Effect(
        role,
        share,
        decodeOnly.tpot().value() - base.tpot().value(),
        decodeOnly.requestsPerSecond() / base.requestsPerSecond() - 1,
        everywhere.tpot().value() - base.tpot().value(),
        everywhere.requestsPerSecond() / base.requestsPerSecond() - 1);
  }

  private static String note(Load load) {
    if (!load.hostBound()) {
      return "";
    }
    return "host-bound: launching takes "
        + PredictionReport.time(load.base().decodeStep().hostSeconds())
        + " a decode step, its kernels "
        + PredictionReport.time(load.base().decodeStep().deviceSeconds())
        + ": a faster or slower kernel of the decode step changes nothing; what moves with"
        + " \"prefill too\" moves through steps that carry prompts";
  }

  /** For a terminal. */
  public String text() {
    StringBuilder out = new StringBuilder(PredictionReport.heading(setup));
    for (Load load : loads) {
      Prediction p = load.base();
      out.append('\n').append(p.workload().concurrency()).append(" in flight: TPOT ");
      out.append(PredictionReport.time(p.tpot().value())).append(", ");
      out.append(Units.number(p.requestsPerSecond())).append(" req/s\n");
      if (load.hostBound()) {
        out.append("  ").append(note(load)).append('\n');
      }
      TextTable table =
          new TextTable(
              "operation " + Units.change(100 * change),
              ">of the step",
              ">TPOT",
              ">",
              ">req/s",
              ">TPOT, prefill too",
              ">req/s, prefill too");
      for (Effect e : load.effects()) {
        table.row(
            e.role(),
            Units.percent(100 * e.share()),
            signed(e.tpotS()),
            change(e.tpotS() / p.tpot().value()),
            change(e.throughput()),
            signed(e.tpotWithPrefillS()),
            change(e.throughputWithPrefill()));
      }
      out.append(table);
    }
    setup
        .assumptionsAfter()
        .forEach(a -> out.append("  assumed: ").append(Printable.line(a)).append('\n'));
    return out.toString();
  }

  /** A change as a share; one that rounds to nothing has no sign. */
  private static String change(double share) {
    return Math.abs(share) < 5e-4 ? Units.percent(0) : Units.change(100 * share);
  }

  private static String signed(double seconds) {
    if (seconds != 0 && Math.abs(seconds) < LEAST) {
      return "<1 us";
    }
    return (seconds > 0 ? "+" : "") + PredictionReport.time(seconds);
  }

  /** As JSON. */
  public String json() {
    return JsonText.print(tree());
  }

  /** The same as a tree. */
  public ObjectNode tree() {
    ObjectNode root = JsonText.root(SCHEMA_VERSION);
    PredictionReport.head(root, setup);
    JsonText.number(root, "change_pct", 100 * change);
    ArrayNode array = root.putArray("batches");
    for (Load load : loads) {
      ObjectNode node = array.addObject();
      Prediction p = load.base();
      node.put("concurrency", p.workload().concurrency());
      node.put("running_requests", p.runningRequests());
      JsonText.number(node, "tpot_ms", 1e3 * p.tpot().value());
      JsonText.number(node, "requests_per_s", p.requestsPerSecond());
      node.put("provenance", p.provenance().text());
      node.put("host_bound", load.hostBound());
      node.put("note", note(load));
      ArrayNode operations = node.putArray("operations");
      for (Effect e : load.effects()) {
        ObjectNode one = operations.addObject();
        one.put("role", e.role());
        JsonText.number(one, "share", e.share());
        JsonText.number(one, "tpot_delta_ms", 1e3 * e.tpotS());
        JsonText.number(one, "tpot_delta_pct", 100 * e.tpotS() / p.tpot().value());
        JsonText.number(one, "throughput_delta_pct", 100 * e.throughput());
        JsonText.number(one, "tpot_delta_ms_with_prefill", 1e3 * e.tpotWithPrefillS());
        JsonText.number(one, "throughput_delta_pct_with_prefill", 100 * e.throughputWithPrefill());
      }
    }
    JsonText.texts(root, "assumptions", setup.assumptionsAfter());
    return root;
  }
}
