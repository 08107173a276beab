package io.musabench.jmh.cli;

import io.musabench.jmh.cli.SideBySide.Ended;
import io.musabench.jmh.step.StepBenchmark;
import io.musabench.results.report.RunReport;
import io.musabench.results.report.html.HtmlReport;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.CpuTimes;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunData;
import io.musabench.results.run.RunException;
import io.musabench.results.run.Status;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Measures cases, one after the other or side by side, and keeps the run directory valid after
 * each.
 */
final class SuiteRunner {
  private final Campaign campaign;
  private final Setting setting;
  private final boolean together;

  /**
   * @param setting of the forks, and of the processes that look at the device
   * @param together whether cases are measured side by side, in turns; roofs never are
   */
  SuiteRunner(Campaign campaign, Setting setting, boolean together) {
    this.campaign = campaign;
    this.setting = setting;
    this.together = together;
  }

  /**
   * A run that has ended.
   *
   * @param exitCode for the process
   * @param data what it measured
   */
  record Finished(int exitCode, RunData data) {}

  /**
   * Measures all cases and prints the report. If the process is told to stop it never returns; the
   * finished cases are saved.
   */
  Finished run(Set<CaseSpec> cases) {
    try (SoleRun sole = SoleRun.claim()) {
      return run(cases, sole.alone() ? List.of() : List.of(SoleRun.WARNING));
    }
  }

  private Finished run(Set<CaseSpec> chosen, List<String> warnings) {
    Instant start = Instant.now();
    DeviceProbe device = DeviceProbe.run(setting);
    Set<CaseSpec> cases = device.resolve(chosen);
    Environment environment =
        campaign.recorded(device.environment(start).withWarnings(warnings), cases.size());
    RunRecord record = new RunRecord(campaign.runs(), start, environment, campaign.labels());
    campaign.say("Device  " + device.description());
    environment.warnings().forEach(warning -> campaign.say("Warning " + warning));
    campaign.say("Run     " + record.path());
    RunException unwritten = null;
    Count count = new Count(cases.size());
    try (StopHook stop = new StopHook(() -> stop(record))) {
      if (together) {
        Map<Boolean, List<CaseSpec>> byKind =
            cases.stream().collect(Collectors.partitioningBy(SuiteRunner::isRoof));
        measureOneByOne(byKind.get(true), device, record, stop, count);
        measureTogether(byKind.get(false), device, record, stop, count);
      } else {
        measureOneByOne(cases, device, record, stop, count);
      }
      record.end(DeviceProbe.state(setting));
    } catch (RunException e) {
      unwritten = e; // What has been measured is shown all the same.
    }
    campaign.out().println();
    campaign.out().println(RunReport.text(record.data()));
    campaign.say("Run     " + record.path());
    campaign.say("Report  " + report(record.path()));
    if (count.failed > 0) {
      campaign.say(
          "%d of %d cases failed; JMH's output is in %s"
              .formatted(count.failed, cases.size(), together ? "jmh-*.log" : "jmh.log"));
    }
    if (count.skipped > 0) {
      campaign.say(
          "%d of %d cases were skipped; the reasons are above"
              .formatted(count.skipped, cases.size()));
    }
    if (unwritten != null) {
      throw unwritten;
    }
    int exitCode =
        count.failed > 0
            ? ExitCode.CASE_FAILED
            : count.skipped > 0 && count.measured == 0 ? ExitCode.NO_TARGET : ExitCode.OK;
    return new Finished(exitCode, record.data());
  }

  /** Where the report is, or in one line why there is none: it may not cost a run its result. */
  private static String report(Path run) {
    Path file = run.resolve(HtmlReport.FILE);
    try {
      ReportCommand.ofRun(run).write(file);
      return file.toString();
    } catch (RuntimeException e) {
      return "none: " + UsageException.oneLine(e);
    }
  }

  // Runs in a shutdown hook, so whatever it does must end soon.
  private void stop(RunRecord record) {
    record.close();
    ForkWatch.killForks();
    campaign.say("");
    campaign.say(
        "Stopped. The finished cases are in %s; musabench report shows them"
            .formatted(record.path()));
  }

  private static boolean isRoof(CaseSpec spec) {
    return spec.benchmark().group().equals(Suite.ROOF_GROUP);
  }

  private void measureOneByOne(
      Collection<CaseSpec> cases,
      DeviceProbe device,
      RunRecord record,
      StopHook stop,
      Count count) {
    try (JmhLog log = new JmhLog(record.path().resolve("jmh.log"))) {
      ForkRunner runner = new ForkRunner(log, device.target(), campaign);
      for (CaseSpec spec : cases) {
        SideBySide.Fork fork = none -> runner.run(spec, campaign.effort(), setting);
        measure(Map.of(new CaseForks(spec), fork), record, stop, count);
      }
    }
  }

  private void measureTogether(
      List<CaseSpec> cases, DeviceProbe device, RunRecord record, StopHook stop, Count count) {
    // A fork's time goes on while it waits for its turn.
    Campaign longer = campaign.withLimit(campaign.limit().multipliedBy(Math.max(1, cases.size())));
    Setting alone = setting.with(List.of("-D" + StepBenchmark.ALONE + "=true"));
    Map<CaseForks, SideBySide.Fork> forks = new LinkedHashMap<>();
    List<JmhLog> logs = new ArrayList<>();
    try {
      for (CaseSpec spec : cases) {
        // One each: they would write into one at the same time.
        JmhLog log = new JmhLog(record.path().resolve("jmh-%d.log".formatted(logs.size() + 1)));
        logs.add(log);
        ForkRunner runner = new ForkRunner(log, device.target(), longer);
        forks.put(
            new CaseForks(spec),
            arguments -> runner.run(spec, campaign.effort(), alone.with(arguments)));
      }
      measure(forks, record, stop, count);
    } finally {
      logs.forEach(JmhLog::close);
    }
  }

  /** Measures cases with the forks of each, and saves them. Several are measured side by side. */
  private void measure(
      Map<CaseForks, SideBySide.Fork> cases, RunRecord record, StopHook stop, Count count) {
    long began = System.nanoTime();
    OtherWork others = new OtherWork();
    Set<CaseForks> alone = new HashSet<>(); // There is no memory for them beside the others.
    for (int number = 1; number <= campaign.effort().forks(); number++) {
      List<CaseForks> open = cases.keySet().stream().filter(c -> !c.failed()).toList();
      if (open.isEmpty()) {
        break;
      }
      List<CaseForks> atOnce = open.stream().filter(c -> !alone.contains(c)).toList();
      List<CaseForks> apart = open.stream().filter(alone::contains).toList();
      List<Ended> ends = run(atOnce.stream().map(cases::get).toList(), record, stop);
      for (int i = 0; i < atOnce.size(); i++) {
        atOnce.get(i).add(number, ends.get(i).outcome());
        if (!ends.get(i).noRoom().isEmpty()) {
          alone.add(atOnce.get(i));
          noRoom(atOnce.get(i), number, ends.get(i).noRoom());
        }
      }
      for (CaseForks forks : apart) {
        forks.add(number, run(List.of(cases.get(forks)), record, stop).get(0).outcome());
      }
    }
    CpuTimes.Others meanwhile = others.soFar();
    for (CaseForks forks : cases.keySet()) {
      CaseResult result = forks.save(record, meanwhile);
      count.add(forks.spec(), result);
      double seconds = (System.nanoTime() - began) / 1e9;
      campaign.say(Progress.line(count.all, count.of, forks.spec(), result, seconds));
    }
  }

  /** At once, where there are several; does not return if the process is told to stop. */
  private List<Ended> run(List<SideBySide.Fork> forks, RunRecord record, StopHook stop) {
    if (forks.isEmpty()) {
      return List.of();
    }
    campaign.coolDown();
    List<Ended> ends;
    if (forks.size() == 1) {
      ends = List.of(new Ended(forks.get(0).run(List.of()), ""));
    } else {
      try (TurnKeeper keeper = TurnKeeper.ofMany(forks.size())) {
        ends = SideBySide.run(keeper, forks, record::isClosed);
      }
    }
    if (record.isClosed()) {
      stop.waitForTheEnd(); // They were killed while they ran, which is no result.
    }
    return ends;
  }

  private void noRoom(CaseForks forks, int number, String reason) {
    String note = note(number);
    forks.note(note);
    campaign.say("Memory  %s: %s (%s)".formatted(forks.spec().title(), note, reason));
  }

  private static String note(int fork) {
    return "no memory for it beside the other cases: from fork %d on by itself".formatted(fork);
  }

  /** How many cases ended how. */
  private static final class Count {
    private final int of;
    private int all;
    private int failed;
    private int skipped;
    private int measured; // Roofs are there to be referred to; a run of them alone is no result.

    private Count(int of) {
      this.of = of;
    }

    private void add(CaseSpec spec, CaseResult result) {
      all++;
      skipped += result.status() == Status.SKIPPED ? 1 : 0;
      failed += !result.ok() && result.status() != Status.SKIPPED ? 1 : 0;
      measured += result.status() != Status.SKIPPED && !isRoof(spec) ? 1 : 0;
    }
  }
}
