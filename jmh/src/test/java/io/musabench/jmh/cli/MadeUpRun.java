package io.musabench.jmh.cli;

import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Run directories with made-up times, for commands that only read them. */
public final class MadeUpRun {
  private MadeUpRun() {}

  /**
   * A run of one case, on a device of the given name, whose forks differ by 0.1 %.
   *
   * @param day days after the first one, which sets the run's name
   */
  public static Path write(Path runs, int day, String device, int forks, double us) {
    return write(runs, day, device, 0, forks, us);
  }

  /** The same on one of several cards. */
  static Path write(Path runs, int day, String device, int card, int forks, double us) {
    Instant start = Instant.parse("2026-01-01T00:00:00Z").plusSeconds(86400L * day);
    CaseResult c =
        CaseResult.of("attention.PagedDecode", Map.of("batch", "8q1s4k"))
            .forks(forks)
            .deviceTimesUs(new double[] {us})
            .build();
    List<Sample> samples = new ArrayList<>();
    for (int fork = 1; fork <= forks; fork++) {
      double nanos = 1e3 * us * (1 + 0.001 * ((fork + day) % 3));
      samples.add(new Sample(c.id(), Sample.DEVICE_TIME, fork, 1, 0, nanos, "ns/op"));
    }
    RunDirectory run = RunDirectory.create(runs, "musa", start);
    run.saveEnvironment(
        Environment.collect("musa", start, Path.of("/"))
            .withDevice(new Environment.DeviceInfo(device, "MUSA", card, 56, 1L << 30, "1", "1")));
    run.saveSamples(samples);
    run.saveCases(List.of(c));
    return run.path();
  }
}
