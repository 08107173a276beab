package io.musabench.bindings;

import io.musabench.bindings.load.LoadedLibrary;
import java.nio.file.Path;
import java.util.List;

/**
 * Which runtime library was taken, and why.
 *
 * @param library the one that loaded
 * @param version its version in words; {@code unknown} if it does not tell
 * @param reason why it and no other
 * @param others runtimes that are on this machine too and were not taken
 */
public record RuntimeChoice(
    LoadedLibrary library, String version, String reason, List<Other> others) {
  /**
   * A runtime that was not taken.
   *
   * @param file its file
   * @param version by the name of its file or folder: it was not loaded
   */
  public record Other(Path file, String version) {}

  /** One line for the record of a run; empty if there was nothing to choose. */
  public String warning() {
    if (others.isEmpty()) {
      return "";
    }
    Other other = others.get(0);
    return "%d runtimes on this machine: measured with %s (%s), not with %s (%s)%s"
        .formatted(
            others.size() + 1,
            library.path(),
            version,
            other.file(),
            other.version(),
            others.size() > 1 ? " or others" : "");
  }
}
