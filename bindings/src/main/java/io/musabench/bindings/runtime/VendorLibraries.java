package io.musabench.bindings.runtime;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the libraries beside a vendor's runtime are looked for: BLAS, collectives, management.
 * Those of the MUSA installation that a property names come first, so that they are of the
 * runtime's own release; unlike the runtime they may also be elsewhere, as they are installed on
 * their own.
 */
public final class VendorLibraries {
  /** Folder of a MUSA installation. */
  public static final String MUSA_HOME_PROPERTY = "musabench.musa.home";

  private VendorLibraries() {}

  /** The folders of an installation that hold its libraries. */
  public static List<Path> folders(Path installation) {
    return List.of(installation.resolve("lib"), installation.resolve("lib64"));
  }

  /**
   * The names and paths that are tried for a library, in this order.
   *
   * @param property names the library's path, which then is the only candidate
   * @param usual names for the system's loader and paths, tried where no property points elsewhere
   */
  public static List<String> candidates(Vendor vendor, String property, List<String> usual) {
    String given = System.getProperty(property, "");
    if (!given.isBlank()) {
      return List.of(given);
    }
    List<String> candidates = new ArrayList<>();
    String home = System.getProperty(MUSA_HOME_PROPERTY, "");
    if (vendor == Vendor.MUSA && !home.isBlank()) {
      List<Path> files = usual.stream().map(Path::of).map(Path::getFileName).distinct().toList();
      for (Path folder : folders(Path.of(home))) {
        files.forEach(file -> candidates.add(folder.resolve(file).toString()));
      }
    }
    candidates.addAll(usual);
    return candidates;
  }
}
