package io.musabench.results.report.html;

import io.musabench.results.run.RunData;
import io.musabench.results.run.RunDirectory;
import java.nio.file.Path;

/**
 * A run directory that is reported.
 *
 * @param path where it is
 * @param directory for its samples, which are read one by one
 * @param data the rest of it
 */
record ReportedRun(Path path, RunDirectory directory, RunData data) {
  /**
   * Reads all but the samples.
   *
   * @throws io.musabench.results.run.RunException if there is no run, or it is damaged
   */
  static ReportedRun open(Path path) {
    RunDirectory directory = RunDirectory.open(path);
    return new ReportedRun(directory.path(), directory, directory.read());
  }

  /** Name of the device, or of the target where the runtime gives none. */
  String device() {
    String name = data.environment().device().name();
    return name == null ? data.environment().target() : name;
  }
}
