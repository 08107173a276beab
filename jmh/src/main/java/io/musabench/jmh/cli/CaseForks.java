package io.musabench.jmh.cli;

import io.musabench.jmh.cli.ForkRunner.Outcome;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.CpuTimes;
import io.musabench.results.run.Status;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.openjdk.jmh.results.RunResult;

/** What the forks of a case came to. */
final class CaseForks {
  private final CaseSpec spec;
  private final List<RunResult> results = new ArrayList<>();
  private final List<RunResult> unpaired = new ArrayList<>();
  private final List<String> lost = new ArrayList<>();
  private final Set<String> notes = new LinkedHashSet<>();
  private Outcome failure;

  CaseForks(CaseSpec spec) {
    this.spec = spec;
  }

  CaseSpec spec() {
    return spec;
  }

  /**
   * Adds a fork.
   *
   * @param number of the fork, from 1
   */
  void add(int number, Outcome outcome) {
    switch (outcome.end()) {
      case MEASURED -> results.add(outcome.result());
      case CRASHED -> lost.add("fork %d crashed: %s".formatted(number, outcome.message()));
      default -> failure = outcome;
    }
  }

  /**
   * Adds a fork that was measured, but not its partner: it is no half of a pair, and shows that its
   * own side works.
   */
  void addUnpaired(RunResult result) {
    unpaired.add(result);
  }

  /** Whatever its forks came to, the case has failed. */
  void fail(String reason) {
    failure = new Outcome(ForkRunner.End.FAILED, null, reason);
  }

  /** Adds what the reader of its numbers must know. */
  void note(String note) {
    notes.add(note);
  }

  /** Whether a fork ended so that the next one would, too. */
  boolean failed() {
    return failure != null;
  }

  /** Whether a fork was measured, of a pair with its partner. */
  boolean complete() {
    return !results.isEmpty();
  }

  /** Whether not one fork was measured, with or without a partner. */
  boolean allLost() {
    return results.isEmpty() && unpaired.isEmpty();
  }

  /**
   * Adds the case to the run.
   *
   * @param others what else the CPUs did meanwhile
   */
  CaseResult save(RunRecord record, CpuTimes.Others others) {
    if (failed()) {
      return record.addFailed(spec, failure.end().ofCase(), failure.message());
    }
    if (allLost()) {
      return record.addFailed(spec, Status.FAILED, String.join("; ", lost));
    }
    return record.addMeasured(spec, results.isEmpty() ? unpaired : results, lost, notes, others);
  }
}
