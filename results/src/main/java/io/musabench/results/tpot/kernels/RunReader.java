package io.musabench.results.tpot.kernels;

import io.musabench.results.model.ElementType;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import io.musabench.results.run.CasePart;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.Params;
import io.musabench.results.run.Roofs;
import io.musabench.results.run.RunData;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.RunException;
import io.musabench.results.run.Sample;
import io.musabench.results.stats.Stats;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Provenance;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Run directories of this suite.
 *
 * <p>Of several measurements of one kernel and shape the one nearest to its use counts: as part of
 * a step in the mode asked for, then as part of a step in the other mode, then by itself: the
 * vendor's before the portable kernel, and as a step runs it ({@code cache=step}) before cold.
 * Several that are equally near, for example in several runs, count as their median. The source's
 * remarks say what was decided so. Kernels that were measured hot, or with options that no model
 * here uses (a window, a soft cap, a fixed number of splits), are left out, and so are kernels that
 * no model here has.
 */
final class RunReader {
  /** 10 % and 90 % quantile of a normal distribution are this many standard deviations apart. */
  private static final double P10_TO_P90 = 2.5631;

  /** Level of the intervals that these errors make. */
  private static final double LEVEL = 0.9;

  private static final double MICROS = 1e6;

  /** Rank of a kernel that was measured by itself; 0 and 1 are those of steps. */
  private static final int ALONE = 2;

  /** Options of every library, with the value that changes nothing. */
  private static final Map<String, String> NEUTRAL =
      Map.of("window", "-1", "softcap", "0", "splits", "0");

  /** Where the data of a kernel by itself are, nearest to a step first; no others are of a step. */
  private static final List<String> CACHES = List.of(Params.AS_IN_STEP, Params.COLD);

  /**
   * Of two libraries that were measured alone on one machine, an engine there runs the vendor's; so
   * the portable kernels rank behind.
   */
  private static final int BEHIND_VENDOR = CACHES.size();

  private final Mode mode;
  private final Map<String, Reading> readings = new TreeMap<>();

  /** Of each kernel and shape, the ways in which it was measured, the nearest to its use first. */
  private final Map<String, TreeMap<Integer, Way>> ways = new TreeMap<>();

  private RunReader(Mode mode) {
    this.mode = mode;
  }

  /** What was measured of one kernel and shape; a lower rank is nearer to its use. */
  private record Reading(
      KernelCall call, Precision precision, int rank, Map<String, Share> cases, String from) {}

  /** A way of measuring; a lower rank is nearer to a kernel's use. */
  private record Way(int rank, String name) {
    static Way inStep(Mode asked, CaseResult c) {
      String mode = c.param(Params.MODE);
      return new Way(mode.equals(asked.text()) ? 0 : 1, "in a step, mode=" + mode);
    }

    static Way alone(CaseResult c) {
      String library = c.param("library");
      return new Way(
          ALONE + (library.isEmpty() ? BEHIND_VENDOR : 0) + CACHES.indexOf(cache(c)),
          "alone, cache=" + cache(c) + (library.isEmpty() ? "" : ", library=" + library));
    }
  }

  /**
   * All calls of a kernel in one case. Several roles of a step may have the same kernel and shape,
   * with times of their own; their mean over all calls keeps the sum of the step.
   */
  private static final class Share {
    private double count;
    private double us;
    private double errors;

    void add(int count, double us, double error) {
      this.count += count;
      this.us += count * us;
      errors += count * us * error;
    }

    double meanSeconds() {
      return us / count / MICROS;
    }

    /** NaN if one is not known. */
    double relativeError() {
      return errors / us;
    }
  }

  /** Whether a folder is a run directory. */
  static boolean is(Path path) {
    return Files.isRegularFile(path.resolve("cases.csv"))
        && Files.isRegularFile(path.resolve("environment.json"));
  }

  /**
   * Reads run directories of one device into one source.
   *
   * @throws KernelSourceException if one cannot be read, they are of different devices, or there is
   *     no kernel in them
   */
  static KernelSource open(Collection<Path> paths, Mode mode) {
    RunReader reader = new RunReader(mode);
    List<RunData> runs = new ArrayList<>();
    for (Path path : paths) {
      try {
        RunDirectory directory = RunDirectory.open(path);
        RunData run = directory.read();
        runs.add(run);
        reader.read(path, run, directory);
      } catch (RunException e) {
        throw new KernelSourceException(e.getMessage(), e);
      }
    }
    requireOneDevice(runs);
    List<CaseResult> cases = runs.stream().flatMap(r -> r.cases().stream()).toList();
    TableSource.Builder builder =
        new TableSource.Builder(
            "run " + runs.stream().map(RunData::name).collect(Collectors.joining(", ")));
    for (Reading r : reader.readings.values()) {
      for (Share share : r.cases.values()) {
        builder.add(
            r.call,
            r.precision,
            share.meanSeconds(),
            share.relativeError(),
            Provenance.MEASURED,
            r.from);
      }
    }
    if (builder.isEmpty()) {
      throw new KernelSourceException(
          "No kernel was measured in "
              + paths.stream().map(Path::toString).collect(Collectors.joining(", ")));
    }
    reader.remarks().forEach(builder::remark);
    for (RunData run : runs) {
      if (!run.partial().isEmpty()) {
        builder.remark("run " + run.name() + " is " + run.partial());
      }
    }
    builder.launch(launchCosts(cases));
    Environment.DeviceInfo device = runs.get(0).environment().device();
    builder.device(device.name());
    return builder.build(roofs(cases, device));
  }

  /** Which of several measurements of a kernel and shape count, one sentence a decision. */
  private List<String> remarks() {
    Map<String, Integer> decisions = new TreeMap<>();
    for (TreeMap<Integer, Way> measured : ways.values()) {
      String counts = measured.firstEntry().getValue().name();
      measured
          .tailMap(measured.firstKey(), false)
          .values()
          .forEach(
              other ->
                  decisions.merge(
                      "measured %s, counts before the same %s".formatted(counts, other.name()),
                      1,
                      Integer::sum));
    }
    List<String> all = new ArrayList<>();
    decisions.forEach((decision, n) -> all.add(shapes(n) + " " + decision));
    long repeated = readings.values().stream().filter(r -> r.cases.size() > 1).count();
    if (repeated > 0) {
      all.add(shapes(repeated) + " measured several times in the same way: the median counts");
    }
    return all;
  }

  private static String shapes(long n) {
    return n == 1 ? "1 kernel and shape" : n + " kernels and shapes";
  }

  private static void requireOneDevice(List<RunData> runs) {
    Environment first = runs.get(0).environment();
    for (RunData run : runs) {
      Environment e = run.environment();
      if (!e.target().equals(first.target())
          || !Objects.equals(e.device().name(), first.device().name())) {
        throw new KernelSourceException(
            "Runs of different devices cannot be one source: %s is of %s (%s), %s of %s (%s)"
                .formatted(
                    runs.get(0).name(),
                    first.device().name(),
                    first.target(),
                    run.name(),
                    e.device().name(),
                    e.target()));
      }
    }
  }

  private void read(Path path, RunData run, RunDirectory directory) {
    Map<String, Map<Integer, List<Double>>> forks = new HashMap<>();
    directory.eachSample(
        s -> {
          if (s.metric().startsWith(Sample.DEVICE_TIME)) {
            forks
                .computeIfAbsent(s.caseId() + " " + s.metric(), k -> new TreeMap<>())
                .computeIfAbsent(s.fork(), f -> new ArrayList<>())
                .add(s.value());
          }
        });
    for (CaseResult c : run.cases()) {
      // Roofs and launches run kernels too, but none that a step has.
      if (!c.ok()
          || !neutral(c)
          || c.group().equals(CaseResult.ROOF)
          || c.group().equals(CaseResult.LAUNCH)) {
        continue;
      }
      if (c.group().equals(CaseResult.STEP)) {
        Way way = Way.inStep(mode, c);
        for (CasePart p : c.parts()) {
          String metric = c.id() + " " + Sample.DEVICE_TIME + "." + p.role() + " " + p.shape();
          add(
              path,
              run,
              c,
              new Part(
                  p.kernel(),
                  p.shape(),
                  way,
                  p.count(),
                  p.deviceTimeMedianUs(),
                  error(forks.get(metric))));
        }
      } else if (!c.kernel().isEmpty()) {
        double error = error(forks.get(c.id() + " " + Sample.DEVICE_TIME));
        Part part = new Part(c.kernel(), c.shape(), Way.alone(c), 1, c.deviceTimeMedianUs(), error);
        add(path, run, c, part);
      }
    }
  }

  private static String cache(CaseResult c) {
    String cache = c.param(Params.CACHE);
    return cache.isEmpty() ? Params.COLD : cache;
  }

  private static boolean neutral(CaseResult c) {
    if (!CACHES.contains(cache(c))) {
      return false;
    }
    return Stream.of(NEUTRAL, Params.MATE_DEFAULTS)
        .flatMap(options -> options.entrySet().stream())
        .allMatch(e -> c.param(e.getKey()).isEmpty() || c.param(e.getKey()).equals(e.getValue()));
  }

  /** One line of a run. */
  private record Part(String kernel, String shape, Way way, int count, double us, double error) {}

  private void add(Path path, RunData run, CaseResult c, Part part) {
    if (!(part.us > 0) || !KernelCall.isKnown(part.kernel)) {
      return;
    }
    KernelCall call;
    Precision precision;
    try {
      call = KernelCall.parse(part.kernel, part.shape);
      String dtype = c.param("dtype");
      precision = dtype.isEmpty() ? Precision.BF16 : Precision.uniform(ElementType.parse(dtype));
    } catch (IllegalArgumentException e) {
      throw new KernelSourceException(path + ", case " + c.id() + ": " + e.getMessage(), e);
    }
    String key = call.key() + " " + precision;
    int rank = part.way.rank();
    ways.computeIfAbsent(key, k -> new TreeMap<>()).putIfAbsent(rank, part.way);
    Reading kept =
        readings.merge(
            key,
            new Reading(call, precision, rank, new TreeMap<>(), run.name()),
            (a, b) -> b.rank < a.rank ? b : a);
    if (kept.rank == rank) {
      kept.cases
          .computeIfAbsent(run.name() + " " + c.id(), id -> new Share())
          .add(part.count, part.us, part.error);
    }
  }

  /**
   * One standard deviation over the time: of the mean of the forks' medians, because forks differ
   * by more than the samples in one, made wider where few forks say how wide it is; with one fork,
   * of its samples, which is the most that is known.
   */
  private static double error(Map<Integer, List<Double>> forks) {
    if (forks == null) {
      return Double.NaN;
    }
    double[] medians = forks.values().stream().mapToDouble(RunReader::median).toArray();
    if (medians.length > 1) {
      return Stats.widening(medians.length - 1, LEVEL) * Stats.relativeStandardError(medians);
    }
    double[] all = forks.values().iterator().next().stream().mapToDouble(v -> v).toArray();
    return (Stats.quantile(all, 0.9) - Stats.quantile(all, 0.1)) / P10_TO_P90 / Stats.median(all);
  }

  private static DeviceRoofs roofs(List<CaseResult> cases, Environment.DeviceInfo device) {
    Roofs measured = Roofs.of(cases);
    Map<ElementType, Double> flops = new EnumMap<>(ElementType.class);
    if (!Double.isNaN(measured.tflopPerS())) {
      // PeakFlops counts multiply-adds of the type that matrix products use here.
      flops.put(ElementType.BF16, measured.tflopPerS());
      flops.put(ElementType.FP16, measured.tflopPerS());
    }
    // Where it was not measured, the best of the run's own kernels stands for it, and that is none.
    boolean known = !Double.isNaN(measured.readGbPerS());
    return new DeviceRoofs(
        measured.readGbPerS(),
        flops,
        Double.NaN,
        device.memoryBytes() == null ? Double.NaN : device.memoryBytes(),
        known ? Provenance.MEASURED : Provenance.ASSUMED);
  }

  /**
   * What launching costs, from the steps where they were measured, because their kernels have real
   * arguments, else from the launch benchmarks.
   *
   * <p>A kernel: the least host time to queue an eager step over its kernels; where the device
   * falls behind and the queue fills, queueing takes longer than it must. A node: what a replayed
   * step takes beyond its kernels, which were measured beside it round by round; noise below zero
   * counts as zero. Setting up a graph: the median of the steps where it was measured, over their
   * nodes, because it grows with them.
   */
  private static LaunchCosts launchCosts(List<CaseResult> cases) {
    List<CaseResult> ok = cases.stream().filter(CaseResult::ok).toList();
    double perKernel = Double.NaN;
    double replay = Double.NaN;
    List<Double> nodes = new ArrayList<>();
    List<Double> setUps = new ArrayList<>();
    for (CaseResult c : ok) {
      if (!c.group().equals(CaseResult.STEP) || c.kernels() < 1) {
        continue;
      }
      double submit = c.submitTimeMedianUs() / MICROS;
      if (c.param(Params.MODE).equals(Params.EAGER)) {
        perKernel = least(perKernel, submit / c.kernels());
      } else {
        replay = least(replay, submit);
        double over = c.overKernels().medianUs();
        if (!Double.isNaN(over)) {
          nodes.add(over / MICROS / c.kernels());
        }
        double setUp = c.graphCosts().setUpUs();
        if (!Double.isNaN(setUp)) {
          setUps.add(setUp / MICROS / c.kernels());
        }
      }
    }
    for (CaseResult c : ok) {
      if (c.group().equals(CaseResult.LAUNCH)
          && Double.isNaN(perKernel)
          && c.shortName().equals("EmptyLaunch")) {
        perKernel = c.submitTimeMedianUs() / MICROS;
      }
      if (c.group().equals(CaseResult.LAUNCH)
          && Double.isNaN(replay)
          && c.shortName().equals("GraphReplay")) {
        replay = c.submitTimeMedianUs() / MICROS;
      }
    }
    if (Double.isNaN(perKernel) && Double.isNaN(replay)) {
      return null;
    }
    double perNode = nodes.isEmpty() ? 0 : Math.max(0, median(nodes));
    double setUp = setUps.isEmpty() ? Double.NaN : median(setUps);
    return new LaunchCosts(perKernel, perNode, replay, setUp, Provenance.MEASURED);
  }

  private static double median(List<Double> values) {
    return Stats.median(values.stream().mapToDouble(v -> v).toArray());
  }

  private static double least(double known, double candidate) {
    return Double.isNaN(known) ? candidate : Math.min(known, candidate);
  }
}
