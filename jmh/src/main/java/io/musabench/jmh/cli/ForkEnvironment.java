package io.musabench.jmh.cli;

import java.io.File;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.Result;

/**
 * Environment variables of a fork. JMH has no option for them, but lets a profiler put a command
 * before the fork's own: {@code env NAME=VALUE … java …}.
 */
public final class ForkEnvironment implements ExternalProfiler {
  private static final String BETWEEN = "\n";

  private final List<String> assignments;

  /**
   * @param assignments what {@link #write} wrote
   */
  public ForkEnvironment(String assignments) {
    this.assignments = List.of(assignments.split(BETWEEN));
  }

  /** The text from which JMH makes this profiler. */
  static String write(Map<String, String> variables) {
    List<String> assignments = new ArrayList<>();
    variables.forEach((name, value) -> assignments.add(name + "=" + value));
    return String.join(BETWEEN, assignments);
  }

  @Override
  public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
    List<String> command = new ArrayList<>(List.of("env"));
    command.addAll(assignments);
    return command;
  }

  @Override
  public Collection<String> addJVMOptions(BenchmarkParams params) {
    return List.of();
  }

  @Override
  public void beforeTrial(BenchmarkParams params) {}

  @Override
  public Collection<? extends Result<?>> afterTrial(
      BenchmarkResult result, long pid, File out, File err) {
    return List.of();
  }

  @Override
  public boolean allowPrintOut() {
    return true;
  }

  @Override
  public boolean allowPrintErr() {
    return true;
  }

  @Override
  public String getDescription() {
    return "environment variables of the fork";
  }
}
