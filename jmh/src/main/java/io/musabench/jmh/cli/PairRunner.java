package io.musabench.jmh.cli;

import io.musabench.bindings.Target;
import io.musabench.jmh.cli.ForkRunner.End;
import io.musabench.jmh.cli.ForkRunner.Outcome;
import io.musabench.jmh.step.StepBenchmark;
import io.musabench.results.compare.Pairs;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Measures every case under two settings in pairs of forks and writes a run directory a setting.
 * Fork i of one directory was measured next to fork i of the other: side by side in short turns, or
 * one after the other. Either way the one that goes first alternates, A B B A and so on.
 */
final class PairRunner {
  /** Label: which side of the pair a run directory is. */
  static final String SIDE = "ab.side";

  /** Label: the setting of that side. */
  static final String SETTING = "ab.setting";

  /** Label: how the forks of a pair took turns. */
  static final String TURNS = "ab.turns";

  /** How the two forks of a pair take turns. */
  enum Turns {
    /** Both run at once, one measures while the other sleeps, see {@link TurnKeeper}. */
    SAMPLES,
    /** One runs after the other. */
    FORKS;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Campaign campaign;
  private final Turns wanted;
  private Turns turns;
  private boolean atOnce; // whether both forks of a pair of the present case run at once

  /**
   * @param wanted null for what suits the device
   */
  PairRunner(Campaign campaign, Turns wanted) {
    this.campaign = campaign;
    this.wanted = wanted;
  }

  /** The run directories of the two settings. */
  record Measurement(Path a, Path b) {}

  /** One setting while it is measured. */
  private static final class Side implements AutoCloseable {
    private final Setting setting;
    private final RunRecord record;
    private final JmhLog log;
    private final ForkRunner runner;
    private CaseForks forks; // of the case that is measured

    private Side(Setting setting, RunRecord record, String target, Campaign campaign) {
      this.setting = setting.with(List.of("-D" + StepBenchmark.ALONE + "=true"));
      this.record = record;
      this.log = new JmhLog(record.path().resolve("jmh.log"));
      this.runner = new ForkRunner(log, target, campaign);
    }

    @Override
    public void close() {
      log.close();
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
    // What else drifts on a GPU is slow, and its memory may not hold both.
    boolean host = device.target().equals(Target.Kind.HOST.id());
    turns = wanted != null ? wanted : host ? Turns.SAMPLES : Turns.FORKS;
    campaign.say("Device  " + device.description());
    Session session = new Session(UUID.randomUUID().toString(), start, cases.size(), warnings);
    try (Side first = side("a", a, device, session);
        Side second = side("b", b, other, session)) {
      measure(cases, first, second);
      return new Measurement(first.record.path(), second.record.path());
    }
  }

  private void measure(Set<CaseSpec> cases, Side first, Side second) {
    try (StopHook stop = new StopHook(() -> stop(first, second))) {
      int number = 0;
      for (CaseSpec spec : cases) {
        long began = System.nanoTime();
        OtherWork others = new OtherWork();
        measure(stop, spec, first, second);
        CaseResult resultA = first.forks.save(first.record, others.soFar());
        CaseResult resultB = second.forks.save(second.record, others.soFar());
        number++;
        double seconds = (System.nanoTime() - began) / 1e9;
        campaign.say(Progress.line(number, cases.size(), spec, resultA, seconds));
        campaign.say(Progress.line(number, cases.size(), spec, resultB, seconds));
      }
      for (Side side : List.of(first, second)) {
        side.record.end(DeviceProbe.state(side.setting));
      }
    }
  }

  /** What both sides have in common. */
  private record Session(String id, Instant start, int cases, List<String> warnings) {}

  private Side side(String name, Setting setting, DeviceProbe device, Session session) {
    Environment environment =
        campaign.recorded(
            device.environment(session.start()).withWarnings(session.warnings()), session.cases());
    Map<String, String> all = new LinkedHashMap<>(campaign.labels());
    all.put(Environment.PAIRED_IN, session.id());
    all.put(SIDE, name);
    all.put(SETTING, setting.text());
    all.put(TURNS, turns.text());
    if (setting.injected() != 0) {
      all.put(Environment.INJECTED, Double.toString(setting.injected()));
    }
    RunRecord record = new RunRecord(campaign.runs(), session.start(), environment, all);
    String injected = setting.injected() == 0 ? "" : ", times made longer by " + setting.injected();
    campaign.say(name.toUpperCase(Locale.ROOT) + "       " + setting.text() + injected);
    campaign.say("        " + record.path());
    environment.warnings().forEach(warning -> campaign.say("        warning: " + warning));
    // A fork's time goes on while it waits for its turn.
    Duration limit = campaign.limit().multipliedBy(turns == Turns.SAMPLES ? 2 : 1);
    return new Side(setting, record, device.target(), campaign.withLimit(limit));
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

  private void measure(StopHook stop, CaseSpec spec, Side a, Side b) {
    a.forks = new CaseForks(spec);
    b.forks = new CaseForks(spec);
    atOnce = turns == Turns.SAMPLES;
    for (int pair = 0; pair < campaign.effort().forks(); pair++) {
      List<Side> order = Pairs.firstGoesFirst(pair) ? List.of(a, b) : List.of(b, a);
      Map<Side, Outcome> ends = atOnce ? inTurns(spec, pair, order) : oneByOne(spec, order);
      if (a.record.isClosed()) {
        stop.waitForTheEnd(); // They were killed while they ran, which is no result.
      }
      boolean complete = ends.values().stream().allMatch(end -> end.end() == End.MEASURED);
      for (Map.Entry<Side, Outcome> end : ends.entrySet()) {
        Outcome outcome = end.getValue();
        if (outcome.end() == End.MEASURED && !complete) {
          end.getKey().forks.addUnpaired(outcome.result()); // Its pair is lost with its partner.
        } else {
          end.getKey().forks.add(pair + 1, outcome);
        }
      }
      // A failure would come again.
      if (a.forks.failed() || b.forks.failed()) {
        return;
      }
    }
    if (!a.forks.complete() && !a.forks.allLost() && !b.forks.allLost()) {
      a.forks.fail("in every pair a fork crashed");
      b.forks.fail("in every pair a fork crashed");
    }
  }

  /** A fork of each side, in this order; fewer if the process is told to stop meanwhile. */
  private Map<Side, Outcome> oneByOne(CaseSpec spec, List<Side> order) {
    Map<Side, Outcome> ends = new LinkedHashMap<>();
    for (Side side : order) {
      campaign.coolDown();
      ends.put(side, fork(spec, side).run(List.of()));
      if (side.record.isClosed()) {
        break; // No fork may be started now: it would outlive this process.
      }
    }
    return ends;
  }

  /** A fork of each side at once, the first one's turns first. */
  private Map<Side, Outcome> inTurns(CaseSpec spec, int pair, List<Side> order) {
    Map<Side, Outcome> ends = new LinkedHashMap<>();
    campaign.coolDown();
    try (TurnKeeper keeper = TurnKeeper.ofPair()) {
      List<SideBySide.Fork> both = order.stream().map(side -> fork(spec, side)).toList();
      List<SideBySide.Ended> ended =
          SideBySide.run(keeper, both, () -> order.get(0).record.isClosed());
      for (int i = 0; i < order.size(); i++) {
        ends.put(order.get(i), ended.get(i).outcome());
      }
      ended.stream()
          .map(SideBySide.Ended::noRoom)
          .filter(reason -> !reason.isEmpty())
          .findFirst()
          .ifPresent(reason -> noRoom(spec, pair, order, reason));
    }
    return ends;
  }

  /** From this pair on the forks of the case run as with {@link Turns#FORKS}. */
  private void noRoom(CaseSpec spec, int pair, List<Side> order, String reason) {
    atOnce = false;
    String note = note(pair + 1);
    if (!order.get(0).record.isClosed()) {
      campaign.say("Memory  %s: %s (%s)".formatted(spec.title(), note, reason));
    }
    order.forEach(side -> side.forks.note(note));
  }

  private static String note(int pair) {
    return "no memory for both forks of a pair at once: from pair %d on one after the other"
        .formatted(pair);
  }

  private SideBySide.Fork fork(CaseSpec spec, Side side) {
    return arguments -> side.runner.run(spec, campaign.effort(), side.setting.with(arguments));
  }
}
