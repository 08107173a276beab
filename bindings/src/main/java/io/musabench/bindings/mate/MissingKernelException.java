package io.musabench.bindings.mate;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A kernel of mate is not on this machine, or its file cannot be used. The text names the kernel,
 * the folders searched and the command that builds it.
 */
public final class MissingKernelException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String kernel;
  private final String command;
  private final transient List<Path> folders;

  MissingKernelException(
      String kernel, String reason, MateInstallation installation, String command) {
    super(text(kernel, reason, installation, command));
    this.kernel = kernel;
    this.command = command;
    this.folders = installation.folders();
  }

  private static String text(
      String kernel, String reason, MateInstallation installation, String command) {
    StringBuilder text = new StringBuilder("mate kernel " + kernel + ": " + reason + ".");
    text.append("\nmate version: ").append(installation.version());
    if (!installation.isKnownVersion()) {
      text.append("; the names and arguments known here are those of ");
      text.append(MateInstallation.KNOWN_VERSION);
      text.append(", and another version may have others");
    }
    text.append("\nSearched:");
    for (Path folder : installation.folders()) {
      text.append("\n  ").append(folder).append(": ");
      text.append(
          Files.isDirectory(folder)
              ? MateInstallation.count(folder) + " kernels"
              : "no such folder");
    }
    for (String note : installation.notes()) {
      text.append("\n  ").append(note);
    }
    text.append("\nSet -D").append(MateInstallation.DIR_PROPERTY);
    text.append(" to a folder that holds <kernel>/<kernel>.so, or build it:\n  ");
    text.append(command.replace("\n", "\n  "));
    return text.toString();
  }

  /** The name looked for. */
  public String kernel() {
    return kernel;
  }

  /** The folders that were searched. */
  public List<Path> folders() {
    return folders;
  }

  /** The command that builds it, one or more lines for a shell. */
  public String command() {
    return command;
  }
}
