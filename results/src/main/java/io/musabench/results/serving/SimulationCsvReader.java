package io.musabench.results.serving;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.csv.CSVRecord;

/**
 * What LLMServingSim's simulation writes: one simulated request a row, nanoseconds, the gaps
 * between its tokens as a list in brackets.
 */
final class SimulationCsvReader implements Reader {
  private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");

  private final List<String> header = new ArrayList<>();

  @Override
  public List<Run> read(Source source) throws IOException {
    Run run = new Run("llmservingsim", source.name());
    run.ttftClock = Formula.TTFT_SERVER;
    run.streaming = Boolean.TRUE;
    run.notes.add("simulated, not measured");
    run.table();
    Csv.read(
        source,
        row -> {
          if (header.isEmpty()) {
            header.addAll(row.toList());
          } else {
            request(run, row);
          }
        });
    if (run.requests.size() == 0) {
      throw new ServingFormatException("no row holds a request");
    }
    return List.of(run);
  }

  private void request(Run run, CSVRecord row) {
    long arrival = Json.nanoseconds(field(row, "arrival"), 0);
    double ttft = Json.number(field(row, "TTFT")) / 1e6;
    double latency = Json.number(field(row, "latency")) / 1e6;
    if (Double.isNaN(ttft) || Double.isNaN(latency)) {
      run.unreadable++;
      return;
    }
    Request.Builder b = Request.builder().startNs(arrival).endMs(latency);
    b.inputTokens(Json.count(Json.number(field(row, "input"))));
    b.outputTokens(Json.count(Json.number(field(row, "output"))), TokenSource.FILE);
    b.event(ttft, 1, EventKind.CONTENT);
    Matcher gaps = NUMBER.matcher(field(row, "ITL"));
    double at = ttft;
    boolean any = false;
    while (gaps.find()) {
      double gap = Long.parseLong(gaps.group()) / 1e6;
      at += gap;
      b.event(at, gap, 1, EventKind.CONTENT);
      any = true;
    }
    if (!any) {
      b.someEventsOnly().event(latency, Request.MISSING, EventKind.CONTENT);
    }
    run.label("model", field(row, "model"));
    run.table().add(b.build());
  }

  private String field(CSVRecord row, String column) {
    int i = header.indexOf(column);
    return i < 0 || i >= row.size() ? "" : row.get(i);
  }
}
