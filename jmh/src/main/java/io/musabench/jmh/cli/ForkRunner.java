package io.musabench.jmh.cli;

import io.musabench.bindings.Target;
import io.musabench.jmh.device.DeviceContext;
import io.musabench.jmh.device.MemoryShortage;
import io.musabench.jmh.device.SampleProfiler;
import io.musabench.jmh.device.UnavailableException;
import io.musabench.jmh.device.WrongResultException;
import io.musabench.results.run.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Measures one fork of one case: one JMH run with one forked JVM.
 *
 * <p>A JMH run a fork, not a case, so that the results of each are in hand as soon as it ends, a
 * crash costs one fork, and forks of different cases or builds can alternate.
 */
final class ForkRunner {
  /** How a fork ended. */
  enum End {
    MEASURED(Status.OK),
    /** Further forks may be well. */
    CRASHED(Status.FAILED),
    /** A wrong result or an error, which would come again; a number beside it is worth nothing. */
    FAILED(Status.FAILED),
    /** A hang, which would come again. */
    TIMED_OUT(Status.TIMEOUT),
    /** What the case needs is not here. */
    UNAVAILABLE(Status.SKIPPED);

    private final Status ofCase;

    End(Status ofCase) {
      this.ofCase = ofCase;
    }

    /** What its case is if no fork ends better. */
    Status ofCase() {
      return ofCase;
    }
  }

  /**
   * @param end how the fork ended
   * @param result what it measured; null unless {@code end} is MEASURED
   * @param message one line that says what went wrong; empty when nothing did
   * @param outOfMemory whether it found no memory, or was killed as a system kills what takes too
   *     much of it
   */
  record Outcome(End end, RunResult result, String message, boolean outOfMemory) {
    /** One that ended as well or as badly with any amount of memory. */
    Outcome(End end, RunResult result, String message) {
      this(end, result, message, false);
    }
  }

  // End of "Forked VM failed with exit code 137": by SIGKILL, as Linux does when memory is out.
  // Ours are told by the limit that expired.
  private static final String KILLED = " 137";

  // JMH's own limit only prints and interrupts; ours must come first, whatever the user asked for.
  private static final Duration JMH_LIMIT = Duration.ofDays(1);

  private final JmhLog log;
  private final String target;
  private final Duration limit;
  private final boolean clockFixed;

  /**
   * @param log where JMH's output goes
   * @param target the target that forks must open
   * @param campaign for the time one fork may take, its start and checks included, and for what the
   *     user says about the clock
   */
  ForkRunner(JmhLog log, String target, Campaign campaign) {
    this.log = log;
    this.target = target;
    this.limit = campaign.limit();
    this.clockFixed = campaign.pace().clockMode() == ClockMode.FIXED_FREQUENCY;
  }

  Outcome run(CaseSpec spec, Effort effort) {
    return run(spec, effort, Setting.AS_IS);
  }

  /** One fork under a setting. */
  Outcome run(CaseSpec spec, Effort effort, Setting setting) {
    log.heading(spec.title());
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include("^" + Pattern.quote(spec.benchmark().method()) + "$")
            .forks(1)
            .warmupIterations(0)
            .measurementIterations(effort.iterations())
            .addProfiler(SampleProfiler.class)
            .shouldFailOnError(true)
            .timeout(TimeValue.seconds(JMH_LIMIT.toSeconds()))
            .jvmArgsAppend(forkArguments(effort, setting));
    if (!setting.environment().isEmpty()) {
      options.addProfiler(ForkEnvironment.class, ForkEnvironment.write(setting.environment()));
    }
    for (Map.Entry<String, String> parameter : spec.parameters().entrySet()) {
      options.param(parameter.getKey(), parameter.getValue());
    }
    try (ForkWatch watch = new ForkWatch(limit)) {
      try {
        Collection<RunResult> results = new Runner(options.build(), log.format()).run();
        if (results.size() != 1) {
          return new Outcome(End.FAILED, null, "JMH returned " + results.size() + " results");
        }
        return new Outcome(End.MEASURED, results.iterator().next(), "");
      } catch (RunnerException e) {
        return failure(e, watch.expired());
      } catch (RuntimeException e) {
        // JMH's own, say of a temporary file that it cannot make: other cases may be well.
        log.trace(e);
        return failure(e, watch.expired());
      }
    }
  }

  private Outcome failure(Exception e, boolean expired) {
    if (expired) {
      String message = "stopped after %d s without a result".formatted(limit.toSeconds());
      return new Outcome(End.TIMED_OUT, null, message);
    }
    String crash = null;
    boolean outOfMemory = false;
    Throwable deepest = e;
    for (Throwable cause : causes(e)) {
      if (cause instanceof WrongResultException) {
        return new Outcome(End.FAILED, null, "wrong result: " + oneLine(cause.getMessage()));
      }
      if (cause instanceof UnavailableException) {
        return new Outcome(End.UNAVAILABLE, null, oneLine(cause.getMessage()));
      }
      String text = String.valueOf(cause.getMessage());
      if (text.startsWith("Forked VM failed") || text.contains("VM prematurely exited")) {
        crash = text;
      }
      outOfMemory |= MemoryShortage.shownBy(cause);
      deepest = cause;
    }
    if (crash != null) {
      return new Outcome(End.CRASHED, null, oneLine(crash), crash.endsWith(KILLED));
    }
    String message = deepest.getClass().getSimpleName() + ": " + oneLine(deepest.getMessage());
    return new Outcome(End.FAILED, null, message, outOfMemory);
  }

  // BenchmarkException keeps what the fork threw among the suppressed, not as its cause.
  private static List<Throwable> causes(Throwable root) {
    List<Throwable> all = new ArrayList<>();
    all.add(root);
    for (int i = 0; i < all.size() && all.size() < 100; i++) {
      Throwable next = all.get(i);
      if (next.getCause() != null) {
        all.add(next.getCause());
      }
      all.addAll(List.of(next.getSuppressed()));
    }
    return all;
  }

  /** A message in one line. */
  static String oneLine(String text) {
    return text == null ? "no message" : text.strip().replaceAll("\\s*\\R\\s*", " | ");
  }

  /**
   * Properties that a fork needs too: JMH passes on only those given on this JVM's own command
   * line, not those that code has set.
   */
  static List<String> passedProperties() {
    List<String> arguments = new ArrayList<>();
    System.getProperties()
        .forEach(
            (name, value) -> {
              String key = name.toString();
              if (key.startsWith("musabench.") || key.startsWith("jna.")) {
                arguments.add("-D" + key + "=" + value);
              }
            });
    if (Runtime.version().feature() >= 24) {
      arguments.add("--enable-native-access=ALL-UNNAMED"); // JNA loads its library by System.load.
    }
    return arguments;
  }

  private String[] forkArguments(Effort effort, Setting setting) {
    List<String> arguments = passedProperties();
    // The device was found before; a fork that cannot open it must fail, not take another one.
    arguments.add("-D" + Target.TARGET_PROPERTY + "=" + target);
    // A fork makes little garbage; collector threads would only take cores from the host device.
    arguments.add("-XX:+UseSerialGC");
    arguments.addAll(effort.arguments());
    if (clockFixed) {
      arguments.add("-D" + DeviceContext.CLOCK_FIXED + "=true");
    }
    arguments.addAll(setting.jvmArguments()); // Last: the last of two definitions holds.
    return arguments.toArray(String[]::new);
  }
}
