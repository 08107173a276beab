package io.musabench.jmh.cli;

import io.musabench.jmh.cli.ForkRunner.Outcome;
import io.musabench.results.compare.Pairs;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.CpuTimes;
import io.musabench.results.run.Environment;
import io.musabench.results.run.Status;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.openjdk.jmh.results.RunResult;

/**
 * Measures every case under two settings in alternating forks, A B B A and so on, and writes a run
 * directory a setting. Fork i of one directory was measured next to fork i of the other.
 */
final class PairRunner {
  /** Label: which side of the pair a run directory is. */
  static final String SIDE = "ab.side";

  /** Label: the setting of that side. */
  static final String SETTING = "ab.setting";

  private final Campaign campaign;

  PairRunner(Campaign campaign) {
    this.campaign = campaign;
  }

  /** The run directories of the two settings. */
  record Measurement(Path a, Path b) {}

  /** One setting while it is measured. */
  private static final class Side {
    private final Setting setting;
    private final RunRecord record;
    private List<RunResult> forks = new ArrayList<>();

    /** Forks whose partner crashed; they are no pairs, but show that this side works. */
    private List<RunResult> alone = new ArrayList<>();

    private List<String> lost = new ArrayList<>();
    private String failure = "";
    private Status status = Status.OK;

    private Side(Setting setting, RunRecord record) {
      this.setting = setting;
      this.record = record;
    }

    private void begin() {
      forks = new ArrayList<>();
      alone = new ArrayList<>();
      lost = new ArrayList<>();
      fail(Status.OK, "");
    }

    private void fail(Status newStatus, String reason) {
      status = newStatus;
      failure = reason;
    }
  }

  /** Measures all cases; stopped by Ctrl-C, the finished ones are saved and it never returns. */
  Measurement run(Set<CaseSpec> cases, Setting a, Setting b) {
    try (SoleRun sole = SoleRun.claim()) {
      return run(cases, a, b, sole.alone() ? List.of() : List.of(SoleRun.WARNING));
    }
  }

  private Measurement run(Set<CaseSpec> chosen, Setting a, Setting b, List<String> warnings) {
    Instant start = Instant.now();
    DeviceProbe device = DeviceProbe.run(a);
    Set<CaseSpec> cases = device.resolve(chosen);
    DeviceProbe other = DeviceProbe.run(b); // Before A's directory is made: B may be unusable.
    campaign.say("Device  " + device.description());
    Side first = side("a", a, device, start, warnings);
    Side second = side("b", b, other, start, warnings);
    try (StopHook stop = new StopHook(() -> stop(first, second));
        JmhLog log = new JmhLog(first.record.path().resolve("jmh.log"))) {
      ForkRunner runner = new ForkRunner(log, device.target(), campaign);
      int number = 0;
      for (CaseSpec spec : cases) {
        long began = System.nanoTime();
        OtherWork others = new OtherWork();
        measure(runner, stop, spec, first, second);
        CaseResult resultA = save(spec, first, others.soFar());
        CaseResult resultB = save(spec, second, others.soFar());
        number++;
        double seconds = (System.nanoTime() - began) / 1e9;
        campaign.say(Progress.line(number, cases.size(), spec, resultA, seconds));
        campaign.say(Progress.line(number, cases.size(), spec, resultB, seconds));
      }
      for (Side side : List.of(first, second)) {
        side.record.end(DeviceProbe.state(side.setting));
      }
    }
    return new Measurement(first.record.path(), second.record.path());
  }

  private Side side(
      String name, Setting setting, DeviceProbe device, Instant start, List<String> warnings) {
    Environment environment = campaign.recorded(device.environment(start).withWarnings(warnings));
    Map<String, String> all = new LinkedHashMap<>(campaign.labels());
    all.put(SIDE, name);
    all.put(SETTING, setting.text());
    if (setting.injected() != 0) {
      all.put(Environment.INJECTED, Double.toString(setting.injected()));
    }
    RunRecord record = new RunRecord(campaign.runs(), start, environment, all);
    String injected = setting.injected() == 0 ? "" : ", times made longer by " + setting.injected();
    campaign.say(name.toUpperCase(Locale.ROOT) + "       " + setting.text() + injected);
    campaign.say("        " + record.path());
    environment.warnings().forEach(warning -> campaign.say("        warning: " + warning));
    return new Side(setting, record);
  }

  // Runs in a shutdown hook, so whatever it does must end soon.
  private void stop(Side first, Side second) {
    first.record.close();
    second.record.close();
    ForkWatch.killForks();
    campaign.say("");
    campaign.say("Stopped. The finished cases are in " + first.record.path());
    campaign.say("and " + second.record.path());
  }

  private void measure(ForkRunner runner, StopHook stop, CaseSpec spec, Side a, Side b) {
    a.begin();
    b.begin();
    for (int pair = 0; pair < campaign.effort().forks(); pair++) {
      List<Side> order = Pairs.firstGoesFirst(pair) ? List.of(a, b) : List.of(b, a);
      Map<Side, RunResult> both = new LinkedHashMap<>();
      for (Side side : order) {
        campaign.coolDown();
        Outcome outcome = runner.run(spec, campaign.effort(), side.setting);
        if (a.record.isClosed()) {
          stop.waitForTheEnd(); // It was killed while it ran, which is no result.
        }
        switch (outcome.end()) {
          case MEASURED -> both.put(side, outcome.result());
          // Its pair is lost with it.
          case CRASHED ->
              side.lost.add("fork %d crashed: %s".formatted(pair + 1, outcome.message()));
          default -> side.fail(outcome.end().ofCase(), outcome.message());
        }
      }
      boolean pairComplete = both.size() == 2;
      both.forEach((side, result) -> (pairComplete ? side.forks : side.alone).add(result));
      // A failure would come again.
      if (a.status != Status.OK || b.status != Status.OK) {
        return;
      }
    }
    for (Side side : List.of(a, b)) {
      if (side.lost.size() == campaign.effort().forks()) {
        side.fail(Status.FAILED, String.join("; ", side.lost));
      }
    }
    if (a.forks.isEmpty() && a.status == Status.OK && b.status == Status.OK) {
      a.fail(Status.FAILED, "in every pair a fork crashed");
      b.fail(Status.FAILED, "in every pair a fork crashed");
    }
  }

  private static CaseResult save(CaseSpec spec, Side side, CpuTimes.Others others) {
    if (side.status != Status.OK) {
      return side.record.addFailed(spec, side.status, side.failure);
    }
    List<RunResult> forks = side.forks.isEmpty() ? side.alone : side.forks;
    return side.record.addMeasured(spec, forks, side.lost, others);
  }
}
