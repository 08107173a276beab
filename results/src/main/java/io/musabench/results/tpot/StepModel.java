package io.musabench.results.tpot;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.ModelOperations;
import io.musabench.results.model.Operation;
import io.musabench.results.model.Precision;
import io.musabench.results.model.Work;
import io.musabench.results.tpot.kernels.DeviceRoofs;
import io.musabench.results.tpot.kernels.KernelTime;
import io.musabench.results.tpot.kernels.KernelTimes;
import io.musabench.results.tpot.kernels.LaunchCosts;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Time of any step of an engine from the times of its kernels.
 *
 * <pre>
 *   eager  T = max(kernels * launch, sum of kernels)               + gap
 *   graph  T = max(replay, sum of kernels + kernels * node)        + gap
 * </pre>
 *
 * <p>The host launches ahead while the device works, so the longer of the two counts and not their
 * sum. Kernels are the operations, or what {@link Engine#launchesPerLayer} makes of them. A graph
 * computes the tokens it was captured for, but attention only over the real requests. Safe for any
 * thread. What does not depend on contexts is kept, so that a step costs little more than the
 * look-up of its attention.
 */
public final class StepModel {
  /** A factor on the time of an operation: to ask what a faster kernel would change. */
  @FunctionalInterface
  public interface Scale {
    /** Factor on the time of all calls of an operation; 1 leaves it. */
    double factor(String role, KernelCall call, KernelTime time);
  }

  private final Engine engine;
  private final KernelTimes times;
  private final Scale scale;
  private final long kvTokens;

  /** Operations but attention, by tokens and rows of logits. */
  private final ConcurrentHashMap<Long, Rest> rests;

  /** Answers in place of this; null for none. */
  private final Function<BatchSpec, StepTime> answers;

  /** Whether communication between the ranks is left out. */
  private final boolean alone;

  /** Operations before and after attention in the order of first use. */
  private record Rest(List<Term> before, List<Term> after) {}

  /** Steps of an engine on the device whose kernel times these are. */
  public StepModel(Engine engine, KernelTimes times) {
    this(engine, times, null, new ConcurrentHashMap<>(), null, false);
  }

  private StepModel(
      Engine engine,
      KernelTimes times,
      Scale scale,
      ConcurrentHashMap<Long, Rest> rests,
      Function<BatchSpec, StepTime> answers,
      boolean alone) {
    this.engine = engine;
    this.times = times;
    this.scale = scale;
    this.rests = rests;
    this.answers = answers;
    this.alone = alone;
    this.kvTokens = engine.kvTokens(times.source().roofs());
  }

  /** The engine. */
  public Engine engine() {
    return engine;
  }

  /** The kernel times. */
  public KernelTimes times() {
    return times;
  }

  /** The least that the roofs allow one call of an operation, in seconds; NaN if not known. */
  public double roof(Term term) {
    return times.source().roofs().seconds(term.call(), precision(term));
  }

  /** What its scale makes of the time of an operation. */
  double factor(Term term) {
    return scale == null ? 1 : scale.factor(term.role(), term.call(), term.time());
  }

  /** The same call with the time and the bound that it has here. */
  public Term again(Term term) {
    return term(new Operation(term.role(), term.call(), term.count()));
  }

  /** FLOPs and bytes of one call of an operation. */
  public Work work(Term term) {
    return term.call().work(precision(term));
  }

  private Precision precision(String role) {
    return engine.layout().model().precision(role, engine.precision());
  }

  private Precision precision(Term term) {
    return precision(term.role());
  }

  /** Tokens that the KV cache holds; {@link Long#MAX_VALUE} if the memory is not known. */
  public long kvTokens() {
    return kvTokens;
  }

  /** The same kernels under another engine. */
  public StepModel with(Engine other) {
    boolean same =
        other.layout().equals(engine.layout())
            && other.precision().equals(engine.precision())
            && other.pageSize() == engine.pageSize();
    return new StepModel(
        other, times, scale, same ? rests : new ConcurrentHashMap<>(), null, alone);
  }

  /** The same steps with kernels of other speed; replaces an earlier scale. */
  public StepModel scaled(Scale by) {
    return new StepModel(engine, times, by, new ConcurrentHashMap<>(), null, alone);
  }

  /** Steps of one rank by itself, as the benchmarks of steps measure them: nothing is sent. */
  public StepModel alone() {
    return new StepModel(engine, times, scale, new ConcurrentHashMap<>(), null, true);
  }

  /** The same engine with steps that take as long as is answered. */
  StepModel answering(Function<BatchSpec, StepTime> steps) {
    return new StepModel(engine, times, scale, rests, steps, alone);
  }

  /** A decode step of {@code batch} requests, each over {@code context} tokens. */
  public StepTime decode(int batch, int context) {
    return step(BatchSpec.decode(batch, Math.max(2, context)));
  }

  /** A step that prefills {@code newTokens} of each request after {@code cachedTokens}. */
  public StepTime prefill(int requests, int newTokens, int cachedTokens) {
    return step(BatchSpec.uniform(requests, newTokens, newTokens + cachedTokens));
  }

  /** A decode step that also prefills; {@code decodes} may be 0. */
  public StepTime mixed(int decodes, int context, int requests, int newTokens, int cachedTokens) {
    if (decodes == 0) {
      return prefill(requests, newTokens, cachedTokens);
    }
    return step(
        BatchSpec.uniform(requests, newTokens, newTokens + cachedTokens)
            .plus(BatchSpec.decode(decodes, Math.max(2, context))));
  }

  /**
   * Any step.
   *
   * @throws IllegalArgumentException if a request is longer than the model's longest context, or a
   *     kernel's time is neither known nor can be assumed
   */
  public StepTime step(BatchSpec batch) {
    if (answers != null) {
      return answers.apply(batch);
    }
    int tokens = batch.totalQ();
    int padding = engine.padded(tokens) - tokens;
    long key = ((long) (tokens + padding) << 32) | (batch.size() + padding);
    Rest rest = rests.get(key);
    if (rest == null) {
      rest = rest(batch, padding);
      rests.put(key, rest);
    }
    List<Term> terms = new ArrayList<>(rest.before().size() + rest.after().size() + 2);
    terms.addAll(rest.before());
    for (Operation op : ModelOperations.attention(engine.layout(), batch, engine.pageSize())) {
      terms.add(term(op));
    }
    terms.addAll(rest.after());
    return sum(terms, engine.captured(tokens), batch.size());
  }

  private Rest rest(BatchSpec batch, int padding) {
    BatchSpec padded = padding == 0 ? batch : batch.plus(BatchSpec.decode(padding, 2));
    List<Term> before = new ArrayList<>();
    List<Term> after = new ArrayList<>();
    boolean passed = false;
    for (Operation op : ModelOperations.of(engine.layout(), padded, engine.pageSize())) {
      if (op.role().startsWith(ATTENTION)) {
        passed = true;
      } else if (!alone || !op.call().communicates()) {
        (passed ? after : before).add(term(op));
      }
    }
    return new Rest(List.copyOf(before), List.copyOf(after));
  }

  private static final String ATTENTION = "attention";

  private Term term(Operation op) {
    Precision precision = precision(op.role());
    KernelTime time = times.of(op.call(), precision);
    if (scale != null) {
      double factor = scale.factor(op.role(), op.call(), time);
      time =
          factor == 1
              ? time
              : new KernelTime(
                  factor * time.seconds(),
                  time.relativeError(),
                  time.provenance(),
                  time.from(),
                  time.otherTypes());
    }
    return new Term(op.role(), op.call(), op.count(), time, bound(op.call(), precision));
  }

  private Bound bound(KernelCall call, Precision precision) {
    if (call.communicates()) {
      return Bound.LINK;
    }
    DeviceRoofs roofs = times.source().roofs();
    Work work = call.work(precision);
    if (work.flops() == 0) {
      return Bound.MEMORY_BANDWIDTH;
    }
    double intensity = (double) work.flops() / work.bytes();
    double ridge = roofs.tflopPerS(call.arithmetic(precision)) * 1e3 / roofs.readGbPerS();
    return Double.isNaN(ridge)
        ? Bound.UNKNOWN
        : intensity > ridge ? Bound.COMPUTE : Bound.MEMORY_BANDWIDTH;
  }

  private StepTime sum(List<Term> terms, boolean graph, int requests) {
    double sum = 0;
    int kernels = 0;
    Provenance provenance = Provenance.MEASURED;
    for (Term t : terms) {
      sum += t.seconds();
      kernels += t.count();
      provenance = provenance.worse(t.time().provenance());
    }
    if (engine.launchesPerLayer() > 0) {
      kernels = launches(terms);
    }
    LaunchCosts launch = engine.launch();
    double host = 0;
    double device = sum;
    if (launch != null) {
      host = known(graph ? launch.replaySeconds() : kernels * launch.perKernelSeconds());
      device += graph ? kernels * known(launch.perNodeSeconds()) : 0;
      if (host > device || device > sum) {
        provenance = provenance.worse(launch.provenance());
      }
    }
    double gap = engine.gapSeconds() + requests * engine.perRequestSeconds();
    if (gap > 0) {
      // Nobody measures it here: it was given.
      provenance = provenance.worse(Provenance.ASSUMED);
    }
    return new StepTime(
        Math.max(device, host) + gap, sum, device, host, gap, kernels, terms, provenance);
  }

  private int launches(List<Term> terms) {
    Map<String, Integer> calls = new HashMap<>();
    terms.forEach(t -> calls.merge(t.role(), t.count(), Integer::sum));
    return ModelOperations.outsideLayers(calls)
        + engine.launchesPerLayer() * engine.layout().model().layers();
  }

  private static double known(double seconds) {
    return Double.isNaN(seconds) ? 0 : seconds;
  }
}
