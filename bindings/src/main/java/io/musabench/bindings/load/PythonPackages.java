package io.musabench.bindings.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The folders in which Python keeps installed packages, read from disk: no Python is started. In
 * the order of preference: {@code PYTHONPATH}, the active virtual or conda environment, the prefix
 * of the {@code python3} on the {@code PATH}, the user's own folder, the system's.
 */
public final class PythonPackages {
  private static final Pattern METADATA_VERSION = Pattern.compile("(?m)^Version:\\s*(\\S+)");

  private final List<Path> folders;

  /** Looks for the folders, as an environment says. */
  public PythonPackages(Map<String, String> environment) {
    Set<Path> found = new LinkedHashSet<>();
    for (String entry : environment.getOrDefault("PYTHONPATH", "").split(":")) {
      if (!entry.isBlank()) {
        add(found, Path.of(entry));
      }
    }
    for (String variable : List.of("VIRTUAL_ENV", "CONDA_PREFIX")) {
      path(environment, variable).ifPresent(prefix -> addPrefix(found, prefix));
    }
    for (String entry : environment.getOrDefault("PATH", "").split(":")) {
      Path python = Path.of(entry, "python3");
      if (!entry.isBlank() && Files.isExecutable(python)) {
        addPrefix(found, Path.of(entry).toAbsolutePath().normalize().getParent());
        break; // the one that runs
      }
    }
    path(environment, "HOME").ifPresent(home -> addPrefix(found, home.resolve(".local")));
    for (String prefix : List.of("/usr/local", "/opt/conda", "/usr")) {
      addPrefix(found, Path.of(prefix));
    }
    add(found, Path.of("/usr/lib/python3/dist-packages"));
    folders = List.copyOf(found);
  }

  /** The folders that exist, most preferred first. */
  public List<Path> folders() {
    return folders;
  }

  /** The first existing file or folder at a path below one of the folders. */
  public Optional<Path> find(String relative) {
    return folders.stream()
        .map(folder -> folder.resolve(relative))
        .filter(Files::exists)
        .findFirst();
  }

  /**
   * The version of a package by its metadata, {@code <name>-<version>.dist-info/METADATA}.
   *
   * @param folder the one the package is in
   */
  public static Optional<String> version(Path folder, String name) {
    for (Path entry : list(folder, name.replace('-', '_') + "-*.dist-info")) {
      try {
        Matcher matcher = METADATA_VERSION.matcher(Files.readString(entry.resolve("METADATA")));
        if (matcher.find()) {
          return Optional.of(matcher.group(1));
        }
      } catch (IOException unreadable) {
        // The folder's name says it too.
      }
      String file = entry.getFileName().toString();
      return Optional.of(file.substring(name.length() + 1, file.length() - ".dist-info".length()));
    }
    return Optional.empty();
  }

  /**
   * The folder of a package's metadata, {@code <name>-<version>.dist-info} or {@code .egg-info}, in
   * the most preferred of the folders that has it.
   *
   * @param name with hyphens or underscores
   */
  public Optional<Path> metadata(String name) {
    String file = name.replace('-', '_');
    return folders.stream()
        .flatMap(
            folder ->
                Stream.of("dist", "egg")
                    .flatMap(kind -> list(folder, file + "-*." + kind + "-info").stream()))
        .findFirst();
  }

  private static Optional<Path> path(Map<String, String> environment, String variable) {
    return Optional.ofNullable(environment.get(variable))
        .filter(value -> !value.isBlank())
        .map(Path::of);
  }

  private static void addPrefix(Set<Path> found, Path prefix) {
    if (prefix == null) {
      return;
    }
    for (Path python : list(prefix.resolve("lib"), "python3*")) {
      add(found, python.resolve("site-packages"));
      add(found, python.resolve("dist-packages"));
    }
  }

  private static void add(Set<Path> found, Path folder) {
    Path absolute = folder.toAbsolutePath().normalize();
    if (Files.isDirectory(absolute)) {
      found.add(absolute);
    }
  }

  /** Entries of a folder by a pattern, in reverse order of their names; none if there is none. */
  public static List<Path> list(Path folder, String pattern) {
    List<Path> entries = new ArrayList<>();
    if (Files.isDirectory(folder)) {
      try (Stream<Path> all = Files.list(folder)) {
        var matcher = folder.getFileSystem().getPathMatcher("glob:" + pattern);
        all.filter(entry -> matcher.matches(entry.getFileName())).forEach(entries::add);
      } catch (IOException unreadable) {
        return List.of();
      }
    }
    entries.sort((a, b) -> b.toString().compareTo(a.toString()));
    return entries;
  }
}
