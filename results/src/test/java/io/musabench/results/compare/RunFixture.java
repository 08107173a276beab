package io.musabench.results.compare;

import io.musabench.results.model.Work;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.Environment.DeviceInfo;
import io.musabench.results.run.Environment.Library;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import io.musabench.results.run.Status;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** A run directory with made-up samples around given times. */
public final class RunFixture {
  private final Path runs;
  private final SplittableRandom random;
  private Instant start = Instant.parse("2026-01-02T03:04:05Z");
  private String target = "musa";
  private DeviceInfo device =
      new DeviceInfo("MTT S5000", "MUSA", 0, 56, 80L << 30, "3.3.0", "4.2.0");
  private List<Library> libraries =
      List.of(
          new Library("kernels", "/a/libkernels.so", "11", null),
          new Library("runtime", "/a/libmusart.so", "22", null));
  private Map<String, String> versions = Map.of();
  private final List<CaseResult> cases = new ArrayList<>();
  private final List<Sample> samples = new ArrayList<>();
  private int lostForks;
  private boolean turns;

  /** A run to be made in a folder. */
  public RunFixture(Path runs, long seed) {
    this.runs = runs;
    this.random = new SplittableRandom(seed);
  }

  public RunFixture start(Instant value) {
    start = value;
    return this;
  }

  public RunFixture device(String forTarget, DeviceInfo value) {
    target = forTarget;
    device = value;
    return this;
  }

  public RunFixture libraries(Library... value) {
    libraries = List.of(value);
    return this;
  }

  public RunFixture versions(Map<String, String> value) {
    versions = value;
    return this;
  }

  /** Forks of the cases that follow which crashed. */
  public RunFixture lostForks(int value) {
    lostForks = value;
    return this;
  }

  /** The cases that follow were measured in turns, four samples in each. */
  public RunFixture turns() {
    turns = true;
    return this;
  }

  /** A case of device time with 0.2 % noise between and within forks. */
  public RunFixture device(
      String benchmark, Map<String, String> params, Work work, int forks, double us) {
    CaseResult c =
        CaseResult.of(benchmark, params)
            .forks(forks)
            .lostForks(lostForks)
            .launches(1)
            .deviceTimesUs(new double[] {us})
            .work(work)
            .build();
    cases.add(c);
    samples(c, Sample.DEVICE_TIME, forks, us);
    return this;
  }

  /** A case without device time. */
  public RunFixture host(String benchmark, int forks, double us) {
    CaseResult c = CaseResult.of(benchmark, Map.of()).forks(forks).hostTimeMedianUs(us).build();
    cases.add(c);
    samples(c, Sample.HOST_TIME, forks, us);
    return this;
  }

  public RunFixture failed(String benchmark, String reason) {
    cases.add(CaseResult.of(benchmark, Map.of()).notOk(Status.FAILED, reason).build());
    return this;
  }

  private void samples(CaseResult c, String metric, int forks, double us) {
    for (int fork = 1; fork <= forks; fork++) {
      double shift = 0.002 * random.nextGaussian();
      for (int i = 0; i < 20; i++) {
        double nanos = 1e3 * us * Math.exp(shift + 0.002 * random.nextGaussian());
        samples.add(new Sample(c.id(), metric, fork, 1, i, nanos, "ns/op"));
      }
      for (int i = 0; turns && i < 20; i++) {
        samples.add(new Sample(c.id(), Sample.TURN, fork, 1, i, 1 + i / 4, "turn"));
      }
      samples.add(new Sample(c.id(), "device.time.qkv m=1", fork, 1, 0, -1, "ns/op"));
    }
  }

  /** Writes it. */
  public Path write() {
    RunDirectory run = RunDirectory.create(runs, target, start);
    run.saveEnvironment(
        Environment.collect(target, start, Path.of("/"))
            .withDevice(device)
            .withLibraries(libraries)
            .withVersions(versions));
    run.saveSamples(samples);
    run.saveCases(cases);
    return run.path();
  }
}
