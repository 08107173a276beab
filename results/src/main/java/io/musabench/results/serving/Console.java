package io.musabench.results.serving;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What {@code vllm bench serve} and SGLang's {@code bench_serving} print, for the many users who
 * keep only a log. Each block under the header is a run; the line of arguments before it tells what
 * was asked for.
 */
final class Console implements Reader {
  /** What begins a block. */
  static final String HEADER = "Serving Benchmark Result";

  private static final int MAX_LINE = 1 << 16;
  private static final Pattern ARGUMENT =
      Pattern.compile("\\b([a-z_]{3,40})=('[^']{0,200}'|\\[[^\\]]{0,200}\\]|[^,()]{1,200})");
  private static final String STATISTIC_NAME =
      "(Mean|Median|Std|Max|Min|P\\d{1,3}(?:\\.\\d{1,6})?) (E2EL|E2E Latency|TTFT|TPOT|ITL) \\(ms\\)";
  private static final Pattern STATISTIC = Pattern.compile(STATISTIC_NAME);

  /**
   * A line of a block wherever it stands: container and kubectl logs put their own words before.
   */
  private static final Pattern FIELD =
      Pattern.compile(
          "(?<![A-Za-z])("
              + STATISTIC_NAME
              + "|Backend|Traffic request rate|Request rate configured \\(RPS\\)"
              + "|Max(?:imum)? request concurrency|Successful requests|Failed requests"
              + "|Benchmark duration \\(s\\)|Total input tokens|Total generated tokens"
              + "|Request throughput \\(req/s\\)|Request goodput \\(req/s\\)"
              + "|Peak output token throughput \\(tok/s\\)|Output token throughput \\(tok/s\\)"
              + "|Output throughput \\(tok/s\\)|Peak concurrent requests|Concurrency"
              + "|Accept(?:ance)? length) *: *([^ ]{1,60})");

  private static final Pattern COLOUR = Pattern.compile("\u001b\\[[0-9;]{0,20}[A-Za-z]");

  private final List<Run> runs = new ArrayList<>();
  private final Flat arguments = new Flat();
  private Flat block;
  private boolean values;

  @Override
  public List<Run> read(Source source) throws IOException {
    try (InputStream in = source.open();
        BufferedReader reader =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      StringBuilder line = new StringBuilder();
      for (int c = reader.read(); c >= 0; c = reader.read()) {
        if (c == '\n' || c == '\r') {
          line(line.toString(), source);
          line.setLength(0);
        } else if (line.length() < MAX_LINE) {
          line.append((char) c);
        }
      }
      line(line.toString(), source);
    } catch (java.io.EOFException | java.util.zip.ZipException e) {
      if (runs.isEmpty() && block == null) {
        throw e;
      }
    }
    end(source);
    if (runs.isEmpty()) {
      throw new ServingFormatException("no block under \"" + HEADER + "\" has values");
    }
    return List.copyOf(runs);
  }

  private void line(String raw, Source source) {
    String line =
        raw.indexOf('\u001b') < 0 ? raw.strip() : COLOUR.matcher(raw).replaceAll("").strip();
    if (line.contains(HEADER)) {
      end(source);
      block = new Flat();
      values = false;
      return;
    }
    if (block == null) {
      if (line.contains("Namespace(")) {
        Matcher m = ARGUMENT.matcher(line);
        while (m.find()) {
          arguments.set(m.group(1), m.group(2).replace("'", ""));
        }
      }
      return;
    }
    if (line.endsWith("=====")) {
      end(source);
      return;
    }
    Matcher field = FIELD.matcher(line);
    if (line.length() < 1000 && field.find()) {
      block.set(field.group(1), field.group(4));
      values = true;
    }
  }

  private void end(Source source) {
    if (block != null && values) {
      runs.add(run(source));
    }
    block = null;
  }

  private Run run(Source source) {
    Flat f = block;
    boolean sglang = f.text("Backend") != null;
    String part = runs.isEmpty() ? "" : " [" + (runs.size() + 1) + "]";
    Run run = new Run(sglang ? "sglang" : "vllm", source.name() + part);
    run.notes.add("a console log: printed digits only");
    run.ttftClock = sglang ? Formula.TTFT_FIRST_CONTENT : Formula.TTFT_FIRST_ANY;
    boolean spread = BenchServeReader.nativeSglang(f.text("Backend"));
    run.gapFormula = spread ? Formula.ITL_SPREAD : Formula.ITL_CHUNK;
    Reported ttft = new Reported(run.ttftClock, "TTFT");
    Reported tpot = new Reported(Formula.TPOT, "TPOT");
    Reported itl = new Reported(run.gapFormula, "ITL");
    Reported e2e = new Reported(Formula.E2E_LAST_TOKEN, "E2EL");
    for (var e : f.all().entrySet()) {
      Matcher m = STATISTIC.matcher(e.getKey());
      if (m.matches()) {
        Reported r =
            switch (m.group(2)) {
              case "TTFT" -> ttft;
              case "TPOT" -> tpot;
              case "ITL" -> itl;
              default -> e2e;
            };
        r.set(m.group(1).toLowerCase(java.util.Locale.ROOT), Json.number(e.getValue()));
      }
    }
    run.add(ttft);
    run.add(tpot);
    run.add(itl);
    run.add(e2e);
    run.ok = f.count("Successful requests");
    run.errors = f.count("Failed requests");
    run.total = run.ok < 0 ? -1 : run.ok + Math.max(0, run.errors);
    run.cancelled = run.ok < 0 ? -1 : 0;
    run.durationS = f.number("Benchmark duration (s)");
    run.requestsPerS = f.number("Request throughput (req/s)");
    run.outputTokensPerS = f.number("Output token throughput (tok/s)", "Output throughput (tok/s)");
    run.goodputPerS = f.number("Request goodput (req/s)");
    run.peakOutputTokensPerS = f.number("Peak output token throughput (tok/s)");
    run.peakConcurrency = f.number("Peak concurrent requests");
    run.meanConcurrency = f.number("Concurrency");
    run.acceptLength = f.number("Accept length", "Acceptance length");
    run.inputTokens = f.number("Total input tokens");
    run.outputTokens = f.number("Total generated tokens");
    if (run.ok > 0) {
      run.meanInput = run.inputTokens / run.ok;
      run.meanOutput = run.outputTokens / run.ok;
    }
    run.concurrencyLimit = f.number("Maximum request concurrency", "Max request concurrency");
    if (Double.isNaN(run.concurrencyLimit)) {
      run.concurrencyLimit = arguments.number("max_concurrency");
    }
    run.requestRate = f.number("Traffic request rate", "Request rate configured (RPS)");
    if (Double.isNaN(run.requestRate)) {
      run.requestRate = arguments.number("request_rate");
    }
    if ("random".equals(arguments.text("dataset_name"))) {
      run.askedInput = arguments.number("random_input_len");
      run.askedOutput = arguments.number("random_output_len");
    }
    run.streaming = "True".equals(arguments.text("no_stream")) ? Boolean.FALSE : Boolean.TRUE;
    run.label("model", arguments.text("model"));
    String goodput = arguments.text("goodput");
    if (goodput != null) {
      run.slo = slo(goodput);
    }
    return run;
  }

  private static Slo slo(String argument) {
    Matcher m = Pattern.compile("(ttft|tpot|e2el):([\\d.]{1,12})").matcher(argument);
    Slo slo = Slo.NONE;
    while (m.find()) {
      double ms = Json.number(m.group(2));
      slo =
          slo.with(
              switch (m.group(1)) {
                case "ttft" -> new Slo(ms, Double.NaN, Double.NaN);
                case "tpot" -> new Slo(Double.NaN, ms, Double.NaN);
                default -> new Slo(Double.NaN, Double.NaN, ms);
              });
    }
    return slo.stated() ? slo : null;
  }
}
