package io.musabench.jmh.cli;

import io.musabench.jmh.cli.ForkRunner.Outcome;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.CpuTimes;
import io.musabench.results.run.Status;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.results.RunResult;

/** What the forks of a case came to. */
final class CaseForks {
  private final CaseSpec spec;
  private final List<RunResult> results = new ArrayList<>();
  private final List<String> lost = new ArrayList<>();
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

  /** Whether a fork ended so that the next one would, too. */
  boolean failed() {
    return failure != null;
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
    if (results.isEmpty()) {
      return record.addFailed(spec, Status.FAILED, String.join("; ", lost));
    }
    return record.addMeasured(spec, results, lost, others);
  }
}
