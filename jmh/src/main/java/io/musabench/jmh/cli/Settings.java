package io.musabench.jmh.cli;

import io.musabench.bindings.Target;
import io.musabench.bindings.blas.Blas;
import io.musabench.bindings.collective.Communicators;
import io.musabench.bindings.management.DeviceMonitors;
import io.musabench.bindings.mate.MateInstallation;
import io.musabench.jmh.device.DeviceContext;
import io.musabench.jmh.device.SessionLimits;
import io.musabench.results.run.Environment;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.stream.Stream;

/** The system properties {@code musabench.*} that mean something. */
final class Settings {
  private static final String PREFIX = "musabench.";

  private static final List<String> NAMES =
      List.of(
          Target.TARGET_PROPERTY,
          Target.DEVICE_PROPERTY,
          Target.RUNTIME_PROPERTY,
          Target.DRIVER_PROPERTY,
          Target.MUSA_HOME_PROPERTY,
          DeviceMonitors.LIBRARY_PROPERTY,
          MateInstallation.DIR_PROPERTY,
          Target.FFI_PROPERTY,
          Target.KERNELS_PROPERTY,
          Target.NATIVE_DIR_PROPERTY,
          Blas.LIBRARY_PROPERTY,
          Communicators.LIBRARY_PROPERTY,
          Checkout.HOME,
          SessionLimits.SECONDS,
          SessionLimits.CEILING,
          SessionLimits.STOP,
          DeviceContext.HOLD_SECONDS,
          DeviceContext.THROTTLE,
          DeviceContext.CLOCK_FIXED);

  private static final List<String> NUMBERS =
      List.of(
          SessionLimits.SECONDS,
          SessionLimits.CEILING,
          DeviceContext.HOLD_SECONDS,
          DeviceContext.THROTTLE);

  // 0, 0.5, 1e-6: no sign, no NaN.
  private static final String NUMBER = "\\d+(\\.\\d*)?([eE][+-]?\\d{1,2})?";

  private static final List<String> TARGETS =
      Stream.concat(Arrays.stream(Target.Kind.values()).map(Target.Kind::id), Stream.of("auto"))
          .toList();

  private Settings() {}

  /**
   * @throws UsageException when one is set that nobody reads, the message names the nearest; or
   *     when one that is a number is none, or one that is a target
   */
  static void check(Properties properties) {
    for (String name : properties.stringPropertyNames()) {
      if (name.startsWith(PREFIX)
          && !name.startsWith(Environment.VERSION_PROPERTY)
          && !NAMES.contains(name)) {
        throw new UsageException(Suggestions.unknown("system property", name, NAMES));
      }
      String value = properties.getProperty(name);
      if (NUMBERS.contains(name) && !value.matches(NUMBER)) {
        throw new UsageException(
            "-D%s takes a number of 0 or more, not \"%s\"".formatted(name, value));
      }
      if (name.equals(Target.DEVICE_PROPERTY) && !value.strip().matches("\\d*")) {
        throw new UsageException(
            "-D%s takes the number of a device, not \"%s\"".formatted(name, value));
      }
      if (name.equals(Target.TARGET_PROPERTY) && !isTarget(value.strip())) {
        throw new UsageException(Suggestions.unknown("target", value, TARGETS) + " for -D" + name);
      }
    }
  }

  // An empty one is none: `mvn jmh` passes them on.
  private static boolean isTarget(String value) {
    return value.isEmpty() || TARGETS.contains(value.toLowerCase(Locale.ROOT));
  }
}
