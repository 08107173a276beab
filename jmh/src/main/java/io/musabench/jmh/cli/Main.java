package io.musabench.jmh.cli;

import io.musabench.bindings.TargetException;
import io.musabench.results.Printable;
import io.musabench.results.run.RunException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The command line {@code musabench}. */
@Command(
    name = "musabench",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description =
        "Measures LLM inference kernels, prefill steps and decode steps on a Moore Threads GPU, an"
            + " NVIDIA GPU or the CPU.",
    subcommands = {
      RunCommand.class,
      ListCommand.class,
      DoctorCommand.class,
      ReportCommand.class,
      SelftestCommand.class,
      CompareCommand.class,
      AbCommand.class,
      QualifyCommand.class,
      BaselineCommand.class,
      HistoryCommand.class,
      ServingCommand.class,
      AuditCommand.class,
      TpotCommand.class,
      CompletionCommand.class,
      HelpCommand.class
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:everything asked for was done",
      "1:a case failed (wrong result, crash, error, time limit); the others are saved",
      "64:usage: unknown name, bad value or empty selection",
      "69:no usable device, or a library cannot be loaded",
      "70:an error inside musabench",
      "74:the run directory, or what is printed, cannot be written",
      "129:stopped because its terminal is gone; the finished cases are saved",
      "130:stopped by Ctrl-C; the finished cases are saved",
      "143:stopped by SIGTERM; the finished cases are saved"
    })
public final class Main implements Runnable {
  @Spec private CommandSpec spec;

  /** Runs one command and ends the JVM with its exit code. */
  public static void main(String[] arguments) {
    // JMH's lock makes every case of a second run fail, one by one; SoleRun says it once.
    if (System.getProperty("jmh.ignoreLock") == null) {
      System.setProperty("jmh.ignoreLock", "true");
    }
    System.exit(written(execute(arguments)));
  }

  /** The exit code of a command whose output may be lost: a script would take no news for good. */
  private static int written(int exitCode) {
    if (!System.out.checkError() || exitCode != ExitCode.OK) {
      return exitCode;
    }
    String reason = "some of it is lost";
    try (FileOutputStream again = new FileOutputStream(FileDescriptor.out)) {
      again.write('\n'); // Streams keep no reason.
    } catch (IOException e) {
      reason = String.valueOf(e.getMessage());
    }
    if (reason.contains("Broken pipe")) {
      return exitCode; // Whoever read it, such as head, wanted no more.
    }
    System.err.println("musabench: standard output cannot be written: " + reason);
    return ExitCode.CANNOT_WRITE;
  }

  /** Runs one command and returns its exit code. */
  static int execute(String... arguments) {
    try {
      Settings.check(System.getProperties());
    } catch (UsageException e) {
      System.err.println("musabench: " + e.getMessage());
      return ExitCode.USAGE;
    }
    return commandLine().execute(arguments);
  }

  static CommandLine commandLine() {
    CommandLine line = new CommandLine(new Main());
    line.setParameterExceptionHandler(Main::usage);
    line.setExecutionStrategy(Main::run);
    line.setExecutionExceptionHandler(
        (exception, command, parsed) -> {
          String message = exception.getMessage();
          if (exception instanceof UsageException) {
            complain(command.getErr(), message);
            return ExitCode.USAGE;
          }
          if (exception instanceof RunException) {
            complain(command.getErr(), message);
            return ExitCode.CANNOT_WRITE;
          }
          if (exception instanceof NoTargetException || exception instanceof TargetException) {
            command.getErr().println("musabench: " + message);
            return ExitCode.NO_TARGET;
          }
          exception.printStackTrace(command.getErr());
          return ExitCode.SOFTWARE;
        });
    // A command without codes of its own documents these; a script reads them at whichever it
    // calls.
    String[] codes = Main.class.getAnnotation(Command.class).exitCodeList();
    for (CommandLine sub : line.getSubcommands().values()) {
      if (!sub.getCommandSpec().usageMessage().exitCodeList().isEmpty()) {
        continue;
      }
      sub.getCommandSpec().usageMessage().exitCodeListHeading("%nExit codes:%n");
      sub.getCommandSpec()
          .usageMessage()
          .exitCodeList(line.getCommandSpec().usageMessage().exitCodeList());
    }
    return line;
  }

  /** Says what is wrong, in one line whatever the names in it are. */
  static void complain(PrintWriter err, String what) {
    err.println("musabench: " + Printable.line(String.valueOf(what)));
  }

  /** Help keeps picocli's colours; whatever else is printed may hold text from files of others. */
  private static int run(ParseResult parsed) {
    Integer help = CommandLine.executeHelpRequest(parsed);
    if (help != null) {
      return help;
    }
    refuseLostOptions(parsed);
    CommandLine line = parsed.commandSpec().commandLine();
    line.setOut(new PrintWriter(Printable.writer(line.getOut()), true));
    line.setErr(new PrintWriter(Printable.writer(line.getErr()), true));
    return new CommandLine.RunLast().execute(parsed);
  }

  /**
   * Options in front of a subcommand are its parent's, which does not run: nobody reads those that
   * the subcommand does not inherit.
   */
  private static void refuseLostOptions(ParseResult parsed) {
    for (ParseResult p = parsed; p.hasSubcommand(); p = p.subcommand()) {
      CommandSpec sub = p.subcommand().commandSpec();
      for (OptionSpec option : p.matchedOptions()) {
        if (option.scopeType() != ScopeType.INHERIT) {
          throw new ParameterException(
              sub.commandLine(),
              option.longestName()
                  + " stands in front of "
                  + sub.name()
                  + " and would have no effect on it: put it behind");
        }
      }
    }
  }

  private static int usage(ParameterException exception, String[] arguments) {
    CommandLine line = exception.getCommandLine();
    PrintWriter err = line.getErr();
    if (line.getParent() == null && arguments.length > 0 && !arguments[0].startsWith("-")) {
      Set<String> commands = line.getSubcommands().keySet();
      complain(err, Suggestions.unknown("command", arguments[0], commands));
    } else {
      complain(err, exception.getMessage());
      CommandLine.UnmatchedArgumentException.printSuggestions(exception, err);
    }
    err.println("Try '" + line.getCommandSpec().qualifiedName() + " --help'.");
    return ExitCode.USAGE;
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(),
        "name a command: " + String.join(", ", spec.commandLine().getSubcommands().keySet()));
  }

  /** The version that the build wrote into the jar. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"musabench " + (version == null ? "(not from a jar)" : version)};
    }
  }
}
