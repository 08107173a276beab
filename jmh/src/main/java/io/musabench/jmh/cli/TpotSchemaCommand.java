package io.musabench.jmh.cli;

import io.musabench.results.tpot.answers.AnswerSchema;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code musabench tpot schema}. */
@Command(
    name = "schema",
    mixinStandardHelpOptions = true,
    description = "The JSON Schema of an answer's --json: every field with its unit and meaning.")
final class TpotSchemaCommand implements Callable<Integer> {
  @Parameters(
      paramLabel = "ANSWER",
      arity = "0..1",
      defaultValue = "predict",
      description =
          "predict (default; of tpot and tpot step), validate, check, sensitivity, attribute,"
              + " graph-gain, what-if, identify or audit")
  private String answer;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    String schema;
    try {
      schema = AnswerSchema.of(answer);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    spec.commandLine().getOut().print(schema);
    spec.commandLine().getOut().flush();
    return ExitCode.OK;
  }
}
