package io.musabench.results.serving;

import java.io.IOException;
import java.util.List;

/** Reads the files of one format. */
interface Reader {
  /**
   * All runs in the file, in its order; at least one.
   *
   * @throws ServingFormatException if the file does not hold what its beginning promised
   * @throws IOException if it cannot be read at all, or is broken JSON, CSV or gzip
   */
  List<Run> read(Source source) throws IOException;
}
