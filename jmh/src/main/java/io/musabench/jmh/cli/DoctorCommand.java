package io.musabench.jmh.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code musabench doctor}. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = "Shows devices, libraries and versions, and what can run and why not.")
final class DoctorCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    return 0;
  }
}
