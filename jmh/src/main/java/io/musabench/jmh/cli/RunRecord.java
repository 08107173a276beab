package io.musabench.jmh.cli;

import io.musabench.results.run.CaseResult;
import io.musabench.results.run.CpuTimes;
import io.musabench.results.run.Environment;
import io.musabench.results.run.Environment.Clocks;
import io.musabench.results.run.RunData;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import io.musabench.results.run.Status;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;

/**
 * The run directory while it is being filled. Every method leaves it valid; it is used by the
 * thread that measures and, when the process is told to stop, by the shutdown hook.
 */
final class RunRecord {
  private final RunDirectory directory;
  private Environment environment;
  private final List<CaseResult> cases = new ArrayList<>();
  private final List<Sample> samples = new ArrayList<>();
  private final List<RunResult> jmh = new ArrayList<>();
  private boolean closed;

  /**
   * Makes the directory.
   *
   * @param runs folder of all runs
   * @param labels the user's own key-value pairs, recorded with the versions
   */
  RunRecord(Path runs, Instant start, Environment environment, Map<String, String> labels) {
    directory = RunDirectory.create(runs, environment.target(), start);
    this.environment = environment.withVersions(labels);
    directory.saveEnvironment(this.environment);
    save();
    directory.markLatest();
  }

  Path path() {
    return directory.path();
  }

  /**
   * Adds a case that was measured, or, if what its forks sent makes no sense, a failed one; see
   * {@link #add}.
   *
   * @param forks what JMH returned, not empty
   * @param lost what became of each further fork
   * @param notes what else the reader must know of the forks
   * @param others what else the CPUs did meanwhile
   */
  CaseResult addMeasured(
      CaseSpec spec,
      List<RunResult> forks,
      List<String> lost,
      Collection<String> notes,
      CpuTimes.Others others) {
    return add(CaseResults.sum(spec, forks, lost, notes, others));
  }

  /** Adds a case without a number; see {@link #add}. */
  CaseResult addFailed(CaseSpec spec, Status status, String reason) {
    return add(CaseResults.Summed.failed(spec, status, reason));
  }

  /**
   * Adds a case and writes everything. After {@link #close} it does nothing: what fails while the
   * forks are being killed is not a result.
   */
  private synchronized CaseResult add(CaseResults.Summed finished) {
    if (closed) {
      return finished.result();
    }
    cases.add(finished.result());
    samples.addAll(finished.samples());
    if (finished.jmh() != null) {
      jmh.add(finished.jmh());
    }
    save();
    return finished.result();
  }

  /** Notes the device's state at the end of the run. */
  synchronized void end(Clocks clocks) {
    if (closed) {
      return;
    }
    Long before = environment.clocks().eccErrors();
    Long after = clocks.eccErrors();
    if (before != null && after != null && after > before) {
      environment =
          environment.withWarnings(
              List.of(
                  "the device's uncorrected memory errors rose from %d to %d during the run"
                      .formatted(before, after)));
    }
    environment = environment.withClocksAtEnd(clocks);
    directory.saveEnvironment(environment);
  }

  /** Waits for a write in progress and refuses further ones. */
  synchronized void close() {
    closed = true;
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /** What has been recorded, as reports want it; not from the files, which a full disk may lack. */
  synchronized RunData data() {
    return new RunData(path().getFileName().toString(), environment, cases);
  }

  private void save() {
    directory.saveSamples(samples);
    directory.saveJmhJson(json());
    directory.saveCases(cases); // Last: a case listed here has all its data in the other files.
  }

  private byte[] json() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
      ResultFormatFactory.getInstance(ResultFormatType.JSON, out).writeOut(jmh);
    }
    return bytes.toByteArray();
  }
}
