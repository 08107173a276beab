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
import io.musabench.results.tpot.Estimate;
import io.musabench.results.tpot.Intervals;
import io.musabench.results.tpot.Prediction;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.StepModel;
import io.musabench.results.tpot.StepTime;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.kernels.LaunchCosts;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * What a kernel that is slower by a given share does to TPOT and throughput: the loop is solved
 * again with that kernel's time changed. First at its decode shapes alone, prefills and steps with
 * chunks of prompts held fixed; then wherever it runs.
 */
public final class Sensitivity {
  /** Raised when a field changes its meaning or goes away; new fields do not raise it. */
  public static final int SCHEMA_VERSION = 1;

  private static final String LAUNCH = "launch (host)";

  private final Setup setup;
  private final double change;
  private final List<Load> loads = new ArrayList<>();

  /**
   * What a change of one operation does, with the same errors of kernel times before and after it.
   *
   * @param role the operation, or the host's launching
   * @param share its part of the decode step; NaN of launching
   * @param tpot change of TPOT in seconds, prefills held fixed
   * @param tpotShare the same as a share of TPOT
   * @param throughput change of requests a second as a share, prefills held fixed
   * @param tpotWithPrefill change of TPOT in seconds with the prefill's kernels changed too
   * @param tpotShareWithPrefill the same as a share of TPOT
   * @param throughputWithPrefill change of the throughput with them
   */
  public record Effect(
      String role,
      Estimate share,
      Estimate tpot,
      Estimate tpotShare,
      Estimate throughput,
      Estimate tpotWithPrefill,
      Estimate tpotShareWithPrefill,
      Estimate throughputWithPrefill) {}

  /**
   * One load.
   *
   * @param base what is predicted without a change
   * @param deviceSeconds of its decode step
   * @param waiting by how much launching the decode step takes longer than the device; below 0
   *     where the device does
   * @param effects one an operation, the largest first
   */
  public record Load(
      Prediction base, Estimate deviceSeconds, Estimate waiting, List<Effect> effects) {
    /** Whether the host binds, so that no kernel of the decode step matters. */
    public boolean hostBound() {
      return base.decodeStep().hostBound();
    }
  }

  /**
   * A change to be looked at.
   *
   * @param decodeOnly the model with the operation changed at its decode shapes alone
   * @param everywhere with it changed wherever it runs; the same where there is no difference
   */
  private record Change(String role, StepModel decodeOnly, StepModel everywhere) {}

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
    Prediction base = ClosedLoop.predictWithInterval(model, w);
    // Steps that carry chunks of prompts have shapes of their own; only those of a pure decode step
    // are changed there. Without chunks the batch may differ from that of the step shown.
    boolean chunks = model.engine().tokenBudget() > 0 && w.disaggregation() == null;
    List<Change> changes = changes(base, chunks);
    List<Estimate> found =
        Intervals.of(model, base.decodeStep(), base.prefillStep())
            .of(moved -> numbers(moved, w, changes, chunks), base.provenance());
    List<Effect> effects = new ArrayList<>();
    for (int i = 0; i < changes.size(); i++) {
      int first = OF_LOAD + i * OF_CHANGE;
      effects.add(effect(changes.get(i).role(), found.subList(first, first + OF_CHANGE)));
    }
    effects.sort(
        Comparator.comparing((Effect e) -> e.role().equals(LAUNCH))
            .thenComparing(e -> -Math.abs(e.tpot().value())));
    return new Load(base, found.get(0), found.get(1), effects);
  }

  private List<Change> changes(Prediction base, boolean chunks) {
    StepModel model = setup.model();
    Set<KernelCall> ofDecode = new HashSet<>();
    base.decodeStep().terms().forEach(t -> ofDecode.add(t.call()));
    Set<KernelCall> ofPrefill = new HashSet<>();
    base.prefillStep().terms().forEach(t -> ofPrefill.add(t.call()));
    ofPrefill.removeAll(ofDecode);
    Set<String> roles = new LinkedHashSet<>();
    base.decodeStep().terms().forEach(t -> roles.add(t.role()));
    // What only steps with prompts do, and their attention in two parts.
    base.prefillStep().terms().forEach(t -> roles.add(ModelOperations.operation(t.role())));
    List<Change> changes = new ArrayList<>();
    double factor = 1 + change;
    for (String role : roles) {
      changes.add(
          new Change(
              role,
              model.scaled(
                  (r, call, time) ->
                      r.equals(role)
                              && (chunks ? ofDecode.contains(call) : !ofPrefill.contains(call))
                          ? factor
                          : 1),
              model.scaled(
                  (r, call, time) -> ModelOperations.operation(r).equals(role) ? factor : 1)));
    }
    LaunchCosts launch = model.engine().launch();
    if (launch != null) {
      LaunchCosts slower =
          new LaunchCosts(
              launch.perKernelSeconds() * factor,
              launch.perNodeSeconds() * factor,
              launch.replaySeconds() * factor,
              launch.setUpPerNodeSeconds(),
              launch.provenance());
      StepModel moved = model.with(model.engine().toBuilder().launch(slower).build());
      changes.add(new Change(LAUNCH, moved, moved));
    }
    return changes;
  }

  /** Numbers of {@link #numbers} that are of the load, and of each change. */
  private static final int OF_LOAD = 2;

  private static final int OF_CHANGE = 7;

  private double[] numbers(
      Intervals.Moved moved, Workload w, List<Change> changes, boolean chunks) {
    Prediction base = ClosedLoop.predict(moved.of(setup.model()), w);
    StepTime decode = base.decodeStep();
    double[] all = new double[OF_LOAD + changes.size() * OF_CHANGE];
    int i = 0;
    all[i++] = decode.deviceSeconds();
    all[i++] = decode.hostSeconds() - decode.deviceSeconds();
    for (Change c : changes) {
      Prediction everywhere = ClosedLoop.predict(moved.of(c.everywhere()), w);
      Prediction decodeOnly = everywhere;
      if (c.decodeOnly() != c.everywhere()) {
        decodeOnly = ClosedLoop.predict(moved.of(c.decodeOnly()), w);
        if (chunks && decode.hostBound() && decodeOnly.decodeStep().hostBound()) {
          // Steps with chunks share the logits' shapes; the decode step itself waits as before.
          decodeOnly = base;
        }
      }
      all[i++] = share(moved, decode, c.role());
      for (Prediction p : List.of(decodeOnly, everywhere)) {
        double delta = p.tpot().value() - base.tpot().value();
        all[i++] = delta;
        all[i++] = delta / base.tpot().value();
        all[i++] = p.requestsPerSecond() / base.requestsPerSecond() - 1;
      }
    }
    return all;
  }

  private double share(Intervals.Moved moved, StepTime decode, String role) {
    return role.equals(LAUNCH)
        ? Double.NaN
        : decode.terms().stream()
                .filter(t -> t.role().equals(role))
                .mapToDouble(t -> moved.seconds(setup.model(), t))
                .sum()
            / decode.kernelSeconds();
  }

  private Effect effect(String role, List<Estimate> e) {
    Provenance launch =
        role.equals(LAUNCH) ? setup.model().engine().launch().provenance() : Provenance.MEASURED;
    UnaryOperator<Estimate> from = x -> x.from(x.provenance().worse(launch));
    // A slower kernel makes nothing faster, whatever its errors.
    boolean slower = change > 0;
    UnaryOperator<Estimate> more =
        x -> from.apply(slower ? x.within(0, INFINITE) : x.within(-INFINITE, 0));
    UnaryOperator<Estimate> less =
        x -> from.apply(slower ? x.within(-1, 0) : x.within(0, INFINITE));
    return new Effect(
        role,
        e.get(0).within(0, 1),
        more.apply(e.get(1)),
        more.apply(e.get(2)),
        less.apply(e.get(3)),
        more.apply(e.get(4)),
        more.apply(e.get(5)),
        less.apply(e.get(6)));
  }

  private static final double INFINITE = Double.POSITIVE_INFINITY;

  private static String note(Load load) {
    StepTime decode = load.base().decodeStep();
    if (!load.hostBound() && !(load.waiting().high() > 0)) {
      return "";
    }
    String times =
        "launching takes "
            + PredictionReport.time(decode.hostSeconds())
            + " a decode step, its kernels "
            + Estimates.time(load.deviceSeconds());
    if (!load.hostBound()) {
      return "the device binds, but within the errors of its kernels the host may: " + times;
    }
    List<Estimate> ofKernels =
        load.effects().stream().filter(e -> !e.role().equals(LAUNCH)).map(Effect::tpot).toList();
    return "host-bound: "
        + times
        + ": a faster or slower kernel of the decode step "
        + (ofKernels.stream().anyMatch(e -> e.value() != 0)
            ? "counts only where its kernels then take longer than launching"
            : ofKernels.stream().anyMatch(e -> e.low() != e.high())
                ? "changes nothing, unless its kernels take longer than predicted, as they may"
                    + " within their errors"
                : "changes nothing")
        + "; what moves with \"prefill too\" moves through steps that carry prompts";
  }

  /** For a terminal. */
  public String text() {
    StringBuilder out = new StringBuilder(PredictionReport.heading(setup));
    for (Load load : loads) {
      Prediction p = load.base();
      out.append('\n').append(p.workload().concurrency()).append(" in flight: TPOT ");
      out.append(Estimates.time(p.tpot())).append(", ");
      out.append(Estimates.number(p.throughput())).append(" req/s; least certain part: ");
      out.append(p.provenance().text()).append('\n');
      if (!note(load).isEmpty()) {
        out.append("  ").append(note(load)).append('\n');
      }
      String changed = "operation " + Units.change(100 * change);
      TextTable decode = new TextTable(changed, ">of the step", ">TPOT", ">", ">req/s");
      TextTable everywhere =
          new TextTable(changed, ">TPOT, prefill too", ">", ">req/s, prefill too");
      for (Effect e : load.effects()) {
        decode.row(
            e.role(),
            Estimates.share(e.share()),
            Estimates.timeChange(e.tpot()),
            Estimates.change(e.tpotShare()),
            Estimates.change(e.throughput()));
        everywhere.row(
            e.role(),
            Estimates.timeChange(e.tpotWithPrefill()),
            Estimates.change(e.tpotShareWithPrefill()),
            Estimates.change(e.throughputWithPrefill()));
      }
      out.append(decode).append('\n').append(everywhere);
    }
    out.append("  ").append(Estimates.BRACKETS).append('\n');
    out.append("  a change: the same errors before and after; ");
    out.append(Estimates.FIXED_MEANS).append('\n');
    setup
        .assumptionsAfter()
        .forEach(a -> out.append("  assumed: ").append(Printable.line(a)).append('\n'));
    return out.toString();
  }

  /** As JSON. */
  public String json() {
    return JsonText.print(tree());
  }

  /** The same as a tree. */
  public ObjectNode tree() {
    ObjectNode root = JsonText.root(SCHEMA_VERSION);
    PredictionReport.head(root, setup);
    root.put("interval", Estimates.COVERED);
    JsonText.number(root, "change_pct", 100 * change);
    ArrayNode array = root.putArray("batches");
    for (Load load : loads) {
      ObjectNode node = array.addObject();
      Prediction p = load.base();
      node.put("concurrency", p.workload().concurrency());
      node.put("running_requests", p.runningRequests());
      Estimates.json(node, "tpot", "_ms", 1e3, p.tpot());
      Estimates.json(node, "requests_per_s", "", 1, p.throughput());
      node.put("provenance", p.provenance().text());
      node.put("host_bound", load.hostBound());
      Estimates.json(node, "device", "_ms", 1e3, load.deviceSeconds());
      JsonText.number(node, "launch_ms", 1e3 * p.decodeStep().hostSeconds());
      node.put("note", note(load));
      ArrayNode operations = node.putArray("operations");
      for (Effect e : load.effects()) {
        ObjectNode one = operations.addObject();
        one.put("role", e.role());
        Estimates.json(one, "share", "", 1, e.share());
        Estimates.json(one, "tpot_delta", "_ms", 1e3, e.tpot());
        Estimates.json(one, "tpot_delta", "_pct", 100, e.tpotShare());
        Estimates.json(one, "throughput_delta", "_pct", 100, e.throughput());
        Estimates.json(one, "tpot_delta", "_ms_with_prefill", 1e3, e.tpotWithPrefill());
        Estimates.json(one, "tpot_delta", "_pct_with_prefill", 100, e.tpotShareWithPrefill());
        Estimates.json(
            one, "throughput_delta", "_pct_with_prefill", 100, e.throughputWithPrefill());
        one.put("provenance", e.tpot().provenance().text());
      }
    }
    JsonText.texts(root, "assumptions", setup.assumptionsAfter());
    return root;
  }
}
