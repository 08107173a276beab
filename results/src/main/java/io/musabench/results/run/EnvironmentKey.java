package io.musabench.results.run;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Short names, fit for folders, for where a run was measured. Only what stays the same from run to
 * run goes into them: a key with a clock that is calibrated at every boot would make every run a
 * machine of its own.
 */
public final class EnvironmentKey {
  private static final int DIGITS = 8;

  private EnvironmentKey() {}

  /** The device, for example {@code mtt-s5000}; the target where its name is not known. */
  public static String device(Environment environment) {
    String name = environment.device().name();
    return slug(name == null ? environment.target() : name);
  }

  /** The device with its driver, runtime and clock mode, for example {@code mtt-s5000-1f3a90bc}. */
  public static String of(Environment e) {
    boolean host = e.target().equals("host");
    String parts =
        Stream.of(
                e.target(),
                e.device().name(),
                e.device().computeUnits(),
                e.device().driverVersion(),
                e.device().runtimeVersion(),
                e.clocks() == null ? null : e.clocks().mode(),
                host && e.machine() != null ? e.machine().cpu() : null)
            .map(Objects::toString)
            .collect(Collectors.joining("\n"));
    return device(e) + "-" + hash(parts);
  }

  /** Letters and digits in lower case, anything between them one hyphen. */
  public static String slug(String text) {
    String slug =
        text.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
    return slug.isEmpty() ? "unknown" : slug;
  }

  /** The first digits of a text's SHA-256. */
  public static String hash(String text) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash).substring(0, DIGITS);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java has SHA-256", e);
    }
  }
}
