package io.musabench.bindings;

import io.musabench.bindings.load.PythonPackages;
import io.musabench.bindings.runtime.Vendor;
import io.musabench.bindings.runtime.VendorLibraries;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Where the libraries of a GPU's system are looked for: the names that releases have used, first
 * through the system's loader, which is also how kernel libraries find them, then in the folders of
 * an installation.
 */
final class LibrarySearch {
  // Of an installation's folder or of a file's name: musa-5.1.0, libmusart.so.4.3.6.
  private static final Pattern VERSION = Pattern.compile("(?:-|\\.so\\.)(\\d+(?:\\.\\d+)*)$");

  private final UnaryOperator<String> properties;
  private final Map<String, String> environment;
  private final Path root;

  /**
   * @param properties the values of system properties by name; null if not set
   * @param root the folder of {@code usr}; tests give a copy
   */
  LibrarySearch(UnaryOperator<String> properties, Map<String, String> environment, Path root) {
    this.properties = properties;
    this.environment = environment;
    this.root = root;
  }

  /** The search of this process. */
  static LibrarySearch here() {
    return new LibrarySearch(System::getProperty, System.getenv(), Path.of("/"));
  }

  /** A runtime that is on this machine. */
  record Installed(Path file, String version) {}

  List<String> runtime(Vendor vendor) {
    return property(Target.RUNTIME_PROPERTY)
        .map(List::of)
        .orElseGet(() -> candidates(vendor, vendor.runtimeLibraries()));
  }

  List<String> driver(Vendor vendor) {
    return property(Target.DRIVER_PROPERTY)
        .map(List::of)
        .orElseGet(() -> candidates(vendor, vendor.driverLibraries()));
  }

  private List<String> candidates(Vendor vendor, List<String> names) {
    List<String> candidates = new ArrayList<>();
    Optional<Path> home = home(vendor);
    if (home.isEmpty()) {
      if (vendor == Vendor.MUSA && names == vendor.runtimeLibraries()) {
        candidates.add("musart"); // As the loader of Java's libraries spells it: jna.library.path.
      }
      candidates.addAll(names);
    }
    for (Path folder : home.map(VendorLibraries::folders).orElseGet(() -> folders(vendor))) {
      names.forEach(name -> candidates.add(folder.resolve(name).toString()));
    }
    return candidates;
  }

  /** The installation that a property names, and then the only place that is searched. */
  private Optional<Path> home(Vendor vendor) {
    return vendor == Vendor.MUSA
        ? property(Target.MUSA_HOME_PROPERTY).map(Path::of)
        : Optional.empty();
  }

  /** The folders of installations, those that the environment names first. */
  private List<Path> folders(Vendor vendor) {
    Set<Path> folders = new LinkedHashSet<>();
    String name = vendor.prefix();
    for (String variable : vendor.homeVariables()) {
      String value = environment.get(variable);
      if (value != null && !value.isBlank()) {
        folders.addAll(VendorLibraries.folders(Path.of(value).toAbsolutePath()));
      }
    }
    Path local = root.resolve("usr/local");
    folders.addAll(VendorLibraries.folders(local.resolve(name)));
    for (Path other : PythonPackages.list(local, name + "-*")) { // the newest first
      folders.addAll(VendorLibraries.folders(other));
    }
    folders.removeIf(folder -> !folder.equals(local.resolve(name + "/lib")) && !isFolder(folder));
    return List.copyOf(folders);
  }

  private static boolean isFolder(Path folder) {
    return Files.isDirectory(folder);
  }

  /** Every runtime of a vendor on this machine, each file once, as far as the search reaches. */
  List<Installed> installed(Vendor vendor) {
    Set<Path> folders = new LinkedHashSet<>();
    for (String entry : environment.getOrDefault("LD_LIBRARY_PATH", "").split(":")) {
      if (!entry.isBlank()) {
        folders.add(Path.of(entry));
      }
    }
    home(vendor).ifPresent(home -> folders.addAll(VendorLibraries.folders(home)));
    folders.addAll(folders(vendor));
    // Installations stand side by side; /usr/local is only where they usually do.
    for (Path lib : List.copyOf(folders)) {
      Path installation = lib.toAbsolutePath().getParent();
      if (installation != null && installation.getParent() != null) {
        PythonPackages.list(installation.getParent(), vendor.prefix() + "-*")
            .forEach(sibling -> folders.addAll(VendorLibraries.folders(sibling)));
      }
    }
    folders.add(root.resolve("usr/lib/x86_64-linux-gnu"));
    folders.add(root.resolve("usr/lib64"));
    String base = vendor.runtimeLibraries().get(0);
    Map<Path, Set<Path>> names = new LinkedHashMap<>();
    for (Path folder : folders) {
      for (Path file : PythonPackages.list(folder, base + "*")) {
        real(file).ifPresent(f -> names.computeIfAbsent(f, x -> new TreeSet<>()).add(file));
      }
    }
    return names.keySet().stream().map(file -> new Installed(file, version(file))).toList();
  }

  private static Optional<Path> real(Path file) {
    try {
      return Optional.of(file.toRealPath()).filter(Files::isRegularFile);
    } catch (IOException dangling) {
      return Optional.empty();
    }
  }

  /** A library's version by its file's name or its installation's folder; else unknown. */
  static String version(Path file) {
    Stream<String> parts =
        Stream.iterate(file, path -> path != null, Path::getParent)
            .map(Path::getFileName)
            .filter(name -> name != null)
            .map(Path::toString);
    Collection<String> found =
        parts.map(VERSION::matcher).filter(Matcher::find).map(matcher -> matcher.group(1)).toList();
    // libmusart.so.5 in musa-5.1.0 is better told by the folder.
    return found.stream()
        .max((a, b) -> Integer.compare(a.split("\\.").length, b.split("\\.").length))
        .orElse("unknown");
  }

  private Optional<String> property(String name) {
    return Optional.ofNullable(properties.apply(name)).filter(value -> !value.isBlank());
  }
}
