package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * {@code vllm bench serve} and SGLang's {@code bench_serving}: objects with statistics and, on
 * demand, one array a quantity over all requests. One object a file, several appended to each
 * other, one a line, or an array of them (a sweep's summary).
 *
 * <p>The arrays of a large file do not fit into memory (the gaps), and what they mean depends on
 * others that come later (the errors). So the file is read twice: first everything but the gaps,
 * then the gaps, request by request.
 */
final class BenchServeReader implements Reader {
  private static final Set<String> COLUMNS =
      Set.of(
          "input_lens",
          "output_lens",
          "ttfts",
          "start_times",
          "latencies",
          "queue_times",
          "errors",
          "itls");

  private static final Set<String> SKIPPED =
      Set.of("generated_texts", "server_info", "rps_change_events", "text_chunks");

  /** Root keys that are not the user's own {@code --metadata}. */
  private static final Set<String> KNOWN =
      Set.of(
          "date",
          "endpoint_type",
          "label",
          "tokenizer_id",
          "num_prompts",
          "request_rate",
          "burstiness",
          "max_concurrency",
          "duration",
          "completed",
          "failed",
          "run_number",
          "dataset_name",
          "concurrency",
          "accept_length",
          "tag",
          "rtfx",
          "max_concurrent_requests",
          "request_goodput");

  private final boolean sglang;

  BenchServeReader(boolean sglang) {
    this.sglang = sglang;
  }

  /** One result object of the file. */
  private static final class Document {
    final Flat scalars = new Flat();
    final Column ttfts = Column.ofDoubles(Double.NaN);
    final Column latencies = Column.ofDoubles(Double.NaN);
    final Column queueTimes = Column.ofDoubles(Double.NaN);
    final Column starts = Column.ofLongs(Request.NO_START);
    final Column inputs = Column.ofInts(Request.MISSING);
    final Column outputs = Column.ofInts(Request.MISSING);
    final Column failed = Column.ofInts(0);
    boolean gaps;
    Run run;

    boolean isResult() {
      return requests() > 0
          || scalars.has("completed")
          || scalars.all().keySet().stream()
              .anyMatch(k -> k.matches("[a-z0-9.]+_(ttft|tpot|itl)_ms"));
    }

    int requests() {
      return ttfts.size() > 0 || gaps ? Math.max(ttfts.size(), outputs.size()) : 0;
    }
  }

  @Override
  public List<Run> read(Source source) throws IOException {
    List<Document> documents = new ArrayList<>();
    String broken = documents(source, (p, index) -> documents.add(first(p)));
    if (documents.stream().noneMatch(Document::isResult)) {
      throw new ServingFormatException(
          broken == null
              ? "none of its "
                  + documents.size()
                  + " objects has requests or statistics of "
                  + (sglang ? "SGLang's bench_serving" : "vLLM's bench serve")
              : broken);
    }
    for (int i = 0; i < documents.size(); i++) {
      Document d = documents.get(i);
      String part = documents.size() == 1 ? "" : " [" + (i + 1) + "]";
      d.run = new Run(sglang ? "sglang" : "vllm", source.name() + part);
      if (broken != null && i == documents.size() - 1) {
        d.run.notes.add("a further object after this one was left out: " + broken);
      }
      statistics(d.scalars, d.run, sglang);
      latenciesAlone(d);
      if (d.requests() > d.ttfts.size()) {
        String note =
            "%d requests, but only %d values in ttfts: the others have no TTFT and no E2E";
        d.run.notes.add(String.format(java.util.Locale.ROOT, note, d.requests(), d.ttfts.size()));
      }
    }
    if (documents.stream().anyMatch(d -> d.gaps)) {
      documents(
          source,
          (p, index) -> {
            if (index < documents.size()) {
              gaps(p, documents.get(index));
            } else {
              p.skipChildren();
            }
          });
    }
    for (Document d : documents) {
      if (!d.gaps && d.requests() > 0) {
        for (int i = 0; i < d.requests(); i++) {
          request(d, i, null, 0);
        }
      }
    }
    return documents.stream().filter(Document::isResult).map(d -> d.run).toList();
  }

  private interface OnDocument {
    void object(JsonParser p, int index) throws IOException;
  }

  /** Visits each object; returns what is wrong with the file's end, or null. */
  private static String documents(Source source, OnDocument handler) throws IOException {
    int[] index = {0};
    try (InputStream in = source.open();
        JsonParser p = Json.parser(in)) {
      for (JsonToken t = p.nextToken(); t != null; t = p.nextToken()) {
        if (t == JsonToken.START_OBJECT) {
          handler.object(p, index[0]++);
        } else if (t == JsonToken.START_ARRAY) {
          Json.array(
              p,
              q -> {
                if (q.currentToken() != JsonToken.START_OBJECT) {
                  return false;
                }
                handler.object(q, index[0]++);
                return true;
              });
        }
      }
      return null;
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      return Json.damage(e);
    } catch (ServingFormatException e) {
      return e.getMessage();
    } catch (java.io.EOFException | java.util.zip.ZipException e) {
      return "the compressed file is cut off or damaged";
    }
  }

  private static Document first(JsonParser p) throws IOException {
    Document d = new Document();
    Json.object(
        p,
        (name, q) -> {
          if (COLUMNS.contains(name) && q.currentToken() == JsonToken.START_ARRAY) {
            column(d, name, q);
            return true;
          }
          if (name.equals("server_info")) {
            Json.object(q, (key, r) -> serverInfo(d, key, r));
            return true;
          }
          if (SKIPPED.contains(name)) {
            return false;
          }
          d.scalars.put(name, q);
          return true;
        });
    return d;
  }

  private static boolean serverInfo(Document d, String key, JsonParser p) throws IOException {
    if (key.equals("version") || key.equals("model_path") || key.equals("tp_size")) {
      d.scalars.put("server_info." + key, p);
      return true;
    }
    return false;
  }

  private static void column(Document d, String name, JsonParser p) throws IOException {
    Json.Element element =
        switch (name) {
          case "ttfts" -> q -> seconds(d.ttfts, q);
          case "latencies" -> q -> seconds(d.latencies, q);
          case "queue_times" -> q -> seconds(d.queueTimes, q);
          case "start_times" ->
              q -> {
                d.starts.add(Json.secondsAsNanoseconds(q));
                return true;
              };
          case "input_lens" -> q -> count(d.inputs, q);
          case "output_lens" -> q -> count(d.outputs, q);
          case "errors" ->
              q -> {
                String text = Json.text(q);
                d.failed.add(text == null || text.isEmpty() ? 0 : 1);
                return true;
              };
          default ->
              q -> {
                d.gaps = true;
                return false;
              };
        };
    Json.array(p, element);
  }

  private static boolean seconds(Column column, JsonParser p) throws IOException {
    column.addDouble(Json.number(p));
    return true;
  }

  private static boolean count(Column column, JsonParser p) throws IOException {
    column.add(Json.count(p));
    return true;
  }

  private static void gaps(JsonParser p, Document d) throws IOException {
    Json.object(
        p,
        (name, q) -> {
          if (!name.equals("itls") || !d.gaps) {
            return false;
          }
          double[][] buffer = {new double[256]};
          int[] i = {0};
          Json.array(
              q,
              r -> {
                int n = numbers(r, buffer);
                if (i[0] < d.requests()) {
                  request(d, i[0], buffer[0], n);
                }
                i[0]++;
                return true;
              });
          for (; i[0] < d.requests(); i[0]++) {
            request(d, i[0], buffer[0], 0);
          }
          return true;
        });
  }

  /** The numbers of the current array, into a buffer that grows; how many. */
  private static int numbers(JsonParser p, double[][] buffer) throws IOException {
    int[] n = {0};
    Json.array(
        p,
        q -> {
          double v = Json.number(q);
          if (n[0] == buffer[0].length) {
            buffer[0] = Arrays.copyOf(buffer[0], 2 * n[0]);
          }
          buffer[0][n[0]++] = v;
          return true;
        });
    return n[0];
  }

  private static void request(Document d, int i, double[] gaps, int gapCount) {
    double ttft = at(d.ttfts, i);
    int output = i < d.outputs.size() ? d.outputs.getInt(i) : Request.MISSING;
    boolean failed = i < d.failed.size() ? d.failed.getInt(i) != 0 : output <= 0 && !(ttft > 0);
    Request.Builder b = Request.builder();
    b.startNs(i < d.starts.size() ? d.starts.getLong(i) : Request.NO_START);
    b.inputTokens(i < d.inputs.size() ? d.inputs.getInt(i) : Request.MISSING);
    b.outputTokens(output, TokenSource.FILE);
    b.status(failed ? Status.ERROR : Status.OK);
    b.scheduleDelayMs(at(d.queueTimes, i) * 1000);
    double latency = at(d.latencies, i);
    if (gaps == null) {
      b.someEventsOnly();
    }
    if (ttft == 0 && !failed) {
      d.run.table().anomalies().zeroTtft++;
    }
    // Every later time is counted from the TTFT: without it there are gaps, but no times.
    ttft = ttft == 0 ? Double.NaN : ttft;
    if (!Double.isNaN(ttft) || output > 0) {
      b.event(ttft * 1000, Request.MISSING, EventKind.CONTENT);
    }
    int from = 0;
    if (gapCount > 0 && gapCount == output && Math.abs(gaps[0] - ttft) <= 0.01 * ttft) {
      // Some clients put the TTFT at the head of the gaps: then there are n of them, not n - 1.
      from = 1;
      d.run.table().anomalies().ttftAmongGaps++;
    }
    double t = ttft > 0 ? ttft : Double.NaN;
    for (int g = from; g < gapCount; g++) {
      t += gaps[g];
      b.event(t * 1000, gaps[g] * 1000, Request.MISSING, EventKind.CONTENT);
    }
    b.endMs(latency == 0 ? Double.NaN : latency * 1e3);
    d.run.table().add(b.build());
  }

  private static double at(Column column, int i) {
    return i < column.size() ? column.getDouble(i) : Double.NaN;
  }

  /**
   * Newer versions leave the latencies in a file that was not asked to hold details. They are the
   * only source of E2E there, and usable if none of them is a failed request's.
   */
  private static void latenciesAlone(Document d) {
    if (d.requests() > 0 || d.run.reported(Metric.E2E) != null) {
      return;
    }
    Sample ms = new Sample();
    for (int i = 0; i < d.latencies.size(); i++) {
      double latency = at(d.latencies, i);
      ms.add(latency > 0 ? latency * 1000 : Double.NaN);
    }
    if (ms.count() > 0 && ms.count() == d.run.ok) {
      Reported r = new Reported(Formula.E2E_LAST_TOKEN, "latencies");
      r.count = ms.count();
      r.mean = ms.mean();
      r.std = ms.std(0);
      r.min = ms.min();
      r.max = ms.max();
      for (double p : new double[] {50, 90, 95, 99}) {
        r.percentiles.put(p, PercentileMethod.LINEAR.of(ms, p));
      }
      d.run.add(r);
    }
  }

  /** Fills a run from the scalars of a result object, or of a row of a sweep's CSV. */
  static void statistics(Flat f, Run run, boolean sglang) {
    boolean spread = sglang && nativeSglang(f.text("backend"));
    run.ttftClock = sglang ? Formula.TTFT_FIRST_CONTENT : Formula.TTFT_FIRST_ANY;
    run.gapFormula = spread ? Formula.ITL_SPREAD : Formula.ITL_CHUNK;
    add(run, f, run.ttftClock, "ttft");
    add(run, f, Formula.TPOT, "tpot");
    add(run, f, run.gapFormula, "itl");
    add(run, f, Formula.E2E_LAST_TOKEN, sglang ? "e2e_latency" : "e2el");
    run.ok = f.count("completed");
    run.errors = f.count("failed");
    long prompts = f.count("num_prompts");
    run.total = run.errors >= 0 && run.ok >= 0 ? run.errors + run.ok : Math.max(prompts, run.ok);
    if (run.errors < 0 && prompts >= 0 && run.ok >= 0 && prompts >= run.ok) {
      run.errors = prompts - run.ok;
    }
    run.cancelled = run.ok < 0 ? -1 : 0;
    run.durationS = f.number("duration");
    run.requestsPerS = f.number("request_throughput");
    run.outputTokensPerS = f.number("output_throughput");
    run.goodputPerS = f.number("request_goodput", "request_goodput:");
    run.inputTokens = f.number("total_input_tokens");
    run.outputTokens = f.number("total_output_tokens");
    run.peakOutputTokensPerS = positive(f.number("max_output_tokens_per_s"));
    run.peakConcurrency = positive(f.number("max_concurrent_requests"));
    run.meanConcurrency = f.number("concurrency");
    run.concurrencyLimit = f.number("max_concurrency");
    run.requestRate = f.number("request_rate");
    run.acceptLength = f.number("accept_length", "spec_decode_acceptance_length");
    run.askedInput = f.number("random_input_len");
    run.askedOutput = f.number("random_output_len", "sharegpt_output_len");
    if (run.ok > 0) {
      run.meanInput = run.inputTokens / run.ok;
      run.meanOutput = run.outputTokens / run.ok;
    }
    // These clients have no other mode for language models than streaming.
    run.streaming = Boolean.TRUE;
    run.toolVersion = f.text("vllm_version", "server_info.version");
    run.label("model", f.text("model_id", "server_info.model_path", "model"));
    run.label("tp", f.text("server_info.tp_size"));
    run.label("label", f.text("label", "tag"));
    for (var e : f.all().entrySet()) {
      String key = e.getKey();
      if (!KNOWN.contains(key)
          && !key.matches(
              "(probe|spec_decode|ramp_up)_.*|.*[.\\[].*|.*_(ms|lens?|tokens.*|throughput)|.*:")) {
        run.label(key, e.getValue());
      }
    }
  }

  /** SGLang's own client protocol: a chunk's gap is spread over its tokens before it is kept. */
  static boolean nativeSglang(String backend) {
    return "sglang".equals(backend) || "sglang-native".equals(backend);
  }

  private static double positive(double v) {
    return v > 0 ? v : Double.NaN;
  }

  private static void add(Run run, Flat f, Formula formula, String word) {
    Reported r = new Reported(formula, word);
    String suffix = "_" + word + "_ms";
    for (var e : f.all().entrySet()) {
      if (e.getKey().endsWith(suffix)) {
        String statistic = e.getKey().substring(0, e.getKey().length() - suffix.length());
        r.set(statistic, Json.number(e.getValue()));
      }
    }
    run.add(r);
  }
}
