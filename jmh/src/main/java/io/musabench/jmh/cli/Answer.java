package io.musabench.jmh.cli;

import io.musabench.results.CommandLine;
import io.musabench.results.run.RunException;
import io.musabench.results.tpot.answers.AnswerFile;
import io.musabench.results.tpot.kernels.KernelSourceException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command that computes one text, or one JSON document, from files and options. */
abstract class Answer implements Callable<Integer> {
  @Option(names = "--json", description = "prints JSON; tpot schema tells its fields")
  private boolean json;

  @Spec private CommandSpec spec;

  /**
   * The whole output.
   *
   * @throws IllegalArgumentException if the command line or a file it names cannot be used
   */
  abstract String answer(boolean json);

  /** What the process exits with once the answer is printed. */
  int code() {
    return ExitCode.OK;
  }

  @Override
  public final Integer call() {
    String answer;
    try {
      answer = answer(json);
    } catch (IllegalArgumentException | KernelSourceException | RunException e) {
      throw new ParameterException(spec.commandLine(), UsageException.oneLine(e), e);
    }
    if (json) {
      List<String> words = new ArrayList<>(List.of("musabench"));
      words.addAll(spec.root().commandLine().getParseResult().originalArgs());
      answer = AnswerFile.withCommand(answer, CommandLine.of(words));
    }
    PrintWriter out = spec.commandLine().getOut();
    out.print(answer);
    out.flush();
    return code();
  }
}
