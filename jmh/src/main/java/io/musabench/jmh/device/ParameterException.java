package io.musabench.jmh.device;

import java.util.function.Supplier;

/**
 * A benchmark's parameter has a value that the benchmark cannot be run with, found without a
 * device. The message names the parameter, its value and what is allowed.
 */
public final class ParameterException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /**
   * @param parameter name of the parameter
   * @param value its value
   * @param allowed why it is refused and what is allowed
   */
  public ParameterException(String parameter, Object value, String allowed) {
    super("%s=\"%s\": %s".formatted(parameter, value, allowed));
  }

  /** Runs a check; an {@link IllegalArgumentException} of it is blamed on the parameter. */
  public static void check(String parameter, Object value, Runnable check) {
    derive(
        parameter,
        value,
        () -> {
          check.run();
          return null;
        });
  }

  /** As {@link #check}, and returns what was derived from the value. */
  public static <T> T derive(String parameter, Object value, Supplier<T> derivation) {
    try {
      return derivation.get();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(parameter, value, e.getMessage());
    }
  }
}
