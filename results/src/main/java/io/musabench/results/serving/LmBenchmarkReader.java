package io.musabench.results.serving;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** LMBenchmark's CSV: one answered request a row, seconds, starts and ends as epochs. */
final class LmBenchmarkReader implements Reader {
  @Override
  public List<Run> read(Source source) throws IOException {
    Run run = new Run("lmbenchmark", source.name());
    run.ttftClock = Formula.TTFT_FIRST_CONTENT;
    run.streaming = Boolean.TRUE;
    run.table();
    CSVFormat format =
        CSVFormat.DEFAULT.builder().setHeader().setSkipHeaderRecord(true).setTrim(true).get();
    try (InputStream in = source.open();
        CSVParser parser =
            CSVParser.parse(new InputStreamReader(in, StandardCharsets.UTF_8), format)) {
      for (CSVRecord row : parser) {
        request(run, row);
      }
    } catch (IllegalArgumentException e) {
      throw new ServingFormatException("its header is damaged: " + e.getMessage(), e);
    } catch (java.io.UncheckedIOException e) {
      if (run.requests.size() == 0) {
        throw e.getCause();
      }
      run.notes.add("the file is damaged; what came before was read");
    }
    return List.of(run);
  }

  private static void request(Run run, CSVRecord row) {
    double ttft = number(row, "ttft") * 1000;
    double generation = number(row, "generation_time") * 1000;
    long start = time(row, "launch_time");
    long end = time(row, "finish_time");
    int output = Json.count(number(row, "generation_tokens"));
    if (Double.isNaN(ttft) && output == Request.MISSING) {
      run.unreadable++;
      return;
    }
    Request.Builder b = Request.builder().someEventsOnly().startNs(start);
    if (ttft > 0) {
      b.event(ttft, Request.MISSING, EventKind.CONTENT);
      if (!Double.isNaN(generation)) {
        b.event(ttft + generation, Request.MISSING, EventKind.CONTENT);
      }
    }
    b.endMs(Json.elapsedMs(start, end));
    b.inputTokens(Json.count(number(row, "prompt_tokens")));
    b.outputTokens(output, TokenSource.FILE);
    run.table().add(b.build());
  }

  private static double number(CSVRecord row, String column) {
    return row.isSet(column) ? Json.number(row.get(column)) : Double.NaN;
  }

  private static long time(CSVRecord row, String column) {
    return row.isSet(column) ? Json.nanoseconds(row.get(column), 9) : Request.NO_START;
  }
}
