package io.musabench.jmh.step;

import io.musabench.bindings.kernels.PortableKernels;
import io.musabench.jmh.device.Agreement;
import io.musabench.jmh.device.DTypes;
import io.musabench.jmh.device.DeviceBenchmark;
import io.musabench.jmh.device.GraphTimer;
import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelCase;
import io.musabench.jmh.device.Libraries;
import io.musabench.jmh.device.MateOptions;
import io.musabench.jmh.device.Measured;
import io.musabench.jmh.device.Metric;
import io.musabench.jmh.device.ParameterException;
import io.musabench.jmh.device.SessionFacts;
import io.musabench.jmh.device.StepPart;
import io.musabench.jmh.device.StepTimer;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.Layout;
import io.musabench.results.model.Models;
import io.musabench.results.model.StepOperations;
import io.musabench.results.model.Work;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.annotations.Param;

/** One forward pass of a model, as a whole and kernel by kernel. */
public abstract class StepBenchmark extends DeviceBenchmark {
  private static final int ELEMENT_BYTES = 2;

  // Replays take turns over so many inputs, so that none finds those of the one before. Of steps
  // that take long one is enough: between two replays of it others run with the first inputs.
  private static final int MOMENTS = 3;
  private static final int LONG_TOKENS = 64;

  @Param("Qwen3-0.6B")
  public String model;

  @Param("1")
  public int tp;

  @Param({"eager", "graph"})
  public String mode;

  @Param("bf16")
  public String dtype;

  @Param("16")
  public int page;

  @Param("false")
  public boolean sharedWeights;

  /** Whose attention kernels: {@code portable}, {@code mate}, or {@code auto}: what there is. */
  @Param(Libraries.AUTO)
  public String library;

  /**
   * Whose matrix products: {@code portable}, {@code blas}, or {@code auto}: the vendor's BLAS where
   * there is one, because that is what an engine calls.
   */
  @Param(Libraries.AUTO)
  public String gemm;

  @Param("1")
  public long seed;

  /**
   * System property: {@code true} to sample whole steps alone, not also their kernels and the costs
   * of their graphs. Whoever only wants to know whether a step got slower has more of its samples.
   */
  public static final String ALONE = "musabench.step.alone";

  private final boolean alone = Boolean.getBoolean(ALONE);
  private ModelStep step;
  private StepTimer timer;
  private GraphTimer graphs; // null where kernels are launched by themselves
  private Agreement before;

  /** The requests of the step; refuses what the benchmark is not about. */
  protected abstract BatchSpec requests();

  /** Requests that a padded graph is to be captured for; the step's own number for none. */
  protected abstract int captured();

  @Override
  public final void validate() {
    BatchSpec requests = requests();
    Layout layout = layout();
    int dim = layout.heads().qkDim();
    if (!library.equals(Libraries.MATE)) {
      ParameterException.check("model", model, () -> PortableKernels.requireHeadDims(dim, dim));
    }
    if (!List.of(Libraries.AUTO, Libraries.PORTABLE, Libraries.MATE).contains(library)) {
      throw new ParameterException("library", library, "attention is in portable and mate");
    }
    ParameterException.check("batch", requests, () -> StepOperations.of(layout, requests, page));
    captured();
  }

  private Layout layout() {
    return ParameterException.derive("tp", tp, () -> Models.find(model).layout(tp));
  }

  @Override
  protected final void prepare() {
    Inputs inputs = new Inputs(context(), DTypes.parse(dtype), seed);
    BatchSpec requests = requests();
    boolean graph = mode.equals("graph");
    int moments = !graph ? 0 : requests.totalQ() > LONG_TOKENS ? 1 : MOMENTS;
    step =
        ModelStep.create(
            inputs,
            layout(),
            requests,
            page,
            sharedWeights,
            moments,
            Libraries.attention(library, inputs, 0, MateOptions.DEFAULT),
            Libraries.products(gemm, inputs));
    Agreement kernels = step.verifyKernelByKernel(context());
    timer =
        new StepTimer(
            context(),
            graph,
            step.calls(),
            groups().stream().map(ModelStep.Group::calls).toList(),
            step.results());
    step.poison();
    timer.runOnce();
    before = kernels.and(step.verifyFirstResult());
    if (graph) {
      before = before.and(step.verifyStates(context()));
      if (!alone) {
        prepareGraphs(inputs);
      }
    }
    timer.runRound();
    step.expectRound();
  }

  private List<ModelStep.Group> groups() {
    return alone ? List.of() : step.groups();
  }

  private void prepareGraphs(Inputs inputs) {
    ModelStep padded = null;
    if (captured() > requests().size()) {
      padded = step.padded(inputs, captured());
      before = before.and(padded.verifyPadded(context(), step));
    }
    graphs =
        new GraphTimer(context(), step, padded, padded == null ? 0 : captured(), timer.stepNanos());
  }

  /** One sampling session. */
  protected final void sample() {
    StepTimer.Sampled sampled = timer.run(limits(), step::verifyRound);
    sampled.results().forEach(result -> step.verifyResult(result.get(0), result.get(1)));
    List<StepPart> parts = new ArrayList<>();
    List<ModelStep.Group> groups = groups();
    for (int i = 0; i < groups.size(); i++) {
      KernelCase kernel = groups.get(i).first().kernel();
      parts.add(
          new StepPart(
              groups.get(i).first().role(),
              kernel.kernel(),
              kernel.shape(),
              groups.get(i).calls().size(),
              kernel.work().flops(),
              kernel.work().bytes(),
              sampled.parts()[i]));
    }
    List<Metric> metrics = new ArrayList<>(sampled.metrics());
    SessionFacts facts = sampled.facts();
    if (graphs == null) {
      step.poison();
      metrics.addAll(timer.hostTimes(limits()));
      step.verifyResult(); // Of the last one.
    } else {
      GraphTimer.Sampled ways = graphs.run(limits());
      metrics.addAll(ways.metrics());
      facts = facts.and(ways.facts());
    }
    metrics.addAll(before.metrics());
    metrics.add(new Metric(Agreement.SAME_BITS, "yes", new double[] {step.repeatable() ? 1 : 0}));
    Work work = step.plan().work(ELEMENT_BYTES);
    publish(
        new Measured(
            "",
            "",
            step.calls().size(),
            Measured.Clock.DEVICE,
            sampled.whole(),
            1,
            work.flops(),
            work.bytes(),
            seed,
            metrics,
            parts,
            notes(),
            facts));
  }

  private List<String> notes() {
    List<String> notes = new ArrayList<>(step.notes());
    if (sharedWeights) {
      notes.add("all layers share one layer's weights, which may therefore be cached");
    }
    return notes;
  }

  @Override
  protected final void finish() {
    if (!step.repeatable()) {
      step.verifyKernelByKernel(context()); // Otherwise every session was compared bit for bit.
    }
    timer.close();
    if (graphs != null) {
      graphs.close();
    }
  }
}
