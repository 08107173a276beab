package io.musabench.results.tpot.kernels;

import io.musabench.results.tpot.Mode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** Opens kernel times, recognised by content. */
public final class KernelSources {
  private static final String EXPECTED =
      "expected is a run directory of this suite (with cases.csv and environment.json), a folder of"
          + " aiconfigurator's tables as CSV, or a CSV file kernel,shape,precision,seconds_us,"
          + "relative_error,source";

  private KernelSources() {}

  /**
   * Opens run directories of this suite (several of one device become one source), a folder of
   * aiconfigurator's tables, or a CSV file {@code
   * kernel,shape,precision,seconds_us,relative_error,source}.
   *
   * @param mode in which a run directory's steps are nearest to their use
   * @throws KernelSourceException in one line: file, line and column, and what is expected
   */
  public static KernelSource open(List<Path> paths, Mode mode) {
    if (paths.isEmpty()) {
      throw new KernelSourceException("No kernel times were given; " + EXPECTED);
    }
    for (Path path : paths) {
      if (!Files.exists(path)) {
        throw new KernelSourceException("There is no file or folder " + path + "; " + EXPECTED);
      }
    }
    if (paths.stream().allMatch(RunReader::is)) {
      return RunReader.open(paths, mode);
    }
    if (paths.stream().allMatch(p -> Files.isRegularFile(p) && CsvReader.is(p))) {
      return CsvReader.open(paths);
    }
    for (Path path : paths) {
      if (RunReader.is(path) || Files.isRegularFile(path) && CsvReader.is(path)) {
        throw new KernelSourceException(
            path
                + " is of another kind than the other kernel times given; give one kind at a time");
      }
    }
    return AiconfiguratorReader.open(paths)
        .orElseThrow(
            () ->
                new KernelSourceException(
                    paths.stream().map(Path::toString).collect(Collectors.joining(", "))
                        + ": no kernel times in there; "
                        + EXPECTED));
  }

  /** One path. */
  public static KernelSource open(Path path, Mode mode) {
    return open(List.of(path), mode);
  }
}
