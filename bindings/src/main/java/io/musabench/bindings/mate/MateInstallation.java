package io.musabench.bindings.mate;

import io.musabench.bindings.load.PythonPackages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where mate's compiled kernels are on this machine. A kernel is the file {@code <name>/<name>.so}
 * in one of the folders.
 *
 * <p>{@code -Dmusabench.mate.dir} names folders, separated by {@code :}, and is then the only
 * place. Otherwise, in mate's own order: what was compiled ahead of time, {@code data/aot} of the
 * installed package; then the cache of what was compiled at first use, {@code
 * .cache/mate/<version>/<architecture>/cached_ops} below {@code MATE_WORKSPACE_BASE} or {@code
 * HOME}. As mate does, the cache is left out if {@code MATE_DISABLE_JIT=1}.
 */
public final class MateInstallation {
  /** Folders of compiled kernels, used instead of the search. */
  public static final String DIR_PROPERTY = "musabench.mate.dir";

  /** The cache's name for MP31, which is all that these kernels run on. */
  public static final String ARCHITECTURE = "mp31";

  /** The release whose kernel names and argument lists this package has. */
  public static final String KNOWN_VERSION = "0.2.2";

  private static final Pattern BASE_VERSION = Pattern.compile("v?(?:\\d+!)?(\\d+(?:\\.\\d+)*).*");
  private static final Pattern BUILD_VERSION =
      Pattern.compile("(?m)^__version__\\s*(?::.*)?=\\s*[\"']([^\"']+)[\"']");

  private final List<Path> folders;
  private final List<String> notes;
  private final String version;
  private final Path packageFolder;

  private MateInstallation(
      List<Path> folders, List<String> notes, String version, Path packageFolder) {
    this.folders = List.copyOf(folders);
    this.notes = List.copyOf(notes);
    this.version = version;
    this.packageFolder = packageFolder;
  }

  /** Looks on this machine, by this process's property and environment. */
  public static MateInstallation find() {
    return find(System.getProperty(DIR_PROPERTY, ""), System.getenv());
  }

  /**
   * Looks as a property and an environment say.
   *
   * @param property the value of {@value #DIR_PROPERTY}; blank: not set
   */
  public static MateInstallation find(String property, Map<String, String> environment) {
    List<Path> folders = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    PythonPackages packages = new PythonPackages(environment);
    Optional<Path> installed = packages.find("mate/__init__.py").map(Path::getParent);
    String version = installed.flatMap(MateInstallation::versionOf).orElse("unknown");
    if (!property.isBlank()) {
      for (String entry : property.split(":")) {
        if (!entry.isBlank()) {
          folders.add(Path.of(entry).toAbsolutePath().normalize());
        }
      }
      return new MateInstallation(folders, notes, version, installed.orElse(null));
    }
    if (installed.isPresent()) {
      folders.add(installed.get().resolve("data/aot"));
    } else {
      notes.add("no Python package mate in " + packages.folders());
    }
    if ("1".equals(environment.get("MATE_DISABLE_JIT"))) {
      notes.add("MATE_DISABLE_JIT=1: the cache of kernels compiled at first use is left out");
    } else {
      addCache(folders, notes, version, environment);
    }
    return new MateInstallation(folders, notes, version, installed.orElse(null));
  }

  private static void addCache(
      List<Path> folders, List<String> notes, String version, Map<String, String> environment) {
    String base = environment.getOrDefault("MATE_WORKSPACE_BASE", environment.get("HOME"));
    if (base == null || base.isBlank()) {
      notes.add("neither MATE_WORKSPACE_BASE nor HOME is set: no cache");
      return;
    }
    Path cache = Path.of(base).toAbsolutePath().normalize().resolve(".cache/mate");
    Matcher matcher = BASE_VERSION.matcher(version);
    if (matcher.matches()) {
      folders.add(cache.resolve(matcher.group(1)).resolve(ARCHITECTURE).resolve("cached_ops"));
      return;
    }
    // Without the package only the cache itself says for which versions it holds kernels.
    List<Path> versions =
        PythonPackages.list(cache, "*").stream()
            .map(folder -> folder.resolve(ARCHITECTURE).resolve("cached_ops"))
            .filter(Files::isDirectory)
            .toList();
    folders.addAll(versions);
    if (versions.isEmpty()) {
      notes.add("no */" + ARCHITECTURE + "/cached_ops in " + cache);
    }
  }

  // mate asks its build's own file first.
  private static Optional<String> versionOf(Path packageFolder) {
    Path build = packageFolder.resolve("_build_meta.py");
    if (Files.isRegularFile(build)) {
      try {
        Matcher matcher = BUILD_VERSION.matcher(Files.readString(build));
        if (matcher.find()) {
          return Optional.of(matcher.group(1));
        }
      } catch (IOException unreadable) {
        // The package's metadata says it too.
      }
    }
    return PythonPackages.version(packageFolder.getParent(), "mate");
  }

  /** The folders that are searched, in order; they need not exist. */
  public List<Path> folders() {
    return folders;
  }

  /** What the search left out or did not find, in words. */
  public List<String> notes() {
    return notes;
  }

  /** The version of the installed package; {@code unknown} if there is none or it does not say. */
  public String version() {
    return version;
  }

  /** True if the installed package is of {@link #KNOWN_VERSION}. */
  public boolean isKnownVersion() {
    Matcher matcher = BASE_VERSION.matcher(version);
    return matcher.matches() && matcher.group(1).equals(KNOWN_VERSION);
  }

  /** The installed package's folder; empty if there is none. */
  public Optional<Path> packageFolder() {
    return Optional.ofNullable(packageFolder);
  }

  /** The file of a kernel: the first that exists. */
  public Optional<Path> file(String name) {
    return folders.stream()
        .map(folder -> folder.resolve(name).resolve(name + ".so"))
        .filter(Files::isRegularFile)
        .findFirst();
  }

  /** The kinds of files that kernels are in: the beginning of the file's name. */
  private static final List<String> KINDS =
      List.of(
          "flash_attention_ops", "fmha_get_metadata", "fmha_fwd_combine", "fmha_fwd", "mla_ops");

  /** How many kernels of each kind a folder has; a kind that is not known is {@code others}. */
  public static Map<String, Integer> kinds(Path folder) {
    Map<String, Integer> counts = new LinkedHashMap<>();
    KINDS.forEach(kind -> counts.put(kind, 0));
    for (Path entry : PythonPackages.list(folder, "*")) {
      String name = entry.getFileName().toString();
      if (Files.isRegularFile(entry.resolve(name + ".so"))) {
        String kind = KINDS.stream().filter(name::startsWith).findFirst().orElse("others");
        counts.merge(kind, 1, Integer::sum);
      }
    }
    return counts;
  }

  /** The command that builds mate's usual kernels ahead of time, for a shell. */
  public static String buildCommand() {
    return BuildCommands.aot(1);
  }

  /** The number of kernels in a folder, for a report. */
  public static int count(Path folder) {
    return kinds(folder).values().stream().mapToInt(Integer::intValue).sum();
  }
}
