package io.musabench.jmh.cli;

import io.musabench.jmh.cli.ForkRunner.Outcome;
import io.musabench.results.report.RunReport;
import io.musabench.results.report.html.HtmlReport;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunData;
import io.musabench.results.run.RunException;
import io.musabench.results.run.Status;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.openjdk.jmh.results.RunResult;

/** Measures cases one after the other and keeps the run directory valid after each. */
final class SuiteRunner {
  private final Campaign campaign;
  private final Setting setting;

  SuiteRunner(Campaign campaign) {
    this(campaign, Setting.AS_IS);
  }

  /**
   * @param setting of the forks, and of the processes that look at the device
   */
  SuiteRunner(Campaign campaign, Setting setting) {
    this.campaign = campaign;
    this.setting = setting;
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
    Environment environment = campaign.recorded(device.environment(start).withWarnings(warnings));
    RunRecord record = new RunRecord(campaign.runs(), start, environment, campaign.labels());
    campaign.say("Device  " + device.description());
    environment.warnings().forEach(warning -> campaign.say("Warning " + warning));
    campaign.say("Run     " + record.path());
    int failures = 0;
    int skipped = 0;
    int measured = 0; // Roofs are there to be referred to; a run of them alone is no result.
    RunException unwritten = null;
    try (StopHook stop = new StopHook(() -> stop(record));
        JmhLog log = new JmhLog(record.path().resolve("jmh.log"))) {
      ForkRunner forks = new ForkRunner(log, device.target(), campaign);
      int number = 0;
      for (CaseSpec spec : cases) {
        number++;
        long began = System.nanoTime();
        CaseResult result = measure(forks, record, stop, spec);
        if (result.status() == Status.SKIPPED) {
          skipped++;
        } else {
          failures += result.ok() ? 0 : 1;
          measured += spec.benchmark().group().equals(Suite.ROOF_GROUP) ? 0 : 1;
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        campaign.say(Progress.line(number, cases.size(), spec, result, seconds));
      }
      record.end(DeviceProbe.state(setting));
    } catch (RunException e) {
      unwritten = e; // What has been measured is shown all the same.
    }
    campaign.out().println();
    campaign.out().println(RunReport.text(record.data()));
    campaign.say("Run     " + record.path());
    campaign.say("Report  " + report(record.path()));
    if (failures > 0) {
      campaign.say(
          "%d of %d cases failed; JMH's output is in jmh.log".formatted(failures, cases.size()));
    }
    if (skipped > 0) {
      campaign.say(
          "%d of %d cases were skipped; the reasons are above".formatted(skipped, cases.size()));
    }
    if (unwritten != null) {
      throw unwritten;
    }
    int exitCode =
        failures > 0
            ? ExitCode.CASE_FAILED
            : skipped > 0 && measured == 0 ? ExitCode.NO_TARGET : ExitCode.OK;
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

  private CaseResult measure(ForkRunner runner, RunRecord record, StopHook stop, CaseSpec spec) {
    OtherWork others = new OtherWork();
    List<RunResult> results = new ArrayList<>();
    List<String> lost = new ArrayList<>();
    for (int fork = 1; fork <= campaign.effort().forks(); fork++) {
      campaign.coolDown();
      Outcome outcome = runner.run(spec, campaign.effort(), setting);
      if (record.isClosed()) {
        stop.waitForTheEnd(); // It was killed while it ran, which is no result.
      }
      switch (outcome.end()) {
        case MEASURED -> results.add(outcome.result());
        case CRASHED -> lost.add("fork %d crashed: %s".formatted(fork, outcome.message()));
        default -> {
          return record.addFailed(spec, outcome.end().ofCase(), outcome.message());
        }
      }
    }
    if (results.isEmpty()) {
      return record.addFailed(spec, Status.FAILED, String.join("; ", lost));
    }
    return record.addMeasured(spec, results, lost, others.soFar());
  }
}
