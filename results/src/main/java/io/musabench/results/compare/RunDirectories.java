package io.musabench.results.compare;

import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunData;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import io.musabench.results.run.Versions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** Reads musabench's own run directories for a comparison. */
final class RunDirectories {
  /**
   * Resolution of an event's time on a GPU: about half a microsecond (CUDA Runtime API, {@code
   * cudaEventElapsedTime}). The host device reads a clock of nanoseconds.
   */
  private static final double EVENT_RESOLUTION_US = 0.5;

  private static final String HOST = "host";

  /** Settings whose effect is recorded by itself: the target, and options that set properties. */
  private static final Set<String> ELSEWHERE =
      Set.of("musabench.target", "musabench.device", "MUSABENCH_OPTS");

  /** Samples of a case by metric. */
  private static final class Samples {
    private final Map<String, Forks> metrics = new HashMap<>();
    private final Map<String, String> units = new HashMap<>();
  }

  private RunDirectories() {}

  static MeasuredRun read(Path path) {
    RunDirectory directory = RunDirectory.open(path);
    RunData run = directory.read();
    Map<String, Samples> samples = new HashMap<>();
    directory.eachSample(sample -> collect(samples, sample));
    List<MeasuredCase> cases = new ArrayList<>();
    for (CaseResult c : run.cases()) {
      // Taken once: which of two cases of one name has measured them is not known.
      Samples taken = samples.remove(c.id());
      cases.add(measured(run, c, taken == null ? new Samples() : taken));
    }
    return MeasuredRun.of(run.name(), run.environment(), cases);
  }

  private static void collect(Map<String, Samples> all, Sample sample) {
    switch (sample.metric()) {
      case Sample.DEVICE_TIME, Sample.HOST_TIME, Sample.DEVICE_CLOCK, Sample.TURN -> {
        Samples samples = all.computeIfAbsent(sample.caseId(), id -> new Samples());
        samples
            .metrics
            .computeIfAbsent(sample.metric(), metric -> new Forks())
            .add(sample.fork(), sample.value());
        samples.units.put(sample.metric(), sample.unit());
      }
      default -> {
        // Parts of steps and further metrics are not judged.
      }
    }
  }

  private static MeasuredCase measured(RunData run, CaseResult c, Samples samples) {
    Environment environment = run.environment();
    // A case without device time is one whose work is the host's alone, such as capturing a graph.
    boolean onDevice = samples.metrics.containsKey(Sample.DEVICE_TIME);
    String metric = onDevice ? Sample.DEVICE_TIME : Sample.HOST_TIME;
    Forks times = samples.metrics.getOrDefault(metric, new Forks());
    times.takenIn(samples.metrics.getOrDefault(Sample.TURN, new Forks()));
    Forks clocks = samples.metrics.getOrDefault(Sample.DEVICE_CLOCK, new Forks());
    List<ForkMedian> medians = List.of();
    List<ForkMedian> clockMedians = List.of();
    String problem = "";
    String unit = c.ok() ? samples.units.getOrDefault(metric, "") : "";
    if (c.ok()) {
      try {
        TimeUnit known = TimeUnit.parse(unit);
        medians = times.medians(known.microseconds(), known.rate(), "time");
        clockMedians = clocks.medians(1, false, "clock");
        if (times.isEmpty()) {
          problem = "it has no samples in samples.csv";
        } else if (medians.size() < c.forks()) {
          problem = "samples.csv has %d of its %d forks".formatted(medians.size(), c.forks());
        }
      } catch (IllegalArgumentException e) {
        problem = times.isEmpty() ? "it has no samples in samples.csv" : e.getMessage();
      }
    }
    double resolution =
        onDevice && !environment.target().equals(HOST)
            ? EVENT_RESOLUTION_US / (c.deviceTimeMedianUs() * c.launches())
            : 0;
    return new MeasuredCase(
        c.id(),
        c.benchmark(),
        c.params(),
        unit,
        conditions(environment, c, !onDevice),
        medians,
        c.lostForks(),
        clockMedians.size() == medians.size() ? clockMedians : List.of(),
        resolution,
        c.ok() ? "" : c.status().text() + (c.reason().isEmpty() ? "" : ": " + c.reason()),
        problem);
  }

  /** What changes a time without being the code under test. */
  private static SortedMap<String, String> conditions(
      Environment e, CaseResult c, boolean hostTime) {
    SortedMap<String, String> all = new TreeMap<>();
    all.put("target", e.target());
    all.put("device", text(e.device().name()));
    all.put("device.vendor", text(e.device().vendor()));
    all.put("device.units", text(e.device().computeUnits()));
    all.put("device.memory", text(e.device().memoryBytes()));
    all.put("driver", text(e.device().driverVersion()));
    all.put("runtime", text(e.device().runtimeVersion()));
    all.put("clock.mode", text(e.clocks() == null ? null : e.clocks().mode()));
    for (Environment.Library library : e.libraries()) {
      all.put("library." + library.role(), text(library.sha256()));
    }
    e.settings()
        .forEach(
            (name, value) -> {
              // Where files lie does not change a time; what is in them is compared by hash.
              if (!value.contains("/") && !ELSEWHERE.contains(name)) {
                all.put("setting." + name, value);
              }
            });
    if (!e.target().equals(HOST)) {
      all.put("driver.kernel", text(e.versions().get(Versions.DRIVER)));
      all.put("musa_sdk", text(e.versions().get(Versions.MUSA_SDK)));
      // What stands above the kernels does not change their times; whose kernels they are does.
      if (Versions.MATE.equals(c.params().get("library"))) {
        all.put("mate", text(e.versions().get(Versions.MATE)));
      }
    }
    if (e.versions().containsKey(Environment.INJECTED)) {
      all.put("injected", e.versions().get(Environment.INJECTED));
    }
    if (hostTime || e.target().equals(HOST)) {
      all.put("cpu", text(e.machine() == null ? null : e.machine().cpu()));
      all.put("cpus", text(e.machine() == null ? null : e.machine().logicalCpus()));
    }
    if (hostTime) {
      all.put("jvm", e.jvm() == null ? "unknown" : e.jvm().name() + " " + e.jvm().version());
    }
    return all;
  }

  private static String text(Object value) {
    return value == null ? "unknown" : value.toString();
  }
}
