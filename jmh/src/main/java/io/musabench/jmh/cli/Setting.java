package io.musabench.jmh.cli;

import io.musabench.bindings.Target;
import io.musabench.jmh.device.SampleProfiler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What makes one side of an A/B comparison differ from the other.
 *
 * @param jvmArguments arguments of its forks
 * @param environment environment variables of its forks
 * @param text as the user wrote it
 * @param injected fraction by which its measured times are made longer, to test the gate; else 0
 */
record Setting(
    List<String> jvmArguments, Map<String, String> environment, String text, double injected) {
  /** No difference. */
  static final Setting AS_IS = new Setting(List.of(), Map.of(), "as is", 0);

  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*=.*");

  Setting {
    jvmArguments = List.copyOf(jvmArguments);
    environment = Map.copyOf(environment);
  }

  /**
   * Reads the values of {@code --a} or {@code --b}: a folder with a build of our libraries, a
   * kernel library, {@code -Dname=value} or {@code NAME=value}.
   *
   * @param option name of the option, for the message
   */
  static Setting parse(String option, List<String> values) {
    if (values.isEmpty()) {
      return AS_IS;
    }
    List<String> arguments = new ArrayList<>();
    Map<String, String> environment = new TreeMap<>();
    for (String value : values) {
      Path path = Path.of(value).toAbsolutePath();
      if (value.startsWith("-D") && value.contains("=")) {
        Settings.check(property(value));
        arguments.add(value);
      } else if (Files.isDirectory(path)) {
        arguments.add("-D" + Target.NATIVE_DIR_PROPERTY + "=" + path);
      } else if (Files.isRegularFile(path)) {
        arguments.add("-D" + Target.KERNELS_PROPERTY + "=" + path);
      } else if (VARIABLE.matcher(value).matches() && !value.contains("\n")) {
        int equals = value.indexOf('=');
        environment.put(value.substring(0, equals), value.substring(equals + 1));
      } else {
        throw new UsageException(
            option
                + " takes a folder of libraries, a kernel library, -Dname=value or NAME=value;"
                + " there is no \""
                + value
                + "\"");
      }
    }
    return new Setting(arguments, environment, String.join(" ", values), 0);
  }

  private static Properties property(String definition) {
    int equals = definition.indexOf('=');
    Properties one = new Properties();
    one.setProperty(definition.substring("-D".length(), equals), definition.substring(equals + 1));
    return one;
  }

  /** The same with measured times made longer by a fraction. */
  Setting slower(double fraction) {
    Setting slowed = with(List.of("-D" + SampleProfiler.INJECT + "=" + fraction));
    return new Setting(slowed.jvmArguments, environment, text, fraction);
  }

  /** The same with further arguments of the forks. */
  Setting with(List<String> more) {
    List<String> arguments = new ArrayList<>(jvmArguments);
    arguments.addAll(more);
    return new Setting(arguments, environment, text, injected);
  }
}
