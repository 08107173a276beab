package io.musabench.results.tpot.kernels;

import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Provenance;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Our own CSV of kernel times, which anybody can write: {@code
 * kernel,shape,precision,seconds_us,relative_error,source}. Kernel and shape are written as {@link
 * KernelCall} prints them, the precision as {@link Precision}; an empty error is not known.
 *
 * <pre>
 *   gemm,m=8 n=4096 k=1024,bf16,12.5,0.02,my bench
 * </pre>
 */
final class CsvReader {
  private static final List<String> COLUMNS =
      List.of("kernel", "shape", "precision", "seconds_us", "relative_error", "source");

  private static final double MICROS = 1e6;

  private CsvReader() {}

  /** Whether a file is one. */
  static boolean is(Path file) {
    return CsvFile.columns(file).containsAll(COLUMNS);
  }

  /**
   * Reads files into one source.
   *
   * @throws KernelSourceException naming file, line, column and what is expected
   */
  static KernelSource open(Collection<Path> files) {
    TableSource.Builder builder =
        new TableSource.Builder(
            "csv "
                + files.stream()
                    .map(f -> f.getFileName().toString())
                    .collect(Collectors.joining(", ")));
    files.forEach(file -> CsvFile.rows(file, COLUMNS, row -> add(builder, row)));
    if (builder.isEmpty()) {
      throw new KernelSourceException(
          "No kernel stands in "
              + files.stream().map(Path::toString).collect(Collectors.joining(", ")));
    }
    return builder.build(DeviceRoofs.UNKNOWN);
  }

  private static void add(TableSource.Builder builder, CsvFile.Row row) {
    Precision precision;
    try {
      precision = Precision.parse(row.text("precision"));
    } catch (IllegalArgumentException e) {
      throw row.bad("precision", "a precision: " + e.getMessage());
    }
    KernelCall call;
    try {
      call = KernelCall.parse(row.text("kernel"), row.text("shape"));
    } catch (IllegalArgumentException e) {
      throw row.bad("shape", "a shape of " + row.text("kernel") + ": " + e.getMessage());
    }
    double error = row.text("relative_error").isEmpty() ? Double.NaN : row.number("relative_error");
    if (error < 0 || Double.isInfinite(error)) {
      throw row.bad("relative_error", "a number from 0 on");
    }
    builder.add(
        call,
        precision,
        row.positive("seconds_us") / MICROS,
        error,
        Provenance.MEASURED,
        row.text("source").isEmpty() ? row.file().getFileName().toString() : row.text("source"));
  }
}
