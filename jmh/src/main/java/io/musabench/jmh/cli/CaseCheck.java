package io.musabench.jmh.cli;

import io.musabench.jmh.device.DeviceBenchmark;
import io.musabench.jmh.device.ParameterException;
import java.lang.reflect.Field;
import java.util.Map;

/**
 * Asks a benchmark itself whether it can be run with a case's parameters, before any fork starts.
 */
final class CaseCheck {
  private CaseCheck() {}

  /**
   * @throws UsageException when it cannot; the message names benchmark, parameter and value and
   *     says what is allowed
   */
  static void check(CaseSpec spec) {
    try {
      benchmark(spec).validate();
    } catch (ParameterException e) {
      throw new UsageException(spec.benchmark().name() + ": " + e.getMessage());
    }
  }

  /** The benchmark with the case's parameters, as JMH makes it in the fork. */
  static DeviceBenchmark benchmark(CaseSpec spec) {
    try {
      Class<?> type = Class.forName(spec.benchmark().type());
      DeviceBenchmark made = (DeviceBenchmark) type.getDeclaredConstructor().newInstance();
      for (Map.Entry<String, String> parameter : spec.parameters().entrySet()) {
        Field field = type.getField(parameter.getKey());
        field.set(made, value(parameter.getKey(), parameter.getValue(), field.getType()));
      }
      return made;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot make " + spec.benchmark().name(), e);
    }
  }

  private static Object value(String parameter, String text, Class<?> type) {
    if (type == String.class) {
      return text;
    }
    if (type == boolean.class) {
      return Boolean.valueOf(text);
    }
    if (type == double.class) {
      return Double.valueOf(text);
    }
    if (type == long.class) {
      return Long.valueOf(text);
    }
    try {
      return Integer.valueOf(text);
    } catch (NumberFormatException e) {
      throw new ParameterException(parameter, text, "at most " + Integer.MAX_VALUE + " is allowed");
    }
  }
}
