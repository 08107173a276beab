package io.musabench.results.serving;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.csv.CSVRecord;

/**
 * The {@code summary.csv} that {@code vllm bench sweep serve} leaves: the scalars of one result
 * object a row.
 */
final class SweepCsvReader implements Reader {
  @Override
  public List<Run> read(Source source) throws IOException {
    List<Run> runs = new ArrayList<>();
    CSVRecord[] header = {null};
    Csv.read(
        source,
        row -> {
          if (header[0] == null) {
            header[0] = row;
            return;
          }
          Flat f = new Flat();
          for (int i = 0; i < Math.min(row.size(), header[0].size()); i++) {
            // Pandas writes a missing value as nothing, or as the word of its language.
            if (!row.get(i).isEmpty() && !row.get(i).equals("None")) {
              f.set(header[0].get(i), row.get(i));
            }
          }
          Run run = new Run("vllm", source.name() + " [" + (runs.size() + 1) + "]");
          BenchServeReader.statistics(f, run, false);
          if (run.ok >= 0) {
            runs.add(run);
          }
        });
    if (runs.isEmpty()) {
      throw new ServingFormatException("no row holds a result");
    }
    return runs;
  }
}
