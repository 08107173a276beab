package io.musabench.results.serving;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** LMBenchmark's CSV: one answered request a row, seconds, starts and ends as epochs. */
final class LmBenchmarkReader implements Reader {
  private List<String> header;

  @Override
  public List<Run> read(Source source) throws IOException {
    Run run = new Run("lmbenchmark", source.name());
    run.ttftClock = Formula.TTFT_FIRST_CONTENT;
    run.streaming = Boolean.TRUE;
    run.table();
    // Numbers only: no field has a comma or a line end in it.
    Lines.readText(source, run, (bytes, offset, n) -> line(run, bytes, offset, n));
    if (run.requests.size() == 0) {
      throw new ServingFormatException("no row holds a request");
    }
    return List.of(run);
  }

  private boolean line(Run run, byte[] bytes, int offset, int n) {
    if (n > 100_000) {
      return false;
    }
    String[] row = new String(bytes, offset, n, StandardCharsets.UTF_8).strip().split(",", -1);
    for (int i = 0; i < row.length; i++) {
      row[i] = row[i].strip().replace("\"", "");
    }
    if (header == null) {
      header = Arrays.asList(row);
      return true;
    }
    return request(run, row);
  }

  private boolean request(Run run, String[] row) {
    double ttft = number(row, "ttft") * 1000;
    double generation = number(row, "generation_time") * 1000;
    long start = time(row, "launch_time");
    long end = time(row, "finish_time");
    int output = Json.count(number(row, "generation_tokens"));
    if (Double.isNaN(ttft) && output == Request.MISSING) {
      return false;
    }
    Request.Builder b = Request.builder().someEventsOnly().startNs(start);
    if (!Double.isNaN(ttft)) {
      b.event(ttft, Request.MISSING, EventKind.CONTENT);
      if (ttft > 0 && !Double.isNaN(generation)) {
        b.event(ttft + generation, Request.MISSING, EventKind.CONTENT);
      }
    }
    b.endMs(Json.elapsedMs(start, end));
    b.inputTokens(Json.count(number(row, "prompt_tokens")));
    b.outputTokens(output, TokenSource.FILE);
    run.table().add(b.build());
    return true;
  }

  private String field(String[] row, String column) {
    int i = header.indexOf(column);
    return i < 0 || i >= row.length ? "" : row[i];
  }

  private double number(String[] row, String column) {
    return Json.number(field(row, column));
  }

  private long time(String[] row, String column) {
    return Json.nanoseconds(field(row, column), 9);
  }
}
