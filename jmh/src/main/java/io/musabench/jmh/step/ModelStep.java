package io.musabench.jmh.step;

import io.musabench.bindings.ffi.CallList;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.AttentionOptions;
import io.musabench.bindings.kernels.reference.LayerReference;
import io.musabench.jmh.device.Agreement;
import io.musabench.jmh.device.AttentionKernels;
import io.musabench.jmh.device.BatchState;
import io.musabench.jmh.device.DeviceContext;
import io.musabench.jmh.device.GraphTimer;
import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelCase;
import io.musabench.jmh.device.KernelCases;
import io.musabench.jmh.device.MatrixProducts;
import io.musabench.jmh.device.PagedCache;
import io.musabench.jmh.device.ScheduledCase;
import io.musabench.jmh.device.StepInputs;
import io.musabench.jmh.device.WrongResultException;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.Layout;
import io.musabench.results.model.ModelConfig;
import io.musabench.results.model.Operation;
import io.musabench.results.model.StepOperations;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * One forward pass of one rank of a model: weights, KV caches, activations, and all kernel calls in
 * order, from token ids to the next tokens.
 *
 * <p>A pass reads nothing that it has written itself in the pass before but its own new KV entries,
 * which it writes again, so every pass gives the same result and every kernel of it can be run by
 * itself any number of times.
 */
final class ModelStep implements GraphTimer.Subject {
  /**
   * A call in its place.
   *
   * @param role what it does in the model, for example {@code gate_up}
   * @param kernel the call with its check
   */
  record Op(String role, KernelCase kernel) {}

  /**
   * What a run must give.
   *
   * @param logits all logits; null where only their bits are compared
   * @param checksum of logits and tokens
   */
  private record Expected(float[] logits, long checksum) {}

  /**
   * All calls of one role and shape.
   *
   * @param first one of them, for shape and work
   * @param calls the calls of all layers, each on its layer's own weights and cache
   */
  record Group(Op first, List<PreparedCall> calls) {}

  private final StepOperations plan;
  private final AttentionKernels library;
  private final MatrixProducts products;
  private final ModelWeights weights;
  private final List<PagedCache> caches;
  private final StepInputs inputs;
  private final List<BatchState> states = new ArrayList<>();
  private final List<PagedCache> moments = new ArrayList<>(); // of the states after the first
  private final List<Op> ops = new ArrayList<>();
  private final Tensor logits;
  private final Tensor tokens;
  private List<String> notes = List.of();

  /** Attention over a cache, or null where the step runs it on contiguous keys and values. */
  private final Function<PagedCache, KernelCase> attention;

  private final List<Expected> expected = new ArrayList<>(); // one a state
  private boolean repeatable = true;
  private long expectedRound; // checksum of everything that a round leaves behind

  // Before anything is allocated: filling memory until it is out takes long and disturbs others.
  private static void requireRoom(
      Inputs in, Layout layout, BatchSpec batch, boolean sharedWeights) {
    long copies = sharedWeights ? layout.model().layers() - 1 : 0;
    long needed =
        in.dtype().bytes() * (layout.parameters() - copies * layout.layerParameters())
            + layout.kvBytesPerToken(in.dtype().bytes()) * batch.totalKv();
    long present = in.context().target().runtime().currentDevice().totalMemory();
    if (needed > present) {
      throw new IllegalArgumentException(
          "%s needs %.1f GB for weights and KV cache, and the device has %.1f GB; set tp, or"
                  .formatted(layout, needed / 1e9, present / 1e9)
              + " sharedWeights=true, or take a smaller model or batch");
    }
  }

  /**
   * Makes weights and caches, and the pass over them.
   *
   * @param sharedWeights whether all layers use the weights of one
   * @param moments how many further {@link #states} there are to be
   * @param library whose attention kernels run; if they schedule by the lengths, the step begins
   *     with that
   * @param products whose matrix products run
   */
  static ModelStep create(
      Inputs in,
      Layout layout,
      BatchSpec batch,
      int pageSize,
      boolean sharedWeights,
      int moments,
      AttentionKernels library,
      MatrixProducts products) {
    ModelConfig model = layout.model();
    if (model.isMoe()) {
      throw new IllegalArgumentException(
          model.name() + " has a mixture of experts, which no kernel here computes");
    }
    if (model.quantization() != null) {
      throw new IllegalArgumentException(
          model.name()
              + " has quantised weights ("
              + model.quantization().method()
              + "), which no kernel here multiplies");
    }
    requireRoom(in, layout, batch, sharedWeights);
    ModelWeights weights = ModelWeights.create(in, layout, batch.maxKv(), sharedWeights);
    PagedCache first = PagedCache.create(in, batch, layout.heads(), pageSize, moments);
    List<PagedCache> caches = new ArrayList<>(List.of(first));
    while (caches.size() < model.layers()) {
      caches.add(first.layer(in));
    }
    ModelStep step = new ModelStep(in, layout, weights, caches, library, products);
    for (int moment = 1; moment <= moments; moment++) {
      step.addState(first.at(moment), in);
    }
    return step;
  }

  /**
   * The same requests, weights and caches in a pass for more requests, filled up as a graph of a
   * captured size is. Only for decodes.
   */
  ModelStep padded(Inputs in, int requests) {
    PagedCache first = caches.get(0).padded(in, requests);
    ModelStep padded =
        new ModelStep(
            in,
            plan.layout(),
            weights,
            caches.stream().map(cache -> first.over(cache.keys(), cache.values())).toList(),
            library,
            products);
    padded.states.set(0, states.get(0).padded(requests));
    return padded;
  }

  private ModelStep(
      Inputs in,
      Layout layout,
      ModelWeights weights,
      List<PagedCache> caches,
      AttentionKernels library,
      MatrixProducts products) {
    this.library = library;
    this.products = products;
    this.weights = weights;
    this.caches = List.copyOf(caches);
    ModelConfig model = layout.model();
    PagedCache first = caches.get(0);
    BatchSpec batch = first.batch();
    plan = StepOperations.of(layout, batch, first.pageSize());
    HeadGeometry heads = layout.heads();
    int hidden = model.hiddenSize();
    int dim = heads.qkDim();
    int t = batch.totalQ();
    int rows = batch.size();
    KernelCases cases = new KernelCases(in.kernels(), products, model.rmsNormEps());
    AttentionOptions options = AttentionOptions.causal(dim);

    // Activations: one set for all layers, as an inference engine's allocator would reuse them.
    Tensor embedded = in.output(t, hidden);
    Tensor normed = in.output(t, hidden);
    Tensor[] residuals = {in.output(t, hidden), in.output(t, hidden)};
    Tensor qkv = in.output(t, layout.qkvWidth());
    Tensor q = in.output(t, heads.qHeads(), dim);
    Tensor k = in.output(t, heads.kvHeads(), dim);
    Tensor v =
        qkv.slice(1, (long) (heads.qHeads() + heads.kvHeads()) * dim, layout.qkvWidth())
            .view(0, new long[] {t, heads.kvHeads(), dim}, new long[] {layout.qkvWidth(), dim, 1});
    Tensor attended = in.output(t, heads.qHeads(), dim);
    Tensor projected = in.output(t, hidden);
    Tensor gateUp = in.output(t, 2L * layout.ffnSize());
    Tensor activated = in.output(t, layout.ffnSize());
    logits = in.output(rows, layout.vocabSize());
    tokens = in.output(DType.I32, rows);

    int[] tokenIds = in.random().ints(t, 0, layout.vocabSize()).toArray();
    Tensor ids = in.ints(tokenIds);
    long[] slots = first.newSlots();
    Tensor slotMapping = in.longs(slots);
    Tensor positions = in.ints(first.newPositions());
    Tensor cuSeqlens = in.ints(batch.cuSeqlensQ());
    inputs =
        new StepInputs(
            in.context(), ids, positions, slotMapping, first.pageTable(), first.lengths());
    states.add(BatchState.of(first, tokenIds));

    add("embedding", cases.embedding(ids, weights.embedding(), embedded));
    Tensor residual = embedded;
    for (int layer = 0; layer < model.layers(); layer++) {
      ModelWeights.Layer w = weights.layers().get(layer);
      PagedCache cache = caches.get(layer);
      if (layer == 0) {
        add("input_norm", cases.rmsNorm(embedded, w.inputNorm(), normed));
      } else {
        Tensor sum = other(residuals, residual);
        add("input_norm", cases.fusedAddRmsNorm(projected, residual, w.inputNorm(), normed, sum));
        residual = sum;
      }
      add("qkv", cases.gemm(normed, w.qkv(), qkv, w.qkvBias()));
      add(
          "qk_norm_rope",
          cases.qkNormRope(heads, qkv, w.qNorm(), w.kNorm(), weights.cosSin(), positions, q, k));
      add(
          "kv_cache_write",
          cases.kvCacheWrite(heads, k, v, cache.keys(), cache.values(), slotMapping, slots));
      ScheduledCase attending =
          batch.isPrefill()
              ? cases.fmhaPrefill(
                  library,
                  batch,
                  heads,
                  options,
                  new AttentionKernels.Contiguous(q, k, v, attended, cuSeqlens, cuSeqlens))
              : cases.pagedAttention(library, cache, heads, options, q, attended);
      if (layer == 0 && attending.schedule() != null) {
        ops.add(0, new Op(ScheduledCase.SCHEDULE, attending.schedulingOfStep()));
      }
      if (layer == 0) {
        notes = new ArrayList<>(products.notes());
        notes.addAll(attending.attention().notes());
      }
      add("attention", attending.attention());
      add("o", cases.gemm(attended.reshape(t, layout.qWidth()), w.o(), projected, w.oBias()));
      Tensor sum = other(residuals, residual);
      add(
          "post_attention_norm",
          cases.fusedAddRmsNorm(projected, residual, w.postNorm(), normed, sum));
      residual = sum;
      add("gate_up", cases.gemm(normed, w.gateUp(), gateUp, null));
      add("silu_and_mul", cases.siluAndMul(gateUp, activated));
      add("down", cases.gemm(activated, w.down(), projected, null));
    }
    add(
        "final_norm",
        cases.fusedAddRmsNorm(
            projected, residual, weights.finalNorm(), normed, other(residuals, residual)));
    Tensor last = normed;
    if (rows < t) {
      int[] starts = batch.cuSeqlensQ();
      int[] lastRows = new int[rows];
      for (int b = 0; b < rows; b++) {
        lastRows[b] = starts[b + 1] - 1;
      }
      last = in.output(rows, hidden);
      add("logits_rows", cases.embedding(in.ints(lastRows), normed, last));
    }
    add("lm_head", cases.gemm(last, weights.head(), logits, null));
    add("sampler", cases.argmax(logits, tokens));
    attention =
        batch.isPrefill()
            ? cache -> null
            : cache ->
                cases.pagedAttention(library, cache, heads, options, q, attended).attention();
    requirePlan();
  }

  private static Tensor other(Tensor[] two, Tensor used) {
    return two[0] == used ? two[1] : two[0];
  }

  private void add(String role, KernelCase kernel) {
    ops.add(new Op(role, kernel));
  }

  // The figures of merit come from the plan, so this must be what was planned.
  private void requirePlan() {
    List<Operation> planned = plan.inOrder();
    // A schedule is one library's own; it does no work of the model's.
    List<Op> built = ops.stream().filter(op -> !op.role().equals(ScheduledCase.SCHEDULE)).toList();
    for (int i = 0; i < Math.max(planned.size(), built.size()); i++) {
      String want = i < planned.size() ? text(planned.get(i)) : "nothing";
      String got = i < built.size() ? text(built.get(i)) : "nothing";
      if (!want.equals(got)) {
        throw new IllegalStateException(
            "kernel %d of the step is %s where %s is planned".formatted(i, got, want));
      }
    }
  }

  private static String text(Operation op) {
    return op.role() + " " + op.call().key();
  }

  private static String text(Op op) {
    return op.role() + " " + op.kernel().kernel() + " " + op.kernel().shape();
  }

  /** What the model says the step has to do. */
  StepOperations plan() {
    return plan;
  }

  /** Whose kernels its attention and products are, where the names of the operations do not say. */
  List<String> notes() {
    return notes;
  }

  @Override
  public List<PreparedCall> calls() {
    return ops.stream().map(op -> op.kernel().call()).toList();
  }

  /** The calls by role and shape, in the order of first use. */
  List<Group> groups() {
    Map<String, Group> groups = new LinkedHashMap<>();
    for (Op op : ops) {
      groups
          .computeIfAbsent(text(op), key -> new Group(op, new ArrayList<>()))
          .calls()
          .add(op.kernel().call());
    }
    return List.copyOf(groups.values());
  }

  /**
   * Runs the step once, waits after every kernel, and checks each against the reference from the
   * operands that it really had. Keeps the logits as what every later run must give.
   */
  Agreement verifyKernelByKernel(DeviceContext context) {
    Agreement all = Agreement.NONE;
    for (int i = 0; i < ops.size(); i++) {
      Op op = ops.get(i);
      try {
        all = all.and(op.kernel().verify(context));
      } catch (WrongResultException e) {
        throw new WrongResultException(
            "kernel %d of the step, %s: %s".formatted(i, op.role(), e.getMessage()));
      }
    }
    if (expected.isEmpty()) {
      expected.add(new Expected(logits.toFloats(), checksum(logits, tokens)));
    }
    return all;
  }

  private void addState(PagedCache moment, Inputs in) {
    int[] ids = in.random().ints(plan.batch().totalQ(), 0, plan.layout().vocabSize()).toArray();
    moments.add(moment);
    states.add(BatchState.of(moment, ids));
  }

  @Override
  public StepInputs inputs() {
    return inputs;
  }

  @Override
  public List<BatchState> states() {
    return List.copyOf(states);
  }

  /**
   * Runs the step kernel by kernel with the inputs of each further state, and keeps what comes out
   * as what a replay with these inputs must give. Attention over the first layer's cache is held
   * against the reference with the pages and lengths of that state. Leaves the inputs of the first
   * state.
   */
  Agreement verifyStates(DeviceContext context) {
    Agreement all = Agreement.NONE;
    CallList eager = new CallList(calls());
    for (int i = 1; i < states.size(); i++) {
      inputs.set(states.get(i));
      poison();
      eager.launch();
      context.synchronize();
      tokensMustFollow(logits, tokens);
      expected.add(new Expected(repeatable ? null : logits.toFloats(), checksum(logits, tokens)));
      KernelCase check = attention.apply(moments.get(i - 1));
      if (check != null) {
        all = all.and(check.verify(context));
      }
    }
    inputs.set(states.get(0));
    return all;
  }

  /**
   * For a padded step: runs it and holds logits and tokens of the requests that the exact step has
   * too against those of that one, which another shape of products may round otherwise. What came
   * out is then what a replay must give.
   */
  Agreement verifyPadded(DeviceContext context, ModelStep exact) {
    inputs.set(states.get(0));
    poison();
    new CallList(calls()).launch();
    context.synchronize();
    int rows = exact.plan.batch().size();
    Tensor first = logits.slice(0, 0, rows);
    Agreement agreement = compareResult(exact.expected.get(0), first, tokens.slice(0, 0, rows));
    repeatable = exact.repeatable;
    expected.add(new Expected(logits.toFloats(), checksum(logits, tokens)));
    return agreement;
  }

  @Override
  public void verify(int state) {
    verifyResult(expected.get(state), logits, tokens);
  }

  /** Logits and the tokens chosen from them. */
  List<Tensor> results() {
    return List.of(logits, tokens);
  }

  private static long checksum(Tensor logits, Tensor tokens) {
    return 31 * logits.checksum() + tokens.checksum();
  }

  @Override
  public void poison() {
    logits.poison();
    tokens.poison();
  }

  /** Checks logits and tokens of the last run; see {@link #verifyResult(Tensor, Tensor)}. */
  Agreement verifyResult() {
    return verifyResult(logits, tokens);
  }

  /**
   * As {@link #verifyResult()} before anything is timed, and finds out whether the step gives the
   * same bits every time.
   */
  Agreement verifyFirstResult() {
    repeatable = checksum(logits, tokens) == expected.get(0).checksum;
    return verifyResult();
  }

  /** Whether results are compared bit for bit. */
  boolean repeatable() {
    return repeatable;
  }

  /**
   * Checks the logits and tokens of a run against those of {@link #verifyKernelByKernel}: bit for
   * bit where the step gives the same bits every time, else within the tolerance.
   */
  Agreement verifyResult(Tensor logits, Tensor tokens) {
    return verifyResult(expected.get(0), logits, tokens);
  }

  private Agreement verifyResult(Expected wanted, Tensor logits, Tensor tokens) {
    if (repeatable && checksum(logits, tokens) == wanted.checksum) {
      return new Agreement(logits.elements(), 0);
    }
    Agreement agreement =
        wanted.logits == null ? Agreement.NONE : compareResult(wanted, logits, tokens);
    if (repeatable) {
      throw new WrongResultException(
          "a timed step gave other logits or tokens than an untimed one"
              + (wanted.logits == null ? " with the same inputs" : ", if within the tolerance"));
    }
    return agreement;
  }

  /** Keeps what an untimed round has left in all activations and caches, bit for bit. */
  void expectRound() {
    expectedRound = roundChecksum();
  }

  /** Checks that a timed round has left the same as the untimed one, where that can be told. */
  void verifyRound() {
    if (repeatable && roundChecksum() != expectedRound) {
      throw new WrongResultException(
          "the last round of a session left other activations or cache entries than an untimed one:"
              + " a kernel timed by itself wrote a wrong result");
    }
  }

  private long roundChecksum() {
    Set<Tensor> outputs = Collections.newSetFromMap(new IdentityHashMap<>());
    long sum = 0;
    for (Op op : ops) {
      for (Tensor output : op.kernel().outputs()) {
        if (outputs.add(output)) {
          sum = 31 * sum + output.checksum();
        }
      }
    }
    return sum;
  }

  private static Agreement compareResult(Expected wanted, Tensor logits, Tensor tokens) {
    double[] expected = new double[wanted.logits.length];
    for (int i = 0; i < expected.length; i++) {
      expected[i] = wanted.logits[i];
    }
    Agreement agreement = Agreement.compare("logit", expected, logits.toFloats());
    tokensMustFollow(logits, tokens);
    return agreement;
  }

  /** A token is the place of its row's greatest logit; a poisoned row has none. */
  private static void tokensMustFollow(Tensor logits, Tensor tokens) {
    int[] found = tokens.toInts();
    for (int row = 0; row < found.length; row++) {
      int best = LayerReference.argmax(logits.select(0, row).toFloats());
      if (found[row] != best) {
        throw new WrongResultException(
            "token of request %d is %d, not %d".formatted(row, found[row], best));
      }
    }
  }
}
