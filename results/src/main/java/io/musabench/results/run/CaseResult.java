package io.musabench.results.run;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.Work;
import io.musabench.results.stats.Summary;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What is known about one case: one benchmark with one value for each of its parameters. Times are
 * microseconds of one operation; a number that was not measured is NaN.
 *
 * @param benchmark {@code group.Class}, for example {@code attention.PagedDecode}
 * @param params value of each parameter
 * @param status how it ended
 * @param reason why it is not ok, in one line; empty when it is
 * @param kernel name of the kernel's export where the case runs one kernel, else empty
 * @param shape the kernel's shape as {@link io.musabench.results.model.KernelCall#shape} prints it,
 *     else empty
 * @param forks forks that gave samples
 * @param lostForks forks that crashed and gave none
 * @param samples samples of all forks together: of device time, or of host time where the case has
 *     no device time
 * @param launches operations between the two events of a sample; at least 1
 * @param kernels kernel calls in one operation: 1 for a kernel, all of them for a step, 0 where it
 *     does not apply
 * @param deviceTimeMedianUs median device time
 * @param deviceTimeP10Us 10 % quantile of device time
 * @param deviceTimeP90Us 90 % quantile of device time
 * @param hostTimeMedianUs median host time from the first call to the end of the work
 * @param submitTimeMedianUs median host time until the calls have returned, the work still running
 * @param firstRunUs host time of the very first run, with everything it sets up
 * @param overKernels by how much a step takes longer than its kernels
 * @param graphCosts a step launched kernel by kernel against the same as a graph
 * @param work FLOPs and bytes of one operation
 * @param parts the kernels of a step one by one; empty for anything else
 * @param conditions what the samples were taken under
 * @param check what was compared with the reference and how far off it was; may be empty
 * @param note what the reader must know, for example that layers share weights; may be empty
 * @param reproduce command line that runs this case alone
 */
public record CaseResult(
    String benchmark,
    SortedMap<String, String> params,
    Status status,
    String reason,
    String kernel,
    String shape,
    int forks,
    int lostForks,
    int samples,
    int launches,
    int kernels,
    double deviceTimeMedianUs,
    double deviceTimeP10Us,
    double deviceTimeP90Us,
    double hostTimeMedianUs,
    double submitTimeMedianUs,
    double firstRunUs,
    OverKernels overKernels,
    GraphCosts graphCosts,
    Work work,
    List<CasePart> parts,
    Conditions conditions,
    String check,
    String note,
    String reproduce) {
  /** {@link #group} of whole steps. */
  public static final String STEP = "step";

  /** {@link #group} of launching by itself. */
  public static final String LAUNCH = "launch";

  /** {@link #group} of what the device can reach. */
  public static final String ROOF = "roof";

  /** Copies the collections. */
  public CaseResult {
    params = Collections.unmodifiableSortedMap(new TreeMap<>(params));
    parts = List.copyOf(parts);
  }

  /** Starts a case; everything else is empty or unknown until it is set. */
  public static Builder of(String benchmark, Map<String, String> params) {
    return new Builder(benchmark, params);
  }

  /** Name that is unique in a run: benchmark and parameters. */
  public String id() {
    return params.isEmpty() ? benchmark : benchmark + ":" + Params.format(params);
  }

  /** The group, for example {@code attention}; empty if the name has none. */
  public String group() {
    int dot = benchmark.lastIndexOf('.');
    return dot < 0 ? "" : benchmark.substring(0, dot);
  }

  /** The benchmark without its group, for example {@code PagedDecode}. */
  public String shortName() {
    return benchmark.substring(benchmark.lastIndexOf('.') + 1);
  }

  /** A parameter's value, or an empty text. */
  public String param(String name) {
    return params.getOrDefault(name, "");
  }

  /** Median device time, or host time where the case has no other. */
  public double timeUs() {
    return Double.isNaN(deviceTimeMedianUs) ? hostTimeMedianUs : deviceTimeMedianUs;
  }

  /** The requests of a step; empty without any, and for a batch that this version cannot read. */
  public Optional<BatchSpec> batch() {
    try {
      return Optional.of(BatchSpec.parse(param(Params.BATCH)));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** Time of all calls of all {@link #parts}; NaN without any. */
  public double sumOfPartsUs() {
    return parts.isEmpty() ? Double.NaN : parts.stream().mapToDouble(CasePart::totalUs).sum();
  }

  /** Whether it was measured and right. */
  public boolean ok() {
    return status == Status.OK;
  }

  /** GB/s of the median; NaN where the case moves no bytes worth a rate or was not measured. */
  public double gbPerS() {
    return work.bytes() == 0 ? Double.NaN : work.gbPerS(deviceTimeMedianUs * 1e-6);
  }

  /** TFLOP/s of the median; NaN where there is no arithmetic or no measurement. */
  public double tflopPerS() {
    return work.flops() == 0 ? Double.NaN : work.tflopPerS(deviceTimeMedianUs * 1e-6);
  }

  /** Collects a {@link CaseResult}. */
  public static final class Builder {
    private final String benchmark;
    private final Map<String, String> params;
    private Status status = Status.OK;
    private String reason = "";
    private String kernel = "";
    private String shape = "";
    private int forks;
    private int lostForks;
    private int samples;
    private int launches = 1;
    private int kernels;
    private double median = Double.NaN;
    private double p10 = Double.NaN;
    private double p90 = Double.NaN;
    private double host = Double.NaN;
    private double submit = Double.NaN;
    private double firstRun = Double.NaN;
    private OverKernels overKernels = OverKernels.UNKNOWN;
    private GraphCosts graphCosts = GraphCosts.UNKNOWN;
    private Work work = Work.NONE;
    private List<CasePart> parts = List.of();
    private Conditions conditions = Conditions.UNKNOWN;
    private String check = "";
    private String note = "";
    private String reproduce = "";

    private Builder(String benchmark, Map<String, String> params) {
      this.benchmark = benchmark;
      this.params = params;
    }

    /** A case without a number. */
    public Builder notOk(Status status, String reason) {
      this.status = status;
      this.reason = reason;
      return this;
    }

    /** The one kernel that the case runs; also sets the number of kernels to 1. */
    public Builder kernel(String kernel, String shape) {
      this.kernel = kernel;
      this.shape = shape;
      this.kernels = 1;
      return this;
    }

    /** Kernel calls in one operation. */
    public Builder kernels(int kernels) {
      this.kernels = kernels;
      return this;
    }

    /** Number of forks that gave samples. */
    public Builder forks(int forks) {
      this.forks = forks;
      return this;
    }

    /** Number of forks that crashed. */
    public Builder lostForks(int lostForks) {
      this.lostForks = lostForks;
      return this;
    }

    /** Operations between the two events of a sample. */
    public Builder launches(int launches) {
      this.launches = launches;
      return this;
    }

    /** Device time of one operation, every sample of all forks, in microseconds. */
    public Builder deviceTimesUs(double[] us) {
      Summary summary = Summary.of(us);
      samples = summary.n();
      median = summary.median();
      p10 = summary.p10();
      p90 = summary.p90();
      return this;
    }

    /** Host time of one operation that has no device time, every sample, in microseconds. */
    public Builder hostTimesUs(double[] us) {
      Summary summary = Summary.of(us);
      samples = summary.n();
      host = summary.median();
      return this;
    }

    /** Device time as it was summarised before. */
    Builder deviceTimeUs(int samples, double median, double p10, double p90) {
      this.samples = samples;
      this.median = median;
      this.p10 = p10;
      this.p90 = p90;
      return this;
    }

    /** Median host time from the first call to the end of the work, in microseconds. */
    public Builder hostTimeMedianUs(double us) {
      this.host = us;
      return this;
    }

    /** Median host time until the calls have returned, in microseconds. */
    public Builder submitTimeMedianUs(double us) {
      this.submit = us;
      return this;
    }

    /** Host time of the very first run, in microseconds. */
    public Builder firstRunUs(double us) {
      this.firstRun = us;
      return this;
    }

    /** By how much a step takes longer than its kernels. */
    public Builder overKernels(OverKernels overKernels) {
      this.overKernels = overKernels;
      return this;
    }

    /** A step launched kernel by kernel against the same as a graph. */
    public Builder graphCosts(GraphCosts graphCosts) {
      this.graphCosts = graphCosts;
      return this;
    }

    /** FLOPs and bytes of one operation. */
    public Builder work(Work work) {
      this.work = work;
      return this;
    }

    /** The kernels of a step, measured one by one. */
    public Builder parts(List<CasePart> parts) {
      this.parts = parts;
      return this;
    }

    /** What the samples were taken under. */
    public Builder conditions(Conditions conditions) {
      this.conditions = conditions;
      return this;
    }

    /** What was compared with the reference and how far off it was. */
    public Builder check(String check) {
      this.check = check;
      return this;
    }

    /** What the reader must know; reports print it. */
    public Builder note(String note) {
      this.note = note;
      return this;
    }

    /** Command line that runs this case alone. */
    public Builder reproduce(String reproduce) {
      this.reproduce = reproduce;
      return this;
    }

    /** The finished case. */
    public CaseResult build() {
      return new CaseResult(
          benchmark,
          new TreeMap<>(params),
          status,
          reason,
          kernel,
          shape,
          forks,
          lostForks,
          samples,
          launches,
          kernels,
          median,
          p10,
          p90,
          host,
          submit,
          firstRun,
          overKernels,
          graphCosts,
          work,
          parts,
          conditions,
          check,
          note,
          reproduce);
    }
  }
}
